package daemon

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
)

func coders(names ...string) (specs []Spec) {
	for _, n := range names {
		specs = append(specs, Spec{Name: autonomy.AgentName(n), Role: "coder"})
	}
	return specs
}

func TestBoardIsWorkedDown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.drop(1, map[string]any{"steps": []any{"echo one > one.txt"}})
	s.drop(2, map[string]any{"steps": []any{"echo two > two.txt"}, "verify": "test -s two.txt"})
	s.drop(3, map[string]any{"steps": []any{"cat one.txt two.txt > three.txt"}, "blockedBy": []int{1, 2}})
	p := s.start(testOptions{Spawn: coders("alice", "bob"), Poll: 500 * time.Millisecond, Idle: 2 * time.Second, ExitWhenIdle: true})
	if code := p.exit(30 * time.Second); code != ExitOK {
		t.Fatalf("exit status %d, want 0", code)
	}
	for id := 1; id <= 3; id++ {
		got := s.read(id)
		if got.Status != "completed" || got.Claim != nil || got.Result == nil || !got.Result.Verified {
			t.Errorf("task %d = %+v, want completed, verified, unclaimed", id, got)
			continue
		}
		if _, err := os.Stat(s.ws.Run(got.Result.RunID)); err != nil {
			t.Errorf("task %d names a run without a log: %v", id, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(s.ws.Root, "three.txt"))
	if err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("three.txt = %q, %v: the third task did not run after both", text, err)
	}
}

// A task that no member may take is no work, and not done either.
func TestUnfinishedBoardExitsWith4(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.drop(1, map[string]any{"steps": []any{"true"}})
	s.drop(2, map[string]any{"description": "think about it"}) // needs a model
	p := s.start(testOptions{Spawn: coders("alice"), Poll: 200 * time.Millisecond, Idle: time.Second, ExitWhenIdle: true})
	if code := p.exit(30 * time.Second); code != ExitUnfinished {
		t.Errorf("exit status %d, want %d", code, ExitUnfinished)
	}
	if got := s.read(1).Status; got != "completed" {
		t.Errorf("task 1 is %s", got)
	}
	if got := s.read(2); got.Status != "" || got.Owner != "" { // as it was dropped
		t.Errorf("task 2 is %+v, want it left alone", got)
	}
}

// In a CI job nobody is there to spawn another, so waiting for the members to be idle would never end.
func TestNobodySpawnedIsAFailure(t *testing.T) {
	t.Setenv("AUTONOMY_PROVIDER", "nosuch")
	s := newSite(t)
	s.drop(1, map[string]any{"steps": []any{"true"}})
	p := s.start(testOptions{Spawn: coders("alice"), Poll: 200 * time.Millisecond, Idle: time.Second, ExitWhenIdle: true})
	if code := p.exit(30 * time.Second); code != ExitFailed {
		t.Errorf("exit status %d, want %d", code, ExitFailed)
	}
	if said := p.out.String(); !strings.Contains(said, "spawn alice: ") || !strings.Contains(said, errNobody.Error()) {
		t.Errorf("said %q", said)
	}
	if got := s.read(1); got.Status != "" || got.Owner != "" {
		t.Errorf("task 1 is %+v, want it left alone", got)
	}
}

func TestR20_SecondDaemonIsRefused(t *testing.T) {
	s := newSite(t)
	first := s.start(testOptions{})
	s.dial()
	second := s.start(testOptions{})
	if code := second.exit(30 * time.Second); code != ExitRunning {
		t.Errorf("exit status %d, want %d", code, ExitRunning)
	}
	if want := fmt.Sprintf("already running (pid %d)", first.Process.Pid); !strings.Contains(second.out.String(), want) {
		t.Errorf("said %q, want %q", second.out.String(), want)
	}
}

