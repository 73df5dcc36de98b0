package team

import (
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/board"
)

func TestHowAnAttemptEnds(t *testing.T) {
	exit := 3
	const (
		complete = "complete"
		keep     = "keep"
		release  = "release"
		fail     = "fail"
		hold     = "hold"
	)
	failed := func(class llm.Class) agent.Report {
		return agent.Report{Termination: agent.Failed, Code: agent.CodeModel, Class: class}
	}
	budget := func(scope agent.Scope) agent.Report {
		return agent.Report{Termination: agent.Blocked, Code: agent.CodeBudget, Scope: scope}
	}
	tests := []struct {
		name   string
		report agent.Report
		round  int
		end    string
		rest   string // "" idle, else shared, own, endless
	}{
		{"achieved", agent.Report{Termination: agent.Achieved}, 0, complete, ""},
		{"idle once", agent.Report{Termination: agent.Blocked, Code: agent.CodeIdle}, 0, keep, ""},
		{"idle three times", agent.Report{Termination: agent.Blocked, Code: agent.CodeIdle}, 2, keep, ""},
		{"idle after three resumes", agent.Report{Termination: agent.Blocked, Code: agent.CodeIdle}, 3, fail, ""},
		{"blocked", agent.Report{Termination: agent.Blocked, Code: agent.CodeRepeat}, 0, fail, ""},
		{"budget of the run", budget(agent.ScopeRun), 0, fail, ""},
		{"budget of the task", budget(agent.ScopeTask), 0, fail, ""},
		{"budget of the member", budget(agent.ScopeMember), 0, release, "endless"},
		{"budget of the team", budget(agent.ScopeTeam), 0, release, "endless"},
		{"no candidates", agent.Report{Termination: agent.NoCandidates}, 0, fail, ""},
		{"max steps", agent.Report{Termination: agent.MaxStepsReached}, 0, fail, ""},
		{"denied", agent.Report{Termination: agent.ApprovalDenied}, 0, hold, ""},
		{"panic", agent.Report{Termination: agent.Failed, Code: agent.CodePanic}, 0, fail, "crash"},
		{"log", agent.Report{Termination: agent.Failed, Code: agent.CodeLog}, 0, release, "own"},
		{"no descriptors left", agent.Report{Termination: agent.Failed, Code: agent.CodeMachine}, 0, release, "own"},
		{"harness", agent.Report{Termination: agent.Failed, Code: agent.CodeHarness}, 0, fail, ""},
		{"param", failed(llm.Param), 0, fail, ""},
		{"overflow", failed(llm.Overflow), 0, fail, ""},
		{"content", failed(llm.Content), 0, fail, ""},
		{"auth", failed(llm.Auth), 0, release, "endless"},
		{"model", failed(llm.NoModel), 0, release, "endless"},
		{"protocol", failed(llm.Protocol), 0, release, "endless"},
		{"quota", failed(llm.Quota), 0, release, "shared"},
		{"rate", failed(llm.Rate), 0, release, "shared"},
		{"server", failed(llm.Server), 0, release, "shared"},
		{"transport", failed(llm.Transport), 0, release, "shared"},
		{"cut", failed(llm.Cut), 0, release, "shared"},
		{"cancelled by nobody", agent.Report{Termination: agent.Cancelled}, 0, release, "own"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.report.Failure = &agent.Failure{Step: "build", Exit: &exit, Tail: "last line"}
			got := endOf(test.report, test.round)
			if end := endName(got.end); end != test.end {
				t.Errorf("task: %s, want %s", end, test.end)
			}
			if rest := restName(got); rest != test.rest {
				t.Errorf("member: %q, want %q", rest, test.rest)
			}
			if f, ok := got.end.(board.Fail); ok && f.Code != "stalled" && f.Message != "build: exit status 3\nlast line" {
				t.Errorf("message %q", f.Message)
			}
		})
	}
}

func endName(end board.End) string {
	switch end.(type) {
	case board.Complete:
		return "complete"
	case board.Release:
		return "release"
	case board.Fail:
		return "fail"
	case board.Hold:
		return "hold"
	}
	return "keep"
}

func restName(e ending) string {
	switch {
	case e.crash != "" || e.pause == nil && endName(e.end) == "fail" && e.end.(board.Fail).Code == string(agent.CodePanic):
		return "crash"
	case e.pause == nil:
		return ""
	case e.pause.endless:
		return "endless"
	case e.pause.shared:
		return "shared"
	}
	return "own"
}

