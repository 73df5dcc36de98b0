package agent_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
)

// recorded is a run with everything in it: two proposals, parallel reads, a failure, a denial, a refused claim.
func recorded(t *testing.T) *bench {
	b := newBench(
		says("a", call("1", "read", `{"n":1}`), call("2", "read", `{"n":2}`)), says("b", call("1", "break", `{}`)),
		says("c", call("3", "write", `{"n":1}`), call("4", "bash", `{}`)), errs(llm.Server),
		says("d", call("5", "break", `{}`)), says("e", call("5", "break", `{}`)),
		says("done"), says("f", call("6", "levitate", `{}`)),
		says("done again"), says("g", call("7", "bash", `{"x":1}`)),
	)
	denyWrite(b)
	b.judge.list = []outcome.Outcome{{Verdict: outcome.Continue, Reason: "not yet"}}
	b.cfg.Proposers = []agent.Proposer{steps(t, "bash", "break")}
	b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s", Proposals: 2})
	return b
}

func TestReplayReachesTheSame(t *testing.T) {
	b := recorded(t)
	b.replays(t)
	if len(find[agent.OutcomeEvaluated](b.log)) < 5 {
		t.Fatalf("the run is too short to be a test: %s", b.log.types())
	}
}

func replay(t *testing.T, events []agent.Event) agent.ReplayReport {
	t.Helper()
	rep, err := agent.Replay(t.Context(), (&memory{events: events}).stored(t))
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestReplayFindsAlterations(t *testing.T) {
	good := recorded(t).log.events
	index := func(typ agent.EventType, n int) int {
		for i, e := range good {
			if e.Type == typ {
				if n--; n < 0 {
					return i
				}
			}
		}
		t.Fatalf("no %s", typ)
		return 0
	}
	alter := func(typ agent.EventType, n int, f func(agent.Data) agent.Data) func() []agent.Event {
		return func() []agent.Event {
			events := slices.Clone(good)
			i := index(typ, n)
			events[i].Data = f(events[i].Data)
			return events
		}
	}
	tests := map[string]func() []agent.Event{
		"score": alter(agent.TypeCandidatesRanked, 2, func(d agent.Data) agent.Data {
			r := d.(agent.CandidatesRanked)
			r.Paths = slices.Clone(r.Paths)
			r.Paths[0].Score.Total += 0.01
			return r
		}),
		"order": alter(agent.TypeCandidatesRanked, 2, func(d agent.Data) agent.Data {
			r := d.(agent.CandidatesRanked)
			r.Paths = slices.Clone(r.Paths)
			slices.Reverse(r.Paths)
			return r
		}),
		"arguments": alter(agent.TypeActionSelected, 3, func(d agent.Data) agent.Data {
			s := d.(agent.ActionSelected)
			s.Arguments = []byte(`{"n":9}`)
			return s
		}),
		"approval": alter(agent.TypeApprovalDecision, 4, func(d agent.Data) agent.Data {
			a := d.(agent.ApprovalDecision)
			a.Decision = action.Allow
			return a
		}),
		"status": alter(agent.TypeObservation, 1, func(d agent.Data) agent.Data {
			o := d.(agent.Observed)
			o.Status = action.OK
			return o
		}),
		"verdict": alter(agent.TypeOutcomeEvaluated, 1, func(d agent.Data) agent.Data {
			o := d.(agent.OutcomeEvaluated)
			o.Verdict = outcome.Achieved
			return o
		}),
		"end": alter(agent.TypeRunFinished, 0, func(d agent.Data) agent.Data {
			f := d.(agent.RunFinished)
			f.Termination = agent.Blocked
			return f
		}),
		"usage": alter(agent.TypeModelCall, 0, func(d agent.Data) agent.Data {
			c := d.(agent.ModelCall)
			c.Usage.Prompt = 1
			return c
		}),
		"strictness": alter(agent.TypeRunStarted, 0, func(d agent.Data) agent.Data {
			s := d.(agent.RunStarted)
			s.Strict = true
			return s
		}),
		"cut": func() []agent.Event { return good[:len(good)-1] },
	}
	tests["arguments, wherever they stand"] = func() []agent.Event {
		events := slices.Clone(good)
		i, j := index(agent.TypeCandidatesRanked, 2), index(agent.TypeActionSelected, 2)
		r := events[i].Data.(agent.CandidatesRanked)
		r.Paths = slices.Clone(r.Paths)
		r.Paths[0].Actions = slices.Clone(r.Paths[0].Actions)
		s := events[j].Data.(agent.ActionSelected)
		if r.Paths[0].Actions[0].Call != s.Call {
			t.Fatalf("%s is not the first action of %+v", s.Call, r.Paths[0])
		}
		r.Paths[0].Actions[0].Arguments, s.Arguments = []byte(`{"n":9}`), []byte(`{"n":9}`)
		events[i].Data, events[j].Data = r, s
		return events
	}
	for name, events := range tests {
		t.Run(name, func(t *testing.T) {
			if rep := replay(t, events()); rep.Same {
				t.Errorf("the alteration was not found: %+v", rep)
			}
		})
	}
	for i, e := range good {
		switch e.Type {
		case agent.TypeCandidatesRanked, agent.TypeActionSelected, agent.TypeApprovalDecision, agent.TypeObservation, agent.TypeOutcomeEvaluated:
			if rep := replay(t, slices.Delete(slices.Clone(good), i, i+1)); rep.Same {
				t.Errorf("event %d (%s) is not missed", i+1, e.Type)
			}
		}
	}
}

func TestReplayOfWhatIsNoRun(t *testing.T) {
	none := func(func(agent.Event, error) bool) {}
	if _, err := agent.Replay(t.Context(), none); !errors.Is(err, agent.ErrNotARun) {
		t.Errorf("got %v", err)
	}
	damaged := errors.New("bad checksum")
	var bad iter.Seq2[agent.Event, error] = func(yield func(agent.Event, error) bool) { yield(agent.Event{}, damaged) }
	if _, err := agent.Replay(t.Context(), bad); !errors.Is(err, damaged) {
		t.Errorf("got %v", err)
	}
}

func TestReplayOfInterruptions(t *testing.T) {
	urgent := func(box *post) {
		box.waiting = []agent.Letter{{ID: "M1", Content: "urgent"}}
		box.interrupt <- struct{}{}
	}
	t.Run("of the model", func(t *testing.T) {
		box := &post{interrupt: make(chan struct{}, 1)}
		b := newBench(says("", call("1", "read", `{}`)), nil, says("done"))
		b.cfg.Mail = box
		b.model.replies[1] = nil
		b.cfg.Model = clientFunc(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if len(b.model.replies) == 2 {
				b.model.replies = b.model.replies[1:]
				urgent(box)
				<-ctx.Done()
				return llm.Response{}, &llm.Error{Class: llm.Cancelled, Err: ctx.Err()}
			}
			return b.model.Complete(ctx, req)
		})
		b.run(t, agent.Goal{Subject: "s"})
		b.want(t, agent.Achieved, "")
	})
	t.Run("of the judge", func(t *testing.T) {
		box := &post{interrupt: make(chan struct{}, 1)}
		b := newBench(says("done"), says("done"))
		b.cfg.Mail = box
		first := true
		b.cfg.Evaluator = judgeFunc(func(ctx context.Context, c outcome.Claim) (outcome.Outcome, error) {
			if first {
				first = false
				urgent(box)
				<-ctx.Done()
				return outcome.Outcome{}, ctx.Err()
			}
			return outcome.Outcome{Verdict: outcome.Achieved}, nil
		})
		b.run(t, agent.Goal{Subject: "s"})
		b.want(t, agent.Achieved, "")
	})
	t.Run("of one of several reads", func(t *testing.T) {
		box := &post{interrupt: make(chan struct{}, 1)}
		b := newBench(says("", call("1", "read", `{}`), call("2", "look", `{}`), call("3", "peek", `{}`)), says("done"))
		b.cfg.Mail = box
		b.hands.read["look"], b.hands.read["peek"] = true, true
		b.hands.deny["peek"] = true
		b.hands.tools["peek"] = ok("x")
		failed := make(chan struct{})
		b.hands.tools["look"] = func(context.Context, action.Action) action.Observation {
			defer close(failed)
			return action.Observation{Status: action.Failed}
		}
		b.hands.tools["read"] = func(ctx context.Context, _ action.Action) action.Observation {
			<-failed
			urgent(box)
			<-ctx.Done()
			return action.Observation{Status: action.OK}
		}
		b.run(t, agent.Goal{Subject: "s"})
		b.want(t, agent.Achieved, "")
	})
	t.Run("between two calls", func(t *testing.T) {
		box := &post{interrupt: make(chan struct{}, 1)}
		b := newBench(says("", call("1", "bash", `{}`), call("2", "write", `{}`)), says("done"))
		b.cfg.Mail = box
		b.hands.tools["bash"] = func(ctx context.Context, _ action.Action) action.Observation {
			urgent(box)
			<-ctx.Done()
			return action.Observation{Status: action.OK, Output: "just in time"}
		}
		b.run(t, agent.Goal{Subject: "s"})
		b.want(t, agent.Achieved, "")
	})
}

type clientFunc func(context.Context, llm.Request) (llm.Response, error)

func (f clientFunc) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	return f(ctx, req)
}

type judgeFunc func(context.Context, outcome.Claim) (outcome.Outcome, error)

func (f judgeFunc) Evaluate(ctx context.Context, c outcome.Claim) (outcome.Outcome, error) {
	return f(ctx, c)
}