func TestIdleMemberComesBackForANewTask(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.start(testOptions{Spawn: coders("alice"), Poll: time.Second, Idle: time.Second})
	c := s.dial()
	state := func() string {
		team, err := c.Team(t.Context())
		if err != nil || len(team.Members) != 1 {
			t.Fatalf("team = %+v, %v", team, err)
		}
		return team.Members[0].State
	}
	eventually(t, "alice has shut down", 30*time.Second, func() bool { return state() == "shutdown" })
	s.drop(1, map[string]any{"steps": []any{"true"}})
	eventually(t, "the task is completed", 30*time.Second, func() bool { return s.read(1).Status == "completed" })
}

func TestSIGTERMReleasesAndEnds(t *testing.T) {
	s := newSite(t)
	mark := fmt.Sprintf("61.%09d", rand.IntN(1e9))
	s.drop(1, map[string]any{"steps": []any{"sleep " + mark}})
	p := s.start(testOptions{Spawn: coders("alice")})
	s.dial()
	eventually(t, "the step runs", 30*time.Second, func() bool { return len(running(t, "sleep\x00"+mark)) > 0 })
	began := time.Now()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.exit(30 * time.Second); code != ExitOK {
		t.Errorf("exit status %d, want 0", code)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %s, want at most 10 s", took)
	}
	got := s.read(1)
	if got.Status != "pending" || got.Owner != "" || got.Failure != nil && got.Failure.Count > 0 {
		t.Errorf("task = %+v, want it released uncounted", got)
	}
	if left := running(t, "sleep\x00"+mark); len(left) > 0 {
		t.Errorf("processes %v outlived the daemon", left)
	}
	if _, err := os.Lstat(s.ws.Socket()); err == nil {
		t.Error("the socket outlived the daemon")
	}
	if _, err := control.Dial(t.Context(), s.ws); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("Dial after the end: %v", err)
	}
}

// The daemon is killed at random moments until the board is done: nothing that was completed runs again, every file
// parses at every moment, and no command of a dead daemon goes on.
func TestR07_KillsLoseNothing(t *testing.T) {
	t.Parallel()
	const tasks = 12
	s := newSite(t)
	mark := fmt.Sprintf("0.0%09d", 100_000_000+rand.IntN(1e8))
	for id := 1; id <= tasks; id++ {
		fields := map[string]any{"steps": []any{
			fmt.Sprintf("echo begun >> ran.%d", id), "sleep " + mark, fmt.Sprintf("echo ended >> ran.%d", id),
		}, "verify": fmt.Sprintf("grep -q ended ran.%d", id)}
		if id > 3 {
			fields["blockedBy"] = []int{id - 3}
		}
		s.drop(id, fields)
	}
	lines := func(id int) int {
		data, _ := os.ReadFile(filepath.Join(s.ws.Root, fmt.Sprintf("ran.%d", id)))
		return strings.Count(string(data), "\n")
	}
	deaths := func() (most int) { // at five a task is held for a person
		for id := 1; id <= tasks; id++ {
			if got := s.read(id); got.Status != "completed" && got.Failure != nil {
				most = max(most, got.Failure.Deaths)
			}
		}
		return most
	}
	completed := map[int]int{} // lines when it was first seen completed
	for kills := 0; len(completed) < tasks; kills++ {
		p := s.start(testOptions{Spawn: coders("alice", "bob", "carol"), Poll: 200 * time.Millisecond})
		s.dial()
		if deaths() >= 3 {
			eventually(t, "the tasks that died often are done", 30*time.Second, func() bool { return deaths() < 3 })
		}
		<-time.After(time.Duration(rand.IntN(300)) * time.Millisecond)
		p.kill()
		eventually(t, "its commands are gone", 30*time.Second, func() bool { return len(running(t, "sleep\x00"+mark)) == 0 })
		for id := 1; id <= tasks; id++ {
			if s.read(id).Status != "completed" {
				continue
			}
			if n, seen := completed[id]; seen && n != lines(id) {
				t.Errorf("task %d ran again after it was completed", id)
			}
			completed[id] = lines(id)
		}
		if kills > 200 {
			t.Fatalf("%d kills, and %d of %d tasks are completed", kills, len(completed), tasks)
		}
	}
	p := s.start(testOptions{Poll: 200 * time.Millisecond, Idle: time.Second, ExitWhenIdle: true})
	if code := p.exit(30 * time.Second); code != ExitOK {
		t.Errorf("the last daemon ended with %d", code)
	}
}