func TestEveryPhaseHasATransition(t *testing.T) {
	all := []Phase{Starting, Working, Idle, WaitingApproval, Backoff, Stopping, Shutdown, Stopped, Failed}
	for _, from := range all {
		if len(nextPhases(from)) == 0 {
			t.Errorf("nothing leads from %s", from)
		}
		if from.Live() && from != Stopping && !CanMove(from, Stopping) {
			t.Errorf("a member that is %s cannot be stopped", from)
		}
		if !from.Live() && !CanMove(from, Starting) {
			t.Errorf("a member that is %s cannot come back", from)
		}
		if CanMove(from, from) {
			t.Errorf("%s leads to itself", from)
		}
	}
}

func TestCrashesRestLongerUntilOneTooMany(t *testing.T) {
	now := time.Now()
	tests := []struct {
		name  string
		gaps  []time.Duration // between panics
		waits []time.Duration
		dead  bool // after the last
	}{
		{"five in a row", seconds(60, 60, 60, 60), seconds(30, 60, 120, 240, 480), true},
		{"the window slides", seconds(300, 300, 300, 300, 300), seconds(30, 60, 120, 240, 480, 600), false},
		{"the wait is bounded", seconds(900, 900, 900, 900, 900, 900), seconds(30, 60, 120, 240, 480, 600, 600), false},
		{"half an hour with the rest in it does not forgive", seconds(60, 60, 60, 1920), seconds(30, 60, 120, 240, 480), false},
		{"a stable half hour after the rest forgives", seconds(60, 60, 60, 2040), seconds(30, 60, 120, 240, 30), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c crashes
			at := now
			for i, want := range test.waits {
				if i > 0 {
					at = at.Add(test.gaps[i-1])
				}
				wait, first, dead := c.add(at)
				if wait != want {
					t.Errorf("panic %d: rests %s, want %s", i+1, wait, want)
				}
				if first != (i == 0 || want == firstWait) {
					t.Errorf("panic %d: first is %v", i+1, first)
				}
				if last := i == len(test.waits)-1; dead != (last && test.dead) {
					t.Errorf("panic %d: dead is %v", i+1, dead)
				}
			}
		})
	}
}

func seconds(ns ...int) []time.Duration {
	out := make([]time.Duration, len(ns))
	for i, n := range ns {
		out[i] = time.Duration(n) * time.Second
	}
	return out
}

func TestAccountLetsOneTryFirst(t *testing.T) {
	var as accounts
	a, b, c := &Teammate{}, &Teammate{}, &Teammate{}
	now := time.Now()
	until, news := as.fail("k", a, now, 0)
	if !news || until != now.Add(30*time.Second) {
		t.Fatalf("first failure: until %v, news %v", until.Sub(now), news)
	}
	if u, news := as.fail("k", b, now.Add(time.Second), 0); news || u != until {
		t.Fatalf("a failure of the same trouble lengthens it: until %v, news %v", u.Sub(now), news)
	}
	if ok, _, _ := as.turn("k", a, now.Add(29*time.Second)); ok {
		t.Fatal("may try before the time")
	}
	later := now.Add(31 * time.Second)
	if ok, _, _ := as.turn("k", a, later); !ok {
		t.Fatal("the first may not try")
	}
	ok, wait, changed := as.turn("k", b, later)
	if ok || !wait.IsZero() {
		t.Fatal("the second tries at the same time")
	}
	if until, _ = as.fail("k", a, later, 0); until != later.Add(time.Minute) {
		t.Fatalf("second wait is %v, want 1m", until.Sub(later))
	}
	<-changed
	later = until
	if ok, _, _ = as.turn("k", b, later); !ok {
		t.Fatal("b may not try after a failed")
	}
	_, _, changed = as.turn("k", c, later)
	as.yield("k", b)
	<-changed
	if ok, _, _ = as.turn("k", c, later); !ok {
		t.Fatal("c may not try after b gave up")
	}
	_, _, changed = as.turn("k", a, later)
	as.succeed("k")
	<-changed
	if ok, _, _ := as.turn("k", a, later); !ok {
		t.Fatal("the others may not go on after a success")
	}
	if until, _ = as.fail("k", a, later, 7*time.Minute); until != later.Add(7*time.Minute) {
		t.Fatalf("the provider asked for 7m, got %v", until.Sub(later))
	}
}

// What the end says is told once: the step's output is often what the message quotes.
func TestReasonSaysEachThingOnce(t *testing.T) {
	exit := 3
	tests := []struct {
		report agent.Report
		want   string
	}{
		{
			agent.Report{Message: "nothing was allowed: denied by maria", Failure: &agent.Failure{Step: "step 1", Tail: "denied by maria"}},
			"nothing was allowed: denied by maria; step 1",
		},
		{
			agent.Report{Message: "a step failed", Failure: &agent.Failure{Step: "step 1", Exit: &exit, Tail: "boom"}},
			"a step failed; step 1: exit status 3\nboom",
		},
		{agent.Report{Termination: agent.NoCandidates}, "no_candidates"},
	}
	for _, test := range tests {
		if got := reasonOf(test.report); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
