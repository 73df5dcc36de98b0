package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/autonomy-team/autonomy/internal/config"
)

// readyVariable names the descriptor on which a daemon that was started in the background tells its starter that it
// listens, or why it can't.
const readyVariable = "AUTONOMY_READY_FD"

// StartOptions says how a daemon is started in the background.
type StartOptions struct {
	Program string        // "" = this program
	Args    []string      // flags of `up`, besides --foreground
	Wait    time.Duration // for the daemon to listen; 0 = 15 s
	Say     func(text string)
}

// readiness is the one line that a daemon writes to its starter.
type readiness struct {
	PID   int    `json:"pid"`
	Error *Error `json:"error,omitempty"`
}

// Ensure returns a client of the workspace's daemon and starts one in the background when none runs. It says so
// through opts.Say. The second result tells whether it was started now.
func Ensure(ctx context.Context, ws config.Workspace, opts StartOptions) (*Client, bool, error) {
	c, err := Dial(ctx, ws)
	if !errors.Is(err, ErrNotRunning) {
		return c, false, err
	}
	pid, err := Start(ctx, ws, opts)
	if other := (*Error)(nil); errors.As(err, &other) && other.Code == CodeRunning {
		c, err = Dial(ctx, ws) // another starter won
		return c, false, err
	}
	if err != nil {
		return nil, false, err
	}
	if opts.Say != nil {
		opts.Say(fmt.Sprintf("started the daemon (pid %d)", pid))
	}
	c, err = Dial(ctx, ws)
	return c, true, err
}

// Start runs `up --foreground` in a session of its own, with its output in daemon.log, and waits until it listens. An
// error that the daemon met on its way up comes back as an *Error; CodeRunning means that one runs already.
func Start(ctx context.Context, ws config.Workspace, opts StartOptions) (pid int, err error) {
	if opts.Program == "" {
		if opts.Program, err = os.Executable(); err != nil {
			return 0, fmt.Errorf("start the daemon: %w", err)
		}
	}
	if opts.Wait == 0 {
		opts.Wait = 15 * time.Second
	}
	if err := os.MkdirAll(ws.Team(), 0o700); err != nil {
		return 0, fmt.Errorf("start the daemon: %w", err)
	}
	log, err := os.OpenFile(ws.DaemonLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return 0, fmt.Errorf("start the daemon: open its log: %w", err)
	}
	defer log.Close()
	ready, theirs, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("start the daemon: %w", err)
	}
	defer ready.Close()

	// The daemon outlives this process and this context on purpose, so the command is not bound to either.
	cmd := exec.Command(opts.Program, append([]string{"-C", ws.Root, "up", "--foreground"}, opts.Args...)...)
	cmd.Dir = ws.Root
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Env = append(os.Environ(), readyVariable+"=3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		return 0, fmt.Errorf("start the daemon: %w", err)
	}
	return awaitReady(ctx, cmd, ready, opts.Wait, ws.DaemonLog())
}

func awaitReady(ctx context.Context, cmd *exec.Cmd, ready *os.File, wait time.Duration, log string) (int, error) {
	if err := ready.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return 0, fmt.Errorf("wait for the daemon: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(ready).ReadBytes('\n')
	var r readiness
	switch {
	case err == nil && json.Unmarshal(line, &r) == nil && r.Error == nil:
		return r.PID, cmd.Process.Release()
	case r.Error != nil:
		_ = cmd.Wait() // it is on its way out; its status says no more than its words
		return 0, r.Error
	case errors.Is(err, os.ErrDeadlineExceeded):
		_ = cmd.Process.Release()
		if ctx.Err() != nil {
			return 0, fmt.Errorf("wait for the daemon: %w", ctx.Err())
		}
		return 0, &Error{
			Code: CodeInternal, Message: fmt.Sprintf("the daemon (pid %d) does not listen after %s", cmd.Process.Pid, wait),
			Hint: "see " + log,
		}
	}
	return 0, &Error{
		Code: CodeInternal, Message: fmt.Sprintf("the daemon ended while starting: %v", cmd.Wait()), Hint: "see " + log,
	}
}

// Announcer tells the process that started this one in the background how the start went. The zero value tells nobody.
type Announcer struct{ pipe *os.File }

// NewAnnouncer takes over the descriptor that Start passed on, if there is one, and hides it from child processes.
func NewAnnouncer() *Announcer {
	fd, err := strconv.Atoi(os.Getenv(readyVariable))
	if err != nil || fd < 3 {
		return &Announcer{}
	}
	os.Unsetenv(readyVariable)
	syscall.CloseOnExec(fd)
	return &Announcer{pipe: os.NewFile(uintptr(fd), "ready")}
}

// Awaited reports whether another process waits for the word: this one then runs in the background, and nobody reads
// what it prints.
func (a *Announcer) Awaited() bool { return a.pipe != nil }

// Ready says that the daemon listens; with an error, that it does not. Only the first call counts.
func (a *Announcer) Ready(failure error) {
	if a.pipe == nil {
		return
	}
	r := readiness{PID: os.Getpid()}
	if failure != nil {
		r.Error = asError(failure)
	}
	if line, err := json.Marshal(r); err == nil {
		_, _ = a.pipe.Write(append(line, '\n')) // a starter that has given up is no concern of ours
	}
	a.pipe.Close()
	a.pipe = nil
}
