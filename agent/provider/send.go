package provider

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider/wire"
)

// longPrompt is from how many estimated tokens on a small usage is taken as a sign that the server cut the prompt.
const longPrompt = 3000

// send makes one request and reads its stream to the end.
func (a *attempt) send(ctx context.Context, p plan) (llm.Response, *llm.Error) {
	start := time.Now()
	stream, err := a.link.openai.CreateChatCompletionStream(wire.With(ctx, p.exchange), p.request)
	if err != nil {
		return llm.Response{}, a.link.failure(ctx, err)
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return llm.Response{}, a.link.failure(ctx, err)
		}
		if len(chunk.Choices) > 0 { // the usage chunk has none
			a.show(llm.DeltaThinking, chunk.Choices[0].Delta.ReasoningContent)
			a.show(llm.DeltaText, chunk.Choices[0].Delta.Content)
		}
	}
	return a.respond(p, time.Since(start))
}

// failure finds the classed error in what the client library returns. Anything else is a disagreement between the two.
func (l *link) failure(ctx context.Context, err error) *llm.Error {
	var known *llm.Error
	if errors.As(err, &known) {
		return known
	}
	if ctx.Err() != nil {
		return l.cancelled(ctx.Err(), 0)
	}
	return &llm.Error{
		Class: llm.Protocol, Provider: l.endpoint.Provider.ID, Model: l.endpoint.Model, Err: err,
		Message: wire.Redact(err.Error(), l.endpoint.secrets()),
	}
}

// respond joins the answer from the exchange.
func (a *attempt) respond(p plan, latency time.Duration) (llm.Response, *llm.Error) {
	r := &p.exchange.Result
	e := a.link.endpoint
	if strings.TrimSpace(r.Text) == "" && len(r.Calls) == 0 {
		err := &llm.Error{Class: llm.Empty, Provider: e.Provider.ID, Model: e.Model, Message: "neither text nor call"}
		if r.Finish == llm.StopLength {
			err.Final = true
			err.Hint = "the window or the thinking budget was used up before the answer began"
		}
		return llm.Response{}, err
	}
	if r.Restated {
		if a.shown {
			a.req.OnDelta(llm.Delta{Kind: llm.DeltaRestart})
		}
		a.show(llm.DeltaText, r.Text)
	}
	resp := llm.Response{
		Message: llm.Message{
			Role: llm.Assistant, Content: r.Text, Calls: r.Calls, Thinking: r.Thinking, Extra: r.Extra, Provider: e.Provider.ID,
		},
		Stop: r.Finish, Provider: e.Provider.ID, Model: e.Model, Latency: latency, Notes: r.Notes,
		Warnings: append([]string(nil), e.Warnings...), RequestID: r.RequestID,
	}
	a.account(p, &resp)
	return resp, nil
}

// account fills in usage, cost and window, and learns from them.
func (a *attempt) account(p plan, resp *llm.Response) {
	l, models := a.link, &a.link.lane.models
	expected := int(float64(p.estimate) * models.factor(l.endpoint.Model))
	u := p.exchange.Result.Usage
	if p.exchange.Result.UsageSeen {
		if warning := l.cutPrompt(expected, u.Prompt); warning != "" {
			resp.Warnings = append(resp.Warnings, warning)
		} else if u.Prompt*2 >= expected || expected < longPrompt {
			models.calibrate(l.endpoint.Model, p.estimate, u.Prompt)
		}
	} else {
		u = llm.Usage{Prompt: expected, Completion: Tokens(resp.Message.Content), Estimated: true}
		for _, c := range resp.Message.Calls {
			u.Completion += Tokens(c.Name) + Tokens(string(c.Arguments))
		}
	}
	resp.Usage = a.client.prices.cost(l.endpoint, l.endpoint.Model, u)
	models.settle(l.endpoint.Model)
	resp.Window = l.capped(models.knownWindow(l.endpoint.Model))
}

// cutPrompt warns once when usage shows that the server cut the prompt in silence, and lowers the window.
func (l *link) cutPrompt(expected, seen int) string {
	models := &l.lane.models
	window := models.knownWindow(l.endpoint.Model)
	short := expected >= longPrompt && seen*2 < expected
	above := window > 0 && seen > window
	if !short && !above {
		return ""
	}
	if short {
		models.narrow(l.endpoint.Model, seen)
	}
	if !models.warnOnce(l.endpoint.Model) {
		return ""
	}
	remedy := "use a model or server with a larger window"
	if l.endpoint.Provider.ID == "ollama" {
		remedy = "raise OLLAMA_CONTEXT_LENGTH, or num_ctx in the Modelfile"
	}
	return "the server seems to cut the prompt in silence; " + remedy
}
