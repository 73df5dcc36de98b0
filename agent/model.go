package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
)

// expectedReply is how many tokens of an answer a reservation allows for.
const expectedReply = 1024

// model asks the real model for the next turn.
type model struct {
	run *run
}

// ask sends the conversation and returns the replies as paths, one for each proposal wanted.
func (m *model) ask(ctx context.Context) ([]action.Path, []llm.Response, error) {
	replies, err := m.replies(ctx)
	paths := make([]action.Path, len(replies))
	for i, reply := range replies {
		paths[i] = m.run.pathOf(reply, i)
	}
	return paths, replies, err
}

// replies asks as often as there are proposals wanted. A later one that fails costs only itself. A prompt that does
// not fit is compacted and sent once more.
func (m *model) replies(ctx context.Context) ([]llm.Response, error) {
	r := m.run
	client := &meter{run: r, client: r.Model}
	if err := r.compact(ctx, client, false); err != nil {
		return nil, err
	}
	var replies []llm.Response
	for range r.goal.Proposals {
		reply, err := m.once(ctx, client)
		if llm.ClassOf(err) == llm.Overflow && len(replies) == 0 && r.Compactor != nil {
			if err := r.compact(ctx, client, true); err != nil {
				return nil, err
			}
			reply, err = m.once(ctx, client)
		}
		if err != nil {
			if len(replies) > 0 && context.Cause(ctx) == nil && llm.ClassOf(err) != "" {
				break
			}
			return nil, err
		}
		replies = append(replies, reply)
	}
	return replies, nil
}

func (m *model) once(ctx context.Context, client llm.Client) (llm.Response, error) {
	r := m.run
	reply, err := client.Complete(ctx, llm.Request{
		Messages: r.Transcript.Messages(), Tools: r.Transcript.Tools(), Purpose: llm.PurposeTurn, OnDelta: r.OnDelta,
	})
	if err == nil {
		r.usage, r.sized = reply.Usage.Prompt, r.Transcript.Bytes()
	}
	return reply, err
}

// compact lets the compactor shorten the conversation between turns. That it fails costs nothing but room.
func (r *run) compact(ctx context.Context, client llm.Client, force bool) error {
	if r.Compactor == nil {
		return nil
	}
	before := len(r.Transcript.Messages())
	changed, err := r.Compactor.Compact(ctx, r.Transcript, client, force)
	if err != nil {
		if context.Cause(ctx) != nil {
			return err
		}
		return r.fault(FaultCompactor, err)
	}
	if !changed {
		return nil
	}
	r.usage = 0
	if err := r.emit(Compacted{Forced: force, Before: before, After: len(r.Transcript.Messages())}); err != nil {
		return err
	}
	if id := r.Transcript.Identity(); id != nil {
		return r.emit(IdentityInjected(*id))
	}
	return nil
}

// judgeModel is the model for whoever judges a claim, nil if there is none. What it costs is the run's.
func (r *run) judgeModel() llm.Client {
	if r.Model == nil {
		return nil
	}
	return &meter{run: r, client: r.Model}
}

// meter is a client whose requests are reserved, settled and recorded. It is used on the run's goroutine alone.
type meter struct {
	run    *run
	client llm.Client
}

// Complete sends one request. A *BudgetError says that it may not be sent.
func (m *meter) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	r := m.run
	settle, err := m.reserve(req)
	if err != nil {
		return llm.Response{}, err
	}
	if req.Purpose == "" {
		req.Purpose = llm.PurposeTurn
	}
	var lost error
	req.OnTry = func(t llm.Try) {
		lost = errors.Join(lost, r.emit(ModelCall{
			Purpose: req.Purpose, Provider: t.Provider, Model: t.Model, Try: t.N, Class: t.Class, Status: t.Status,
			Message: t.Message, WaitMS: t.Wait.Milliseconds(), Changed: t.Changed,
		}))
	}
	resp, err := m.client.Complete(ctx, req)
	settle(resp.Usage)
	if lost != nil {
		return resp, lost
	}
	if err != nil {
		return resp, errors.Join(r.emit(failedCall(req.Purpose, err)), err)
	}
	r.report.Usage = r.report.Usage.Add(resp.Usage)
	return resp, r.emit(ModelCall{
		Purpose: req.Purpose, Provider: resp.Provider, Model: resp.Model, Stop: resp.Stop, Usage: resp.Usage,
		LatencyMS: resp.Latency.Milliseconds(), Try: resp.Tries, Final: true, RequestID: resp.RequestID, Warnings: resp.Warnings,
	})
}

func (m *meter) reserve(req llm.Request) (func(llm.Usage), error) {
	r := m.run
	settle, err := r.Budget.Reserve(m.estimate(req) + expectedReply)
	if err == nil {
		return settle, nil
	}
	var refused *BudgetError
	if errors.As(err, &refused) {
		return nil, errors.Join(r.emit(BudgetRefused{refused.Scope, refused.Kind, refused.Limit, refused.Used}), err)
	}
	return nil, fmt.Errorf("reserve tokens: %w", err)
}

// estimate is how many prompt tokens a request will take. A turn's grows from the last one's by what was added, so
// that nobody has to count the whole history each time.
func (m *meter) estimate(req llm.Request) int {
	const bytesPerToken = 3
	if req.Purpose == llm.PurposeTurn && m.run.usage > 0 {
		return m.run.usage + (m.run.Transcript.Bytes()-m.run.sized)/bytesPerToken
	}
	n := 0
	for _, msg := range req.Messages {
		n += len(msg.Content)
	}
	for _, t := range req.Tools {
		n += len(t.Schema) + len(t.Description)
	}
	return n / bytesPerToken
}

func failedCall(purpose string, err error) ModelCall {
	c := ModelCall{Purpose: purpose, Final: true, Class: llm.Transport, Message: err.Error()}
	var e *llm.Error
	if errors.As(err, &e) {
		c.Provider, c.Model, c.Class, c.Status, c.Try = e.Provider, e.Model, e.Class, e.Status, e.Tries
		c.RetryAfterMS = e.RetryAfter.Milliseconds()
	}
	return c
}
