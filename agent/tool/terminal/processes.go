package terminal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/sandbox"
)

// maxProcesses is how many processes one agent may have running.
const maxProcesses = 16

// maxEnded is how many processes that have ended stay listed.
const maxEnded = 32

// Finished tells that a process ended by itself or was ended, but not by Close.
type Finished struct {
	ID      int
	Command string
	Text    string // how it ended, in one line
}

// Processes is the processes that one agent started and that stay while it goes on. Close ends them; until then each has
// a goroutine. Any goroutine may use it.
type Processes struct {
	config   Config
	finished func(Finished)
	watchers sync.WaitGroup

	mu     sync.Mutex
	closed bool
	list   []*process
	lastID int
}

type process struct {
	*sandbox.Process
	id      int
	command string
	begun   time.Time
	out     *sandbox.Output
	file    *spill
	ended   chan struct{} // closed when the output is complete too
}

// OpenProcesses makes the table of processes of one agent. finished, which may be nil, is called on a goroutine of the
// table when a process ends, to wake its owner.
func OpenProcesses(c Config, finished func(Finished)) (*Processes, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if finished == nil {
		finished = func(Finished) {}
	}
	return &Processes{config: c, finished: finished}, nil
}

// Close stops all processes and returns when nothing of them lives. When ctx ends first they are killed.
func (t *Processes) Close(ctx context.Context) {
	t.mu.Lock()
	t.closed = true
	list := slices.Clone(t.list)
	t.mu.Unlock()
	for _, p := range list {
		p.Stop()
	}
	for _, p := range list {
		select {
		case <-p.Done():
		case <-ctx.Done():
			p.Kill()
		}
	}
	t.watchers.Wait()
}

func (t *Processes) start(ctx context.Context, command string, env tool.Env) (*process, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	running := 0
	for _, p := range t.list {
		if p.running() {
			running++
		}
	}
	switch {
	case t.closed:
		return nil, fmt.Errorf("%w: the agent is stopping", sandbox.ErrNotStarted)
	case running >= maxProcesses:
		return nil, fmt.Errorf("%w: %d processes are running, which is the most; stop one", sandbox.ErrNotStarted, running)
	}
	file := &spill{config: t.config, dir: tool.Results(env.Workspace)}
	out := sandbox.NewOutput(tool.MaxOutput, file.open)
	started, err := sandbox.Start(ctx, t.config.Sandbox, t.config.order(command, env, 0), out)
	if err != nil {
		return nil, err
	}
	t.lastID++
	p := &process{
		Process: started, id: t.lastID, command: command, begun: time.Now(), out: out, file: file, ended: make(chan struct{}),
	}
	t.list = append(t.list, p)
	t.forget()
	t.watchers.Go(func() { t.watch(p) })
	return p, nil
}

func (t *Processes) watch(p *process) {
	<-p.Done()
	_ = p.out.Close() // an incomplete file is a smaller loss than the result
	close(p.ended)
	t.mu.Lock()
	closed := t.closed
	t.mu.Unlock()
	if !closed {
		t.finished(Finished{ID: p.id, Command: p.command, Text: p.state()})
	}
}

// forget drops the oldest that have ended. The caller holds the lock.
func (t *Processes) forget() {
	ended := 0
	for _, p := range t.list {
		if !p.running() {
			ended++
		}
	}
	t.list = slices.DeleteFunc(t.list, func(p *process) bool {
		if ended <= maxEnded || p.running() {
			return false
		}
		ended--
		return true
	})
}

// get finds a process of this agent; the error names those there are.
func (t *Processes) get(id int) (*process, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := make([]string, 0, len(t.list))
	for _, p := range t.list {
		if p.id == id {
			return p, nil
		}
		ids = append(ids, fmt.Sprint(p.id))
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("no process %d: none was started", id)
	}
	return nil, fmt.Errorf("no process %d; there are %s", id, strings.Join(ids, ", "))
}

func (t *Processes) all() []*process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// state is one line about a process.
func (p *process) state() string {
	if p.running() {
		return fmt.Sprintf("running since %s, pid %d", time.Since(p.begun).Round(time.Second), p.PID())
	}
	outcome, err := p.Outcome()
	if err != nil {
		return "lost: " + err.Error()
	}
	return strings.Trim(strings.ReplaceAll(ending(outcome, 0), "]\n[", "; "), "[]")
}