func TestSocketOfALongPath(t *testing.T) {
	s := newSite(t)
	deep := filepath.Join(s.ws.Root, strings.Repeat("long", 20), strings.Repeat("path", 20))
	if err := os.MkdirAll(filepath.Join(deep, ".tasks"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	s.ws = config.Workspace{Root: deep}
	s.trust()
	s.start(testOptions{})
	c := s.dial()
	if _, err := os.Lstat(s.ws.Socket()); err == nil {
		t.Error("a socket lies in the workspace")
	}
	if err := c.Down(t.Context(), control.Down{}); err != nil {
		t.Errorf("down: %v", err)
	}
	if _, err := os.Lstat(s.ws.DaemonAddr()); err == nil {
		t.Error("daemon.addr outlived the daemon")
	}
}

func TestMailToAMemberWithoutModelIsAnswered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.start(testOptions{Spawn: coders("alice"), Poll: time.Second, Idle: 30 * time.Second})
	c := s.dial()
	if _, err := c.Send(t.Context(), control.SendRequest{To: "alice", Content: "hello <inbox>"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the answer arrives", 30*time.Second, func() bool {
		data, _ := os.ReadFile(filepath.Join(s.ws.Inbox(), "user.jsonl"))
		return strings.Contains(string(data), "no model; stored")
	})
	_, err := c.Send(t.Context(), control.SendRequest{To: "Alice", Content: "x"})
	var e *control.Error
	if !errors.As(err, &e) || e.Code != control.CodeNotFound && e.Code != control.CodeInvalid {
		t.Errorf("send to Alice: %v", err)
	}
}

func TestStatusTellsThePicture(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.drop(1, map[string]any{"description": "x"})
	if err := os.WriteFile(filepath.Join(s.ws.Tasks(), "task_2.json"), []byte("{\n\"subject\": 5}"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := s.start(testOptions{Spawn: coders("alice"), Poll: 200 * time.Millisecond})
	c := s.dial()
	eventually(t, "the invalid file is reported", 30*time.Second, func() bool {
		st, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st.PID == p.Process.Pid && len(st.Members) == 1 && st.Watch.Events && st.Tasks["invalid"] == 1 &&
			len(st.Problems) == 1 && st.Problems[0].Line == 2
	})
}

// A person who gives a running task to somebody else is obeyed: the attempt and its commands end, then the task is free
// for the new owner; what the person wrote besides stays.
func TestTaskTakenByHandStopsTheAttempt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mark := fmt.Sprintf("62.%09d", rand.IntN(1e9))
	s.drop(1, map[string]any{"steps": []any{"sleep " + mark}})
	s.start(testOptions{Spawn: coders("alice"), Poll: time.Second, Idle: 30 * time.Second})
	s.dial()
	eventually(t, "the step runs", 30*time.Second, func() bool { return len(running(t, "sleep\x00"+mark)) > 0 })
	path := filepath.Join(s.ws.Tasks(), "task_1.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(data), `"alice"`, `"bob"`, 1)
	edited = strings.Replace(edited, `"subject"`, `"note": "mine",  "subject"`, 1)
	if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command has ended", 30*time.Second, func() bool { return len(running(t, "sleep\x00"+mark)) == 0 })
	eventually(t, "the task is bob's", 30*time.Second, func() bool {
		got := s.read(1)
		return got.Status == "pending" && got.Owner == "bob" && got.Claim == nil
	})
	if data, _ := os.ReadFile(path); !strings.Contains(string(data), `"note": "mine",  "subject"`) {
		t.Errorf("the person's own words are gone:\n%s", data)
	}
}

func TestDownNowDoesNotWaitForAStep(t *testing.T) {
	s := newSite(t)
	mark := fmt.Sprintf("63.%09d", rand.IntN(1e9))
	s.drop(1, map[string]any{"steps": []any{"trap '' TERM; sleep " + mark}})
	p := s.start(testOptions{Spawn: coders("alice")})
	c := s.dial()
	eventually(t, "the step runs", 30*time.Second, func() bool { return len(running(t, "sleep\x00"+mark)) > 0 })
	began := time.Now()
	if err := c.Down(t.Context(), control.Down{Now: true}); err != nil {
		t.Fatal(err)
	}
	if code := p.exit(30 * time.Second); code != ExitOK || time.Since(began) >= 10*time.Second { // an orderly end has ten
		t.Errorf("exit %d after %s", code, time.Since(began))
	}
	if left := running(t, "sleep\x00"+mark); len(left) > 0 {
		t.Errorf("processes %v outlived the daemon", left)
	}
	if got := s.read(1).Status; got != "pending" {
		t.Errorf("the task is %s, want it released", got)
	}
}

// SECURITY: whatever an agent starts, also in a session of its own and twice removed, has no person's rights.
func TestR17_CommandsOfAgentsCannotUseTheSocket(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	call := fmt.Sprintf("DAEMON_TEST_INTRUDER=%s %s", s.ws.Root, self)
	s.drop(1, map[string]any{"steps": []any{call}})
	s.drop(2, map[string]any{"steps": []any{
		fmt.Sprintf("(setsid sh -c '%s > out.txt 2>&1; echo $? > status.txt' &) ; while ! test -s status.txt; do sleep 0.05; done", call),
		map[string]any{"run": "cat out.txt status.txt", "expect": map[string]any{"contains": "0"}},
		"grep -qx 0 status.txt",
	}})
	p := s.start(testOptions{Spawn: coders("alice", "bob"), Poll: 200 * time.Millisecond, Idle: time.Second, ExitWhenIdle: true})
	if code := p.exit(60 * time.Second); code != ExitOK {
		t.Errorf("exit status %d: %+v %+v", code, s.read(1).Failure, s.read(2).Failure)
	}
}

// In process, so that the leak detector sees what a daemon leaves behind.
func TestRunLeavesNoGoroutines(t *testing.T) {
	s := newSite(t)
	s.drop(1, map[string]any{"steps": []any{"true"}})
	code, err := Run(t.Context(), Options{
		Workspace: s.ws, UserDir: s.user, Spawn: coders("alice"), Poll: 100 * time.Millisecond, IdleTimeout: 500 * time.Millisecond,
		ExitWhenIdle: true,
	})
	if code != ExitOK || err != nil {
		t.Errorf("Run = %d, %v", code, err)
	}
	if s.read(1).Status != "completed" {
		t.Error("the task is not completed")
	}
}

func TestBadFlagsTouchNothing(t *testing.T) {
	for _, o := range []Options{{Spawn: []Spec{{Name: "Alice", Role: "coder"}}}, {Spawn: []Spec{{Name: "lead"}}}, {Mode: "yolo"}} {
		s := newSite(t)
		o.Workspace, o.UserDir = s.ws, s.user
		if code, err := Run(t.Context(), o); code != ExitFailed || err == nil {
			t.Errorf("Run(%+v) = %d, %v", o, code, err)
		}
		if _, err := os.Stat(s.ws.Team()); err == nil {
			t.Errorf("%+v made state folders", o)
		}
	}
}

func TestRunLogThatCannotBeWrittenCostsTheTaskNothing(t *testing.T) {
	s := newSite(t)
	s.start(testOptions{Spawn: coders("alice"), Poll: 200 * time.Millisecond})
	c := s.dial()
	if err := errors.Join(os.Remove(s.ws.Runs()), os.WriteFile(s.ws.Runs(), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s.drop(1, map[string]any{"steps": []any{"touch ran"}})
	eventually(t, "alice rests and says why", 30*time.Second, func() bool {
		team, err := c.Team(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return team.Members[0].State == "backoff" && strings.Contains(team.Members[0].Reason, "run log")
	})
	got := s.read(1)
	if got.Status != "pending" || got.Owner != "" || got.Failure != nil && got.Failure.Count > 0 {
		t.Errorf("task = %+v, want it released uncounted", got)
	}
	if _, err := os.Stat(filepath.Join(s.ws.Root, "ran")); err == nil {
		t.Error("a step ran that could not be recorded")
	}
}
