package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
)

// checkEndings runs each and looks at its log, its replay and its conversation.
func checkEndings(t *testing.T, tests []endCase) {
	t.Helper()
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(tc.replies...)
			if tc.setup != nil {
				tc.setup(b)
			}
			rep := b.run(t, tc.goal)
			b.want(t, tc.end, tc.code)
			if rep.Turns != tc.turns {
				t.Errorf("%d model turns, want %d", rep.Turns, tc.turns)
			}
			if b.log.failAt == 0 {
				if last := b.log.events[len(b.log.events)-1]; last.Type != agent.TypeRunFinished {
					t.Errorf("the log ends with %s", last.Type)
				}
			}
			checkConversation(t, b.cfg.Transcript)
		})
	}
}

// What counts only in a row begins anew after something that ran well.
func TestStreaksAndStrictness(t *testing.T) {
	run := agent.Goal{Kind: agent.KindRun, Subject: "s", Text: "do s"}
	strict := agent.Goal{Kind: agent.KindRun, Subject: "s", Strict: true}
	checkEndings(t, []endCase{
		{"strict: a failure beside a success", strict, []replyFunc{says("", call("1", "peek", `{}`), call("2", "read", `{}`)), says("done")}, func(b *bench) {
			b.hands.tools["peek"], b.hands.read["peek"] = fails("boom"), true
		}, agent.Blocked, agent.CodeFailures, 1},
		{"strict: a failure beside the claim", agent.Goal{Kind: agent.KindTask, Subject: "s", Strict: true}, []replyFunc{says("", call("1", "peek", `{}`), call("2", "complete_task", `{}`))}, func(b *bench) {
			b.hands.tools["peek"], b.hands.read["peek"] = fails("boom"), true
		}, agent.Blocked, agent.CodeFailures, 1},
		{"failures with a success in between", run, []replyFunc{
			says("", call("1", "break", `{"n":1}`)), says("", call("2", "break", `{"n":2}`)), says("", call("3", "read", `{}`)),
			says("", call("4", "break", `{"n":3}`)), says("", call("5", "break", `{"n":4}`)), says("done"),
		}, nil, agent.Achieved, "", 6},
		{"denials with a success in between", run, []replyFunc{
			says("", call("1", "write", `{"n":1}`)), says("", call("2", "write", `{"n":2}`)), says("", call("3", "read", `{}`)),
			says("", call("4", "write", `{"n":3}`)), says("", call("5", "write", `{"n":4}`)), says("done"),
		}, denyWrite, agent.Achieved, "", 6},
		{"a denial between unknown tools", run, []replyFunc{
			says("", call("1", "levitate", `{}`)), says("", call("2", "write", `{}`)), says("", call("3", "levitate", `{}`)), says("done"),
		}, denyWrite, agent.Achieved, "", 4},
		{"unknown tools with a success in between", run, []replyFunc{
			says("", call("1", "levitate", `{}`)), says("", call("2", "levitate", `{}`)), says("", call("3", "read", `{}`)),
			says("", call("4", "levitate", `{}`)), says("", call("5", "levitate", `{}`)), says("done"),
		}, nil, agent.Achieved, "", 6},
		{"a write that failed is no progress", run, []replyFunc{nil}, func(b *bench) {
			b.cfg.Model = clientFunc(func(context.Context, llm.Request) (llm.Response, error) {
				return says("", call("1", "read", `{}`), call("2", "patch", `{}`))(llm.Request{})
			})
			b.hands.tools["patch"] = func(context.Context, action.Action) action.Observation {
				return action.Observation{Status: action.Failed, Wrote: true}
			}
		}, agent.Blocked, agent.CodeRepeat, 5},
	})
}

func TestNoWritingCallAfterADeniedOne(t *testing.T) {
	b := newBench(says("", call("1", "write", `{}`), call("2", "bash", `{}`), call("3", "read", `{}`)), says("done"))
	denyWrite(b)
	b.run(t, agent.Goal{Subject: "s"})
	b.want(t, agent.Achieved, "")
	if got := strings.Join(b.hands.calls, " "); got != "read" {
		t.Errorf("executed %s", got)
	}
}

func TestNothingRunsAfterTheTurnHasEnded(t *testing.T) {
	for _, end := range []string{"complete_task", "idle"} {
		b := newBench(says("", call("1", end, `{}`), call("2", "write", `{}`), call("3", "read", `{}`)))
		b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s"})
		if got := strings.Join(b.hands.calls, " "); got != end {
			t.Errorf("executed %s", got)
		}
		if o := find[agent.Observed](b.log); len(o) != 3 || o[1].Status != action.NotRun || o[2].Status != action.NotRun {
			t.Errorf("observed %+v", o)
		}
		b.replays(t)
	}
}

// pupil is a Learner that keeps what it is given.
type pupil struct{ done []agent.Done }

func (p *pupil) Achieved(_ string, done []agent.Done) ([]agent.RecipeLearned, error) {
	p.done = append(p.done, done...)
	return nil, nil
}

// secretive is an Executor to which arguments with "key" hold a secret.
type secretive struct{ *hands }

func (s secretive) Assess(a action.Action) action.Action {
	a = s.hands.Assess(a)
	a.Redacted = strings.Contains(string(a.Arguments), "key")
	return a
}

func TestOnlyWhatMayBeRepeatedIsTaught(t *testing.T) {
	b := newBench(says("", call("1", "write", `{"a":1}`)), says("", call("2", "write", `{"key":1}`)), says("", call("3", "break", `{}`)),
		says("", call("4", "bash", `{}`)), says("", call("5", "complete_task", `{"summary":"s"}`)))
	p := &pupil{}
	b.cfg.Executor, b.cfg.Learner = secretive{b.hands}, p
	b.cfg.Proposers = []agent.Proposer{steps(t, "bash", "break")}
	b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s"})
	b.want(t, agent.Achieved, "")
	got := ""
	for _, d := range p.done {
		got += fmt.Sprintf("%d %s %s; ", d.Position, d.Action.Tool, d.Action.Arguments)
	}
	// A step of the runbook, the secret one and the failed one are left out, and still have their places.
	if want := `1 write {"a":1}; 3 bash {}; 4 complete_task ; `; got != want {
		t.Errorf("taught %s, want %s", got, want)
	}
}

func TestStrictRunStopsAtItsFirstFailure(t *testing.T) {
	b := newBench(says("", call("1", "break", `{}`), call("2", "read", `{}`), call("3", "write", `{}`)))
	b.run(t, agent.Goal{Subject: "s", Strict: true})
	b.want(t, agent.Blocked, agent.CodeFailures)
	if got := strings.Join(b.hands.calls, " "); got != "break" {
		t.Errorf("executed %s", got)
	}
}
