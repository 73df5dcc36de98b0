package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
)

// dice is a model, an Executor, an Evaluator and a mailbox that do as they are told by chance.
type dice struct {
	*hands
	r      *rand.Rand
	n      int
	post   *post
	cancel func()
}

var anything = []string{"read", "read", "look", "write", "break", "bash", "levitate", "secret", "idle", "complete_task"}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func (d *dice) reply() (llm.Response, error) {
	switch d.r.IntN(31) {
	case 0:
		return llm.Response{}, &llm.Error{Class: pick(d.r, llm.Empty, llm.Rate, llm.Overflow)}
	case 1:
		d.cancel()
		return llm.Response{}, &llm.Error{Class: llm.Cancelled}
	}
	r := llm.Response{Stop: llm.StopEnd, Usage: llm.Usage{Prompt: 3, Completion: 1}}
	r.Message.Content = pick(d.r, "", "a", "b")
	if d.r.IntN(10) == 0 {
		r.Stop = llm.StopLength
	}
	for range d.r.IntN(5) {
		d.n++
		args := pick(d.r, `{}`, `{"a":1}`, `{"purpose":"p"}`)
		r.Message.Calls = append(r.Message.Calls, call(fmt.Sprint("c", d.n), pick(d.r, anything...), args))
	}
	if r.Message.Empty() {
		r.Message.Content = "c"
	}
	return r, nil
}

func (d *dice) Complete(context.Context, llm.Request) (llm.Response, error) { return d.reply() }

func (d *dice) Admit(ctx context.Context, a action.Action) (action.Admission, error) {
	d.event()
	return d.hands.Admit(ctx, a)
}

// event has something happen from outside, now and then.
func (d *dice) event() {
	switch d.r.IntN(60) {
	case 0:
		d.cancel()
	case 1:
		d.post.waiting = append(d.post.waiting, agent.Letter{ID: "M1", Content: "x"})
	}
}

func (d *dice) Execute(ctx context.Context, a action.Action, adm action.Admission) (action.Observation, error) {
	if !a.ReadOnly { // the dice are not for several goroutines
		d.event()
		if d.r.IntN(20) == 0 {
			d.post.interrupt <- struct{}{}
			<-ctx.Done()
		}
	}
	return d.hands.Execute(ctx, a, adm)
}

func (d *dice) Evaluate(context.Context, outcome.Claim) (outcome.Outcome, error) {
	d.event()
	if d.r.IntN(21) == 0 {
		return outcome.Outcome{}, fmt.Errorf("broken")
	}
	v := pick(d.r, outcome.Continue, outcome.Continue, outcome.Achieved, outcome.Blocked)
	return outcome.Outcome{Verdict: v, Reason: "r"}, nil
}

func (d *dice) Propose(_ context.Context, s agent.State) ([]action.Path, error) {
	if s.Deviated || d.r.IntN(4) > 0 {
		return nil, nil
	}
	return []action.Path{{
		Source: action.FromRecipe, Certain: d.r.IntN(2) == 0, Evidence: 2,
		Actions: []action.Action{{Call: fmt.Sprint("recipe-", s.Position), Tool: pick(d.r, anything...), Arguments: json.RawMessage(`{}`)}},
	}}, nil
}

// TestRandomRunsReplay checks of many runs that they end, keep their conversation in order and are decided the same again.
func TestRandomRunsReplay(t *testing.T) {
	ends := map[agent.Termination]bool{}
	for seed := range uint64(1000) {
		ends[randomRun(t, seed)] = true
	}
	if len(ends) != 7 {
		t.Errorf("only %v were reached", ends)
	}
}

func randomRun(t *testing.T, seed uint64) agent.Termination {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := newBench()
	b.hands.read["look"] = true
	b.hands.tools["look"], b.hands.tools["secret"] = fails("nothing there"), ok("secret")
	b.hands.deny["secret"] = true
	b.hands.risky["bash"] = action.High
	d := &dice{hands: b.hands, r: rand.New(rand.NewPCG(seed, 1)), post: &post{interrupt: make(chan struct{}, 1)}, cancel: cancel}
	b.cfg.Executor, b.cfg.Evaluator, b.cfg.Mail = d, d, d.post
	b.cfg.Proposers = []agent.Proposer{d}
	if d.r.IntN(2) == 0 {
		b.cfg.Proposers = []agent.Proposer{steps(t, pick(d.r, anything...), pick(d.r, anything...))}
	}
	if d.r.IntN(5) > 0 {
		b.cfg.Model = d
	}
	b.cfg.Transcript, _ = agent.NewTranscript(alice, nil)
	loop, err := agent.New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	rep := loop.Run(ctx, agent.Goal{
		Kind: pick(d.r, agent.KindTask, agent.KindRun, agent.KindMail, agent.KindLine), Subject: "s", Text: "go", Strict: d.r.IntN(6) == 0,
		Proposals: 1 + d.r.IntN(3), MaxSteps: 1 + d.r.IntN(9),
	})
	checkConversation(t, b.cfg.Transcript)
	again, err := agent.Replay(t.Context(), b.log.stored(t))
	if err != nil {
		t.Fatal(err)
	}
	if !again.Same || again.Termination != rep.Termination || again.Code != rep.Code || again.Usage != rep.Usage {
		t.Fatalf("seed %d: ended %s %q (%s), again %+v\n%s", seed, rep.Termination, rep.Code, rep.Message, again, b.log.types())
	}
	return rep.Termination
}
