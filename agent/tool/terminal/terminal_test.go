package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/machine"
	"github.com/autonomy-team/autonomy/internal/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__sandbox" {
		syscall.Exit(sandbox.Main(context.Background())) // os.Exit waits a second under the race detector
	}
	goleak.VerifyTestMain(m)
}

func testConfig(t *testing.T) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Sandbox: sandbox.Config{Self: self}}
}

// table is a table of processes, closed with the test, and a function that calls its tools.
func table(t *testing.T, finished func(Finished)) (*Processes, func(name, args string) tool.Result) {
	t.Helper()
	p, err := OpenProcesses(testConfig(t), finished)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(context.Background()) })
	registry, err := tool.New(p.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return p, func(name, args string) tool.Result {
		t.Helper()
		if err := registry.Validate(name, json.RawMessage(args)); err != nil {
			t.Fatal(err)
		}
		x, _ := registry.Get(name)
		call := tool.Call{Arguments: json.RawMessage(args), Env: tool.Env{Workspace: dir, Dir: dir}}
		r, err := x.Call(t.Context(), call)
		if err != nil {
			t.Fatalf("%s %s: %v", name, args, err)
		}
		if v, ok := x.(tool.Verifier); ok && !r.IsError {
			if alive, found := v.Verify(t.Context(), call, r); !alive {
				t.Errorf("%s: %s", name, found)
			}
		}
		return r
	}
}

func TestProcessLives(t *testing.T) {
	ended := make(chan Finished, 1)
	p, call := table(t, func(f Finished) { ended <- f })
	if r := call("process_start", `{"command":"echo up; exit 3"}`); r.IsError || !strings.HasPrefix(r.Content, "process 1 started, pid ") {
		t.Fatalf("got %+v", r)
	}
	if r := call("process_wait", `{"id":1,"timeout":20}`); !strings.Contains(r.Content, "exit status 3]") {
		t.Errorf("wait: %+v", r)
	}
	if f := <-ended; f.ID != 1 || !strings.Contains(f.Text, "exit status 3") {
		t.Errorf("finished: %+v", f)
	}
	ready := filepath.Join(t.TempDir(), "ready") // a pipe, on which the command says that its trap is set
	if err := syscall.Mkfifo(ready, 0o600); err != nil {
		t.Fatal(err)
	}
	call("process_start", fmt.Sprintf(`{"command":"trap 'echo bye; exit 0' TERM; echo up > '%s'; while :; do sleep 0.02; done"}`, ready))
	if said, err := os.ReadFile(ready); err != nil || string(said) != "up\n" {
		t.Fatalf("the command said %q, %v", said, err)
	}
	if r := call("process_list", `{}`); !strings.Contains(r.Content, "1: exit status 3") || !strings.Contains(r.Content, "2: running since") {
		t.Errorf("list: %+v", r)
	}
	if r := call("process_stop", `{"id":2}`); !strings.Contains(r.Content, "bye") || !strings.Contains(r.Content, "stopped") {
		t.Errorf("stop: %+v", r)
	}
	if r := call("process_output", `{"id":7}`); !r.IsError || !strings.Contains(r.Content, "there are 1, 2") {
		t.Errorf("unknown: %+v", r)
	}
	if r := call("process_start", `{"command":" "}`); !r.IsError {
		t.Errorf("empty: %+v", r)
	}
	if len(p.all()) != 2 {
		t.Errorf("%d listed", len(p.all()))
	}
}

func TestR08_CloseEndsAllProcesses(t *testing.T) {
	told := make(chan Finished, maxProcesses)
	p, call := table(t, func(f Finished) { told <- f })
	for range 3 {
		call("process_start", `{"command":"setsid sleep 1000 & sleep 1000"}`)
	}
	p.Close(t.Context())
	for _, x := range p.all() {
		if err := syscall.Kill(x.PID(), 0); err != syscall.ESRCH {
			t.Errorf("process %d: %v", x.id, err)
		}
	}
	if len(told) != 0 {
		t.Error("the owner was woken by its own end")
	}
	if r := call("process_start", `{"command":"true"}`); !r.IsError || !strings.Contains(r.Content, "stopping") {
		t.Errorf("after Close: %+v", r)
	}
}

