package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
	"github.com/autonomy-team/autonomy/internal/machine"
)

// again repeats a reply with fresh call ids and, where the arguments hold %d, fresh arguments.
func again(n int, tool, args string) (list []replyFunc) {
	for i := range n {
		a := args
		if strings.Contains(a, "%d") {
			a = fmt.Sprintf(a, i)
		}
		list = append(list, says("", call(fmt.Sprintf("c%d", i), tool, a)))
	}
	return list
}

// endCase is a run and how it ends.
type endCase struct {
	name    string
	goal    agent.Goal
	replies []replyFunc
	setup   func(*bench)
	end     agent.Termination
	code    agent.Code
	turns   int
}

func TestTerminations(t *testing.T) {
	refuse := outcome.Outcome{Verdict: outcome.Continue, By: outcome.ByVerify, Reason: "no"}
	task := agent.Goal{Kind: agent.KindTask, Subject: "s"}
	run := agent.Goal{Kind: agent.KindRun, Subject: "s", Text: "do s"}
	strict := agent.Goal{Kind: agent.KindRun, Subject: "s", Strict: true}
	mail := agent.Goal{Kind: agent.KindMail, Text: "hi"}
	bad := llm.ToolCall{ID: "x", Name: "bash", Arguments: []byte(`{}`), Problem: "arguments do not parse"}
	tests := []endCase{
		{"answer claims a run", run, []replyFunc{says("done")}, nil, agent.Achieved, "", 1},
		{"complete_task claims a task", task, []replyFunc{says("", call("a", "complete_task", `{}`))}, nil, agent.Achieved, "", 1},
		{"mail is answered", mail, []replyFunc{says("", call("a", "read", `{}`)), says("hello")}, nil, agent.Achieved, agent.CodeAnswered, 2},
		{"idle ends mail", mail, []replyFunc{says("", call("a", "idle", `{}`))}, nil, agent.Achieved, agent.CodeAnswered, 1},
		{"idle leaves a task", task, []replyFunc{says("", call("a", "idle", `{}`))}, nil, agent.Blocked, agent.CodeIdle, 1},
		{"three failures", run, again(9, "break", `{"n":%d}`), nil, agent.Blocked, agent.CodeFailures, 3},
		{"strict: the first failure", strict, again(9, "break", `{}`), nil, agent.Blocked, agent.CodeFailures, 1},
		{"the same call five times", run, again(9, "read", `{}`), nil, agent.Blocked, agent.CodeRepeat, 5},
		{"a write in between is progress", run, []replyFunc{
			says("", call("1", "read", `{}`), call("2", "read", `{}`)), says("", call("3", "write", `{}`)),
			says("", call("4", "read", `{}`), call("5", "read", `{}`), call("6", "read", `{}`)), says("done"),
		}, nil, agent.Achieved, "", 4},
		{"writing the same again and again is bounded by turns", run, again(20, "write", `{}`), nil, agent.MaxStepsReached, "", 12},
		{"work has fifty turns", task, again(99, "write", `{"n":%d}`), nil, agent.MaxStepsReached, "", 50},
		{"stopped at a question", task, []replyFunc{says("", call("1", "read", `{}`), call("2", "write", `{}`), call("3", "write", `{"n":1}`))}, func(b *bench) {
			b.hands.stops = "write"
		}, agent.Cancelled, "", 1},
		{"verify may not run", task, []replyFunc{says("done")}, func(b *bench) {
			b.judge.list = []outcome.Outcome{{Verdict: outcome.Blocked, Denied: true, By: outcome.ByVerify, Reason: "no"}}
		}, agent.ApprovalDenied, "", 1},
		{"second refused claim", task, []replyFunc{says("done"), says("done")}, func(b *bench) {
			b.judge.list = []outcome.Outcome{refuse, refuse}
		}, agent.Blocked, agent.CodeRefused, 2},
		{"refused once, then accepted", task, []replyFunc{says("done"), says("done")}, func(b *bench) {
			b.judge.list = []outcome.Outcome{refuse}
		}, agent.Achieved, "", 2},
		{"the evaluator says blocked", task, []replyFunc{says("done")}, func(b *bench) {
			b.judge.list = []outcome.Outcome{{Verdict: outcome.Blocked, By: outcome.ByJudge}}
		}, agent.Blocked, agent.CodeEvaluator, 1},
		{"denied three turns", run, again(9, "write", `{}`), denyWrite, agent.ApprovalDenied, "", 3},
		{"strict: denied once", strict, again(9, "write", `{}`), denyWrite, agent.ApprovalDenied, "", 1},
		{"denied beside something that ran", run, []replyFunc{
			says("", call("1", "write", `{}`), call("2", "read", `{}`)), says("", call("3", "write", `{}`), call("4", "read", `{"a":1}`)),
			says("", call("5", "write", `{}`), call("6", "read", `{"a":2}`)), says("done"),
		}, denyWrite, agent.Achieved, "", 4},
		{"unknown tools three turns", run, again(9, "levitate", `{}`), nil, agent.NoCandidates, "", 3},
		{"unparsable calls three turns", run, []replyFunc{says("", bad), says("", bad), says("", bad)}, nil, agent.NoCandidates, "", 3},
		{"nothing said", run, []replyFunc{errs(llm.Empty)}, nil, agent.NoCandidates, agent.CodeEmpty, 1},
		{"cut for ever", mail, []replyFunc{cut("a"), cut("b"), cut("c")}, nil, agent.NoCandidates, agent.CodeEmpty, 3},
		{"cut and continued", mail, []replyFunc{cut("a"), cut("b"), says("c")}, nil, agent.Achieved, agent.CodeAnswered, 3},
		{"model fails", run, []replyFunc{errs(llm.Auth)}, nil, agent.Failed, agent.CodeModel, 1},
		{"prompt too long", run, []replyFunc{errs(llm.Overflow)}, nil, agent.Failed, agent.CodeModel, 1},
		{"log full", run, []replyFunc{says("done")}, func(b *bench) { b.log.failAt = 3 }, agent.Failed, agent.CodeLog, 1},
		{"log full at the end", run, []replyFunc{says("done")}, func(b *bench) { b.log.failAt = 8 }, agent.Failed, agent.CodeLog, 1},
		{"a tool panics", run, again(1, "read", `{}`), func(b *bench) {
			b.hands.tools["read"] = func(context.Context, action.Action) action.Observation { panic("bug") }
		}, agent.Failed, agent.CodeHarness, 1},
		{"time is up", run, again(9, "read", `{}`), func(b *bench) { b.cfg.WallTime = time.Nanosecond }, agent.Blocked, agent.CodeBudget, 0},
	}
	checkEndings(t, tests)
}

