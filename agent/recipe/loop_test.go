package recipe_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
	"github.com/autonomy-team/autonomy/agent/recipe"
)

// world is an Executor, Evaluator, Recorder and model in which "bash" works unless broken.
type world struct {
	broken   bool
	requests int
	verified int
	replies  []llm.Message
	ran      []string
}

func (w *world) Assess(a action.Action) action.Action {
	a.Fingerprint, a.Risk = action.Fingerprint(a.Tool, a.Arguments), action.Low
	return a
}

func (w *world) Admit(context.Context, action.Action) (action.Admission, error) {
	return action.Admission{Decision: action.Allow, Token: 1}, nil
}

func (w *world) Execute(_ context.Context, a action.Action, _ action.Admission) (action.Observation, error) {
	w.ran = append(w.ran, string(a.Arguments))
	if w.broken {
		return action.Observation{Status: action.Failed, Output: "broken"}, nil
	}
	return action.Observation{Status: action.OK, Output: "fine", Wrote: true}, nil
}

func (w *world) Record(agent.Event) error { return nil }

func (w *world) Complete(context.Context, llm.Request) (llm.Response, error) {
	w.requests++
	if len(w.replies) == 0 {
		return llm.Response{}, &llm.Error{Class: llm.Empty}
	}
	m := w.replies[0]
	w.replies = w.replies[1:]
	return llm.Response{Message: m, Stop: llm.StopEnd}, nil
}

// work runs the goal once with a model that would take two steps and claim.
func work(t *testing.T, s *shelf, broken bool) (*world, agent.Report) {
	t.Helper()
	return round(t, s, broken, false)
}

// round is work, or a further round of an attempt.
func round(t *testing.T, s *shelf, broken, resumed bool) (*world, agent.Report) {
	t.Helper()
	w := &world{broken: broken}
	for i := range 2 {
		w.replies = append(w.replies, llm.Message{Calls: []llm.ToolCall{
			{ID: fmt.Sprint("c", i), Name: "bash", Arguments: json.RawMessage(fmt.Sprintf(`{"command":"step %d"}`, i))},
		}})
	}
	w.replies = append(w.replies, llm.Message{Content: "done"})
	e := engine(t, s, true)
	loop, err := agent.New(agent.Config{
		Executor: w, Recorder: w, Model: w, Proposers: []agent.Proposer{e}, Learner: e,
		Evaluator: outcome.Evaluator{Verify: func(context.Context) (bool, int, string, error) {
			w.verified++
			return true, 0, "", nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, loop.Run(t.Context(), agent.Goal{Subject: "build", Text: "build", Verify: "make test", Resumed: resumed})
}

func TestThirdRunAsksNoModelAndVerifies(t *testing.T) {
	s := &shelf{}
	for n, requests := range []int{3, 3, 0, 0} {
		w, rep := work(t, s, false)
		if rep.Termination != agent.Achieved || !rep.Verified || w.verified != 1 || len(w.ran) != 2 {
			t.Fatalf("run %d: %+v, verified %d times, ran %v", n+1, rep, w.verified, w.ran)
		}
		if w.requests != requests {
			t.Errorf("run %d made %d requests, want %d", n+1, w.requests, requests)
		}
	}
	list, _ := recipe.Parse(s.data)
	if len(list) != 3 {
		t.Errorf("%d recipes, want 3", len(list))
	}
}

func TestFailedReplayAsksTheModelFromThere(t *testing.T) {
	s := &shelf{}
	work(t, s, false)
	work(t, s, false)
	w, rep := work(t, s, true)
	if w.requests == 0 || rep.Termination != agent.Blocked || rep.Code != agent.CodeFailures {
		t.Errorf("%d requests, %+v", w.requests, rep)
	}
	if len(w.ran) != 3 || w.ran[0] != `{"command":"step 0"}` {
		t.Errorf("ran %v", w.ran)
	}
}

// A further round goes on where the one before it ended: it is not the place to begin the recipe again, and what it does
// is not how the goal is achieved from its beginning.
func TestAFurtherRoundNeitherRepeatsNorTeaches(t *testing.T) {
	s := &shelf{}
	work(t, s, false)
	work(t, s, false)
	before := string(s.data)
	w, rep := round(t, s, false, true)
	if rep.Termination != agent.Achieved || w.requests != 3 {
		t.Errorf("%d requests, %+v", w.requests, rep)
	}
	if string(s.data) != before {
		t.Errorf("the round was counted:\n%s", s.data)
	}
}
