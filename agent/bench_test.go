package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
)

// endless is a model that makes one call after the other and claims after n of them.
type endless struct{ n, at int }

func (e *endless) Complete(context.Context, llm.Request) (llm.Response, error) {
	e.at++
	if e.at > e.n {
		return llm.Response{Message: llm.Message{Content: "done"}}, nil
	}
	return llm.Response{Message: llm.Message{Calls: []llm.ToolCall{
		call(fmt.Sprint("c", e.at), "bash", fmt.Sprintf(`{"command":"go test ./...","n":%d}`, e.at)),
	}}, Usage: llm.Usage{Prompt: 1000, Completion: 50}}, nil
}

// writing is a Recorder that encodes what it is given, as the real log does.
type writing struct{ enc *json.Encoder }

func (w writing) Record(e agent.Event) error { return w.enc.Encode(e) }

func (b *bench) quick() {
	b.hands.tools["bash"] = func(context.Context, action.Action) action.Observation {
		return action.Observation{Status: action.OK, Output: "ok  \tpackage\t0.1s", Wrote: true}
	}
}

// BenchmarkTurn is one turn with events, ranking and transcript, at different lengths of the conversation.
func BenchmarkTurn(b *testing.B) {
	for _, turns := range []int{50, 500} {
		b.Run(fmt.Sprint("of", turns), func(b *testing.B) {
			for range b.N {
				bench := newBench()
				bench.quick()
				bench.cfg.Recorder = writing{json.NewEncoder(io.Discard)}
				bench.cfg.Model = &endless{n: turns - 1}
				loop, err := agent.New(bench.cfg)
				if err != nil {
					b.Fatal(err)
				}
				rep := loop.Run(b.Context(), agent.Goal{Subject: "s", MaxSteps: turns})
				if rep.Termination != agent.Achieved {
					b.Fatalf("%+v", rep)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*turns), "µs/turn")
		})
	}
}

// BenchmarkBareTurn is the reference: ask, run, append, nothing else.
func BenchmarkBareTurn(b *testing.B) {
	const turns = 50
	for range b.N {
		bench := newBench()
		bench.quick()
		model := &endless{n: turns - 1}
		var history []llm.Message
		for range turns {
			reply, err := model.Complete(b.Context(), llm.Request{Messages: history})
			if err != nil {
				b.Fatal(err)
			}
			history = append(history, reply.Message)
			for _, c := range reply.Message.Calls {
				o, err := bench.hands.Execute(b.Context(), action.Action{Tool: c.Name, Arguments: c.Arguments}, action.Admission{Token: 1})
				if err != nil {
					b.Fatal(err)
				}
				history = append(history, llm.Message{Role: llm.ToolRole, CallID: c.ID, Content: o.Output})
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*turns), "µs/turn")
}

// BenchmarkReplay is a run of 500 turns decided anew: from events in memory, and from the lines of its log.
func BenchmarkReplay(b *testing.B) {
	bench := newBench()
	bench.quick()
	bench.cfg.Model = &endless{n: 499}
	loop, err := agent.New(bench.cfg)
	if err != nil {
		b.Fatal(err)
	}
	loop.Run(b.Context(), agent.Goal{Subject: "s", MaxSteps: 500})
	events := bench.log.events
	var lines [][]byte
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			b.Fatal(err)
		}
		lines = append(lines, line)
	}
	play := func(b *testing.B, each func(i int) (agent.Event, error)) {
		for range b.N {
			rep, err := agent.Replay(b.Context(), func(yield func(agent.Event, error) bool) {
				for i := range lines {
					if !yield(each(i)) {
						return
					}
				}
			})
			if err != nil || !rep.Same {
				b.Fatalf("%+v, %v", rep, err)
			}
		}
		b.ReportMetric(float64(b.N*len(lines))/b.Elapsed().Seconds(), "events/s")
	}
	b.Run("decided", func(b *testing.B) { play(b, func(i int) (agent.Event, error) { return events[i], nil }) })
	b.Run("read", func(b *testing.B) { play(b, func(i int) (agent.Event, error) { return agent.DecodeEvent(lines[i]) }) })
}

func BenchmarkSelect(b *testing.B) {
	var paths []action.Path
	for i := range 5 {
		paths = append(paths, action.Path{Source: action.FromModel, Actions: []action.Action{{Tool: "bash", Fingerprint: fmt.Sprint(i), Risk: action.Low}}})
	}
	for b.Loop() {
		action.Select(paths, action.Facts{}, action.Beam)
	}
}

var _ agent.Evaluator = outcome.Evaluator{}