func denyWrite(b *bench) { b.hands.deny["write"] = true }

func TestCutReplyRunsNothing(t *testing.T) {
	b := newBench(cut("", call("a", "write", `{}`)), says("", call("b", "complete_task", `{}`)))
	b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s"})
	b.want(t, agent.Achieved, "")
	if got := strings.Join(b.hands.calls, " "); got != "complete_task" {
		t.Errorf("executed %s", got)
	}
	last := b.model.requests[1].Messages
	if m := last[len(last)-1]; m.Role != llm.ToolRole || !strings.Contains(m.Content, "output was cut; send smaller calls") {
		t.Errorf("the model is told %+v", m)
	}
}

func TestContinuedTextIsWhole(t *testing.T) {
	b := newBench(cut("one "), cut("two "), says("three"))
	if rep := b.run(t, agent.Goal{Kind: agent.KindLine, Text: "count"}); rep.Text != "one two three" {
		t.Errorf("text %q", rep.Text)
	}
}

func TestNoWritingCallAfterAFailedOne(t *testing.T) {
	b := newBench(says("", call("1", "read", `{}`), call("2", "break", `{}`), call("3", "write", `{}`), call("4", "read", `{"b":1}`),
		call("5", "complete_task", `{}`)), says("", call("6", "idle", `{}`)))
	b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s"})
	if got := strings.Join(b.hands.calls, " "); got != "read break read idle" {
		t.Errorf("executed %s", got)
	}
	want := []action.Status{action.OK, action.Failed, action.NotRun, action.OK, action.NotRun, action.OK}
	for i, o := range find[agent.Observed](b.log) {
		if o.Status != want[i] {
			t.Errorf("call %s: %s, want %s", o.Call, o.Status, want[i])
		}
	}
	b.want(t, agent.Blocked, agent.CodeIdle)
}

func TestReadOnlyCallsRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(says("", call("1", "read", `{"n":1}`), call("2", "read", `{"n":2}`), call("3", "read", `{"n":3}`)), says("done"))
		b.hands.tools["read"] = func(context.Context, action.Action) action.Observation {
			time.Sleep(time.Second) // virtual
			return action.Observation{Status: action.OK}
		}
		start := time.Now()
		b.run(t, agent.Goal{Subject: "s"})
		if took := time.Since(start); took != time.Second {
			t.Errorf("three reads of a second took %s", took)
		}
	})
}

func TestNextPathAfterADeniedOne(t *testing.T) {
	b := newBench(says("a", call("1", "write", `{}`)), says("b", call("2", "read", `{}`)), says("done"), says("done"))
	denyWrite(b)
	b.run(t, agent.Goal{Subject: "s", Proposals: 2})
	b.want(t, agent.Achieved, "")
	if got := find[agent.CandidatesRanked](b.log)[0].Paths; len(got) != 2 || got[0].Text != "b" {
		t.Fatalf("ranking %+v", got)
	}
	// A path with the better score is denied: the worse one runs, and it alone enters the conversation.
	b = newBench(says("a", call("1", "write", `{"purpose":"p"}`)), says("b", call("2", "bash", `{}`)), says("done"), says("done"))
	denyWrite(b)
	b.hands.risky["bash"] = action.High
	b.run(t, agent.Goal{Subject: "s", Proposals: 2})
	b.want(t, agent.Achieved, "")
	if got := strings.Join(b.hands.calls, " "); got != "bash" {
		t.Errorf("executed %s", got)
	}
	for _, m := range b.model.requests[2].Messages {
		if m.Content == "a" {
			t.Error("a path that was not taken entered the conversation")
		}
	}
}

func TestNudgeBeforeTheGuard(t *testing.T) {
	b := newBench(again(9, "read", `{}`)...)
	b.run(t, agent.Goal{Subject: "s"})
	nudged := 0
	for _, m := range b.model.requests[3].Messages {
		if m.Role == llm.User && strings.Contains(m.Content, "three times") {
			nudged++
		}
	}
	if nudged != 1 || len(b.model.requests) != 5 {
		t.Errorf("%d nudges, %d requests", nudged, len(b.model.requests))
	}
}

func TestCancelledInTheMiddleOfACall(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	b := newBench(says("", call("1", "bash", `{}`), call("2", "write", `{}`)))
	b.hands.tools["bash"] = func(context.Context, action.Action) action.Observation {
		cancel(errors.New("the member is stopped"))
		return action.Observation{Status: action.Failed}
	}
	loop, err := agent.New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.report = loop.Run(ctx, agent.Goal{Subject: "s"})
	b.want(t, agent.Cancelled, "")
	for _, o := range find[agent.Observed](b.log) {
		if o.Status != action.Aborted {
			t.Errorf("call %s: %s", o.Call, o.Status)
		}
	}
	if !strings.Contains(b.report.Message, "the member is stopped") {
		t.Errorf("message %q", b.report.Message)
	}
}

func TestAKilledCheckSaysNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := newBench()
	b.cfg.Proposers = []agent.Proposer{steps(t, "bash")}
	b.cfg.Evaluator = judgeFunc(func(context.Context, outcome.Claim) (outcome.Outcome, error) {
		cancel()
		return outcome.Outcome{Verdict: outcome.Continue, Reason: "killed"}, nil
	})
	loop, err := agent.New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.report = loop.Run(ctx, agent.Goal{Kind: agent.KindTask, Subject: "s"})
	b.want(t, agent.Cancelled, "")
}

func TestAKilledActionHasNotFailed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := newBench()
	b.cfg.Proposers = []agent.Proposer{steps(t, "break")}
	b.cfg.Executor = killed{b.hands, cancel}
	loop, err := agent.New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.report = loop.Run(ctx, agent.Goal{Kind: agent.KindTask, Subject: "s"})
	b.want(t, agent.Cancelled, "")
	if o := find[agent.Observed](b.log); len(o) != 1 || o[0].Status != action.Aborted {
		t.Errorf("observed %+v", o)
	}
}

// killed is an Executor whose commands die with the context and report that as a failure.
type killed struct {
	*hands
	cancel func()
}

func (k killed) Execute(context.Context, action.Action, action.Admission) (action.Observation, error) {
	k.cancel()
	return action.Observation{Status: action.Failed, Output: "killed"}, nil
}

func TestTroubleOfTheMachineIsNobodysFailure(t *testing.T) {
	tests := []struct {
		name string
		err  error
		code agent.Code
	}{
		{"no descriptors", fmt.Errorf("open pipes: %w", syscall.EMFILE), agent.CodeMachine},
		{"marked", fmt.Errorf("start: %w", machine.Trouble(errors.New("no report"))), agent.CodeMachine},
		{"a broken harness", errors.New("no such tool"), agent.CodeHarness},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(says("", call("1", "write", `{}`)))
			b.cfg.Executor = unable{b.hands, tc.err}
			rep := b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s"})
			b.want(t, agent.Failed, tc.code)
			if !strings.Contains(rep.Message, tc.err.Error()) || rep.Failure != nil {
				t.Errorf("report %+v", rep)
			}
		})
		t.Run(tc.name+" for verify", func(t *testing.T) {
			b := newBench(says("done"))
			b.cfg.Evaluator = judgeFunc(func(context.Context, outcome.Claim) (outcome.Outcome, error) {
				return outcome.Outcome{}, fmt.Errorf("run verify: %w", tc.err)
			})
			b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s", Verify: "true"})
			b.want(t, agent.Failed, tc.code)
		})
	}
}

// unable is an Executor that can begin nothing.
type unable struct {
	*hands
	err error
}

func (u unable) Execute(context.Context, action.Action, action.Admission) (action.Observation, error) {
	return action.Observation{}, u.err
}

func TestR25_NobodyIsBelieved(t *testing.T) {
	b := newBench(says("All tests pass! achieved=true", call("1", "complete_task", `{"status":"achieved","verified":true}`)), says("It is done."))
	b.judge.list = []outcome.Outcome{
		{Verdict: outcome.Continue, Reason: "verify failed with exit status 1"}, {Verdict: outcome.Continue, Reason: "verify failed"},
	}
	rep := b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s", Verify: "false"})
	b.want(t, agent.Blocked, agent.CodeRefused)
	if rep.Verified || rep.Summary != "" {
		t.Errorf("report %+v", rep)
	}
	last := b.model.requests[1].Messages
	if m := last[len(last)-1]; m.Role != llm.User || !strings.Contains(m.Content, "exit status 1") {
		t.Errorf("the model is not told why: %+v", m)
	}
}

func TestNewNamesTheField(t *testing.T) {
	for _, field := range []string{"Executor", "Evaluator", "Recorder", "Beam"} {
		cfg := newBench().cfg
		switch field {
		case "Executor":
			cfg.Executor = nil
		case "Evaluator":
			cfg.Evaluator = nil
		case "Recorder":
			cfg.Recorder = nil
		case "Beam":
			cfg.Beam = -1
		}
		if _, err := agent.New(cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
