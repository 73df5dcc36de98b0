package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// memory is a Recorder that keeps what it is given; it fails from the failAt-th event on, if that is set.
type memory struct {
	events []agent.Event
	failAt int
}

func (m *memory) Record(e agent.Event) error {
	if m.failAt > 0 && len(m.events)+1 >= m.failAt {
		return fmt.Errorf("disk full")
	}
	m.events = append(m.events, e)
	return nil
}

// types are the types of the events in order, without those of the classes given.
func (m *memory) types(without ...agent.EventType) string {
	var out []string
next:
	for _, e := range m.events {
		for _, w := range without {
			if e.Type == w {
				continue next
			}
		}
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

func find[T agent.Data](m *memory) (found []T) {
	for _, e := range m.events {
		if d, ok := e.Data.(T); ok {
			found = append(found, d)
		}
	}
	return found
}

// hands is an Executor: tools by name, each a function of its arguments.
type hands struct {
	mu    sync.Mutex
	tools map[string]toolFunc
	deny  map[string]bool
	risky map[string]action.Risk
	read  map[string]bool
	stops string   // the tool at whose question the member is stopped
	calls []string // tools that were executed, in order
}

type toolFunc func(ctx context.Context, a action.Action) action.Observation

func (h *hands) Assess(a action.Action) action.Action {
	a.Fingerprint = action.Fingerprint(a.Tool, a.Arguments)
	a.Risk = action.Low
	if r, ok := h.risky[a.Tool]; ok {
		a.Risk = r
	}
	a.ReadOnly = h.read[a.Tool]
	a.SideEffects = !a.ReadOnly
	_, known := h.tools[a.Tool]
	a.Unavailable = !known
	return a
}

func (h *hands) Admit(ctx context.Context, a action.Action) (action.Admission, error) {
	if err := ctx.Err(); err != nil {
		return action.Admission{}, err
	}
	if h.stops == a.Tool {
		return action.Admission{}, fmt.Errorf("wait for an answer: %w", agent.ErrStopped)
	}
	if h.deny[a.Tool] {
		return action.Admission{Decision: action.Deny, Reason: "policy says no", By: "policy"}, nil
	}
	return action.Admission{Decision: action.Allow, By: "policy", Token: 1}, nil
}

func (h *hands) Execute(ctx context.Context, a action.Action, adm action.Admission) (action.Observation, error) {
	if adm.Token == nil {
		return action.Observation{}, fmt.Errorf("no token")
	}
	h.mu.Lock()
	h.calls = append(h.calls, a.Tool)
	h.mu.Unlock()
	o := h.tools[a.Tool](ctx, a)
	if err := ctx.Err(); err != nil {
		return o, err
	}
	return o, nil
}

func ok(output string) toolFunc {
	return func(context.Context, action.Action) action.Observation {
		zero := 0
		return action.Observation{Status: action.OK, Output: output, Exit: &zero}
	}
}

func wrote(output string) toolFunc {
	return func(context.Context, action.Action) action.Observation {
		return action.Observation{Status: action.OK, Output: output, Wrote: true}
	}
}

func fails(output string) toolFunc {
	return func(context.Context, action.Action) action.Observation {
		one := 1
		return action.Observation{Status: action.Failed, Output: output, Exit: &one}
	}
}

// ends is a tool that ends the turn.
func ends(output string) toolFunc {
	return func(context.Context, action.Action) action.Observation {
		return action.Observation{Status: action.OK, Output: output, EndTurn: true}
	}
}

// script is a model that gives its replies one after the other and then stays silent.
type script struct {
	mu       sync.Mutex
	replies  []func(llm.Request) (llm.Response, error)
	requests []llm.Request
}

func (s *script) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return llm.Response{}, &llm.Error{Class: llm.Cancelled, Err: err}
	}
	s.requests = append(s.requests, req)
	if len(s.replies) == 0 {
		return llm.Response{}, &llm.Error{Class: llm.Empty, Message: "nothing left to say"}
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	return reply(req)
}

type replyFunc = func(llm.Request) (llm.Response, error)

func says(text string, calls ...llm.ToolCall) replyFunc {
	return func(llm.Request) (llm.Response, error) {
		return llm.Response{
			Message: llm.Message{Role: llm.Assistant, Content: text, Calls: calls}, Stop: llm.StopEnd,
			Usage: llm.Usage{Prompt: 100, Completion: 10},
		}, nil
	}
}

func cut(text string, calls ...llm.ToolCall) replyFunc {
	return func(req llm.Request) (llm.Response, error) {
		r, err := says(text, calls...)(req)
		r.Stop = llm.StopLength
		return r, err
	}
}

func errs(class llm.Class) replyFunc {
	return func(llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Class: class, Message: "as scripted"}
	}
}

func call(id, tool, args string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: tool, Arguments: json.RawMessage(args)}
}

// verdicts is an Evaluator that gives its outcomes in order and then accepts.
type verdicts struct {
	list   []outcome.Outcome
	claims []outcome.Claim
}

func (v *verdicts) Evaluate(_ context.Context, c outcome.Claim) (outcome.Outcome, error) {
	v.claims = append(v.claims, c)
	if len(v.list) == 0 {
		return outcome.Outcome{Verdict: outcome.Achieved, Verified: true, By: outcome.ByVerify}, nil
	}
	o := v.list[0]
	v.list = v.list[1:]
	return o, nil
}

// bench is a Loop with everything fake.
type bench struct {
	hands  *hands
	log    *memory
	model  *script
	judge  *verdicts
	cfg    agent.Config
	report agent.Report
}

func newBench(replies ...replyFunc) *bench {
	b := &bench{
		hands: &hands{tools: map[string]toolFunc{
			"read": ok("text"), "write": wrote("written"), "break": fails("boom"), "bash": ok("fine"),
			"complete_task": ends("claimed"), "idle": ends("idle"),
		}, deny: map[string]bool{}, risky: map[string]action.Risk{}, read: map[string]bool{"read": true}},
		log: &memory{}, judge: &verdicts{},
	}
	b.cfg = agent.Config{Run: "01RUN", Actor: "alice", Executor: b.hands, Evaluator: b.judge, Recorder: b.log}
	if replies != nil {
		b.model = &script{replies: replies}
		b.cfg.Model = b.model
	}
	return b
}

func (b *bench) run(t *testing.T, g agent.Goal) agent.Report {
	t.Helper()
	loop, err := agent.New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.report = loop.Run(t.Context(), g)
	return b.report
}

func (b *bench) want(t *testing.T, end agent.Termination, code agent.Code) {
	t.Helper()
	if b.report.Termination != end || b.report.Code != code {
		t.Fatalf("ended %s %q (%s), want %s %q", b.report.Termination, b.report.Code, b.report.Message, end, code)
	}
	b.replays(t)
}

// stored is the log as it comes back from the disk.
func (m *memory) stored(t testing.TB) iter.Seq2[agent.Event, error] {
	t.Helper()
	return func(yield func(agent.Event, error) bool) {
		for _, e := range m.events {
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(agent.DecodeEvent(line)) {
				return
			}
		}
	}
}

// replays checks that the run, decided anew from its log, goes the same way.
func (b *bench) replays(t *testing.T) {
	t.Helper()
	rep, err := agent.Replay(t.Context(), b.log.stored(t))
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	if b.log.failAt > 0 {
		if rep.Same || rep.Divergence == "" {
			t.Errorf("a log without an end was replayed: %+v", rep)
		}
		return
	}
	if !rep.Same || rep.Termination != b.report.Termination || rep.Usage != b.report.Usage {
		t.Errorf("the replay differs: %+v", rep)
	}
}