func TestProcessesAreBounded(t *testing.T) {
	_, call := table(t, nil)
	for range maxProcesses {
		if r := call("process_start", `{"command":"sleep 1000"}`); r.IsError {
			t.Fatal(r.Content)
		}
	}
	if r := call("process_start", `{"command":"sleep 1000"}`); !r.IsError || !strings.Contains(r.Content, "stop one") {
		t.Errorf("got %+v", r)
	}
}

func TestLevels(t *testing.T) {
	p, _ := table(t, nil)
	shell, err := New(testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]action.Risk{
		"bash": action.High, "process_start": action.High, "process_output": action.Low, "process_wait": action.Low,
		"process_stop": action.Low, "process_list": action.Low,
	}
	for _, x := range append(shell, p.Tools()...) {
		name := x.Spec().Name
		got := x.(tool.Assessor).Assess(json.RawMessage(`{"command":"ls"}`), tool.Env{})
		if got.Risk != want[name] || got.SideEffects == x.Spec().ReadOnly {
			t.Errorf("%s: %+v, read-only %v", name, got, x.Spec().ReadOnly)
		}
	}
	for command, refused := range map[string]bool{
		"autonomy approve 01": true, "x; /usr/bin/autonomy trust": true, "(autonomy keys set a)": true, "autonomy task list": false,
		"echo autonomy": false, "autonomy down": true,
	} {
		if got := assessShell(command, tool.Env{}); got.Refused != refused || got.Risk != action.High {
			t.Errorf("%q: %+v", command, got)
		}
	}
}

func TestToolsFailWhereTheMachineIsToBlame(t *testing.T) {
	c := testConfig(t)
	c.Sandbox.Self += "-not-there"
	shell, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := OpenProcesses(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(context.Background()) })
	for _, x := range []tool.Tool{shell[0], p.Tools()[0]} {
		call := tool.Call{Arguments: json.RawMessage(`{"command":"true"}`), Env: tool.Env{Workspace: t.TempDir(), Dir: "/"}}
		if r, err := x.Call(t.Context(), call); !machine.InTrouble(err) {
			t.Errorf("%s: %+v, %v", x.Spec().Name, r, err)
		}
	}
}

func TestBashResults(t *testing.T) {
	shell, err := New(testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct {
		args  string
		set   time.Duration
		error bool
		says  string
	}{
		{`{"command":"printf no-newline"}`, 0, false, "no-newline\n[exit status 0]"},
		{`{"command":"  "}`, 0, true, "empty"},
		{`{"command":"true","timeout":4000}`, 0, true, "3600"},
		{`{"command":"sleep 100","timeout":1}`, 0, true, "deadline of 1s"},
		{`{"command":"sleep 100","timeout":100}`, 200 * time.Millisecond, true, "deadline of 200ms"},
		{`{"command":"setsid sleep 100 & sleep 0.1"}`, 0, false, "left behind were ended"},
		{`{"command":"seq 100000"}`, 0, false, "[whole output: " + tool.Results(dir)},
		{`{"command":"kill -9 $$"}`, 0, true, "ended by SIGKILL; exit status 137"},
	} {
		r, err := shell[0].Call(t.Context(), tool.Call{Arguments: json.RawMessage(c.args), Timeout: c.set, Env: tool.Env{Workspace: dir, Dir: dir}})
		if err != nil || r.IsError != c.error || !strings.Contains(r.Content, c.says) {
			t.Errorf("%s: error %v, %.300q, %v", c.args, r.IsError, r.Content, err)
		}
	}
}
