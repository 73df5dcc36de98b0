package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/sandbox"
)

// TestMain lets the test binary be the daemon and the launcher of its commands, so that both can be killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "__sandbox" {
		os.Exit(sandbox.Main(context.Background()))
	}
	if root := os.Getenv("DAEMON_TEST_INTRUDER"); root != "" {
		os.Exit(intrude(root))
	}
	if raw := os.Getenv("DAEMON_TEST_OPTIONS"); raw != "" {
		os.Exit(beDaemon(raw))
	}
	for _, item := range os.Environ() { // what a person has set for their own work is no part of a test
		if name, _, _ := strings.Cut(item, "="); strings.HasPrefix(name, "AUTONOMY_") {
			_ = os.Unsetenv(name)
		}
	}
	goleak.VerifyTestMain(m)
}

// testOptions are the options that a test passes to a daemon process.
type testOptions struct {
	Root, UserDir string
	Spawn         []Spec
	Mode          string
	Poll, Idle    time.Duration
	ExitWhenIdle  bool
	Resume        bool
	Program       string
}

func beDaemon(raw string) int {
	os.Unsetenv("DAEMON_TEST_OPTIONS")
	var o testOptions
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 70
	}
	code, err := Run(context.Background(), Options{
		Workspace: config.Workspace{Root: o.Root}, UserDir: o.UserDir, Spawn: o.Spawn, Mode: o.Mode, Poll: o.Poll,
		IdleTimeout: o.Idle, ExitWhenIdle: o.ExitWhenIdle, Resume: o.Resume, Program: o.Program, Foreground: true, Err: os.Stderr,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	return code
}

// intrude is an agent's command that tries to use the socket of its own daemon. It succeeds if it is refused whatever
// only people may do and may still look.
func intrude(root string) int {
	ctx := context.Background()
	c, err := control.Dial(ctx, config.Workspace{Root: root})
	if err != nil {
		fmt.Println("dial:", err)
		return 1
	}
	defer c.Close()
	if _, err := c.Status(ctx); err != nil {
		fmt.Println("status:", err)
		return 1
	}
	_, spawned := c.Spawn(ctx, control.SpawnRequest{Name: "mallory", Role: "coder"})
	_, answered := c.Answer(ctx, control.Answer{ID: "x", Approve: true})
	for _, err := range []error{spawned, answered, c.Stop(ctx, control.StopRequest{Name: "alice"}), c.Down(ctx, control.Down{})} {
		var e *control.Error
		if !errors.As(err, &e) || e.Code != control.CodeForbidden {
			fmt.Println("not refused:", err)
			return 1
		}
	}
	return 0
}

// site is a workspace under test.
type site struct {
	t    *testing.T
	ws   config.Workspace
	user string
}

func newSite(t *testing.T) *site {
	t.Helper()
	root, err := filepath.EvalSymlinks(shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, ws: config.Workspace{Root: root}, user: t.TempDir()}
	if err := os.Mkdir(s.ws.Tasks(), 0o755); err != nil {
		t.Fatal(err)
	}
	s.trust()
	return s
}

// shortDir makes a folder whose path leaves room for a socket, however long the path of the temporary folder is.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "daemon")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// drop puts a task file in place, whole.
func (s *site) drop(id int, fields map[string]any) {
	s.t.Helper()
	if fields["subject"] == nil {
		fields["subject"] = fmt.Sprintf("task %d", id)
	}
	data, err := json.Marshal(fields)
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.ws.Tasks(), fmt.Sprintf("task_%d.json", id))
	if err := os.WriteFile(path+".new", data, 0o644); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		s.t.Fatal(err)
	}
}

// task is what the tests look at in a task file.
type task struct {
	Status string
	Owner  string
	Claim  json.RawMessage
	Result *struct {
		Summary  string
		RunID    string
		Verified bool
	}
	Failure *struct{ Count, Deaths int }
	Held    *struct{ Reason string }
}

// read parses a task file; a file that does not parse fails the test, whenever it is read.
func (s *site) read(id int) task {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.ws.Tasks(), fmt.Sprintf("task_%d.json", id)))
	if err != nil {
		s.t.Fatal(err)
	}
	var v task
	if err := json.Unmarshal(data, &v); err != nil {
		s.t.Fatalf("task %d does not parse: %v\n%s", id, err, data)
	}
	return v
}

// process is a daemon in a process of its own.
type process struct {
	*exec.Cmd
	t    *testing.T
	out  bytes.Buffer
	done chan struct{}
}

func (s *site) start(o testOptions) *process {
	s.t.Helper()
	o.Root, o.UserDir = s.ws.Root, s.user
	raw, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &process{t: s.t, done: make(chan struct{}), Cmd: exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), "DAEMON_TEST_OPTIONS="+string(raw))
	p.Stdout, p.Stderr = io.Discard, &p.out
	if err := p.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.Wait() // the state says how it ended
	}()
	s.t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.done
		if s.t.Failed() {
			s.t.Logf("daemon %d said:\n%s", p.Process.Pid, p.out.String())
		}
	})
	return p
}

// exit waits for the end of the process and returns its status; -1 for a signal.
func (p *process) exit(within time.Duration) int {
	p.t.Helper()
	select {
	case <-p.done:
		return p.ProcessState.ExitCode()
	case <-time.After(within):
		p.t.Fatalf("the daemon did not end within %s", within)
		return 0
	}
}

func (p *process) kill() {
	_ = p.Process.Signal(syscall.SIGKILL)
	<-p.done
}

// dial waits until the daemon of the site answers.
func (s *site) dial() *control.Client {
	s.t.Helper()
	var c *control.Client
	eventually(s.t, "the daemon answers", 30*time.Second, func() bool {
		got, err := control.Dial(s.t.Context(), s.ws)
		if err != nil && !errors.Is(err, control.ErrNotRunning) {
			s.t.Fatal(err)
		}
		c = got
		return err == nil
	})
	s.t.Cleanup(c.Close)
	return c
}

// eventually polls a condition of another process, which leaves no other signal.
func eventually(t *testing.T, what string, within time.Duration, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}

// wantLeadToldOnce waits for the message to the lead, which is written after a member's state is seen, and wants just one.
func (s *site) wantLeadToldOnce() {
	s.t.Helper()
	var text string
	eventually(s.t, "the lead is told", 30*time.Second, func() bool {
		data, _ := os.ReadFile(filepath.Join(s.ws.Inbox(), "lead.jsonl"))
		text = string(data)
		return strings.HasSuffix(text, "\n")
	})
	if strings.Count(text, "\n") != 1 {
		s.t.Errorf("the lead was told: %s", text)
	}
}

// running counts the processes whose command line holds a mark.
func running(t *testing.T, mark string) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("no /proc to look for processes in")
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && strings.Contains(string(line), mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}
