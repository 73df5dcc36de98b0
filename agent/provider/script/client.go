package script

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// Client plays a script in process. It is an llm.Client and an llm.Sizer, safe for concurrent use, and does no I/O, so
// it may be used inside a testing/synctest bubble.
type Client struct {
	player *player

	mu       sync.Mutex
	requests []llm.Request
}

// NewClient plays s. A script that cannot be played is found when its entry is reached.
func NewClient(s Script) *Client { return &Client{player: newPlayer(s)} }

// Release lets the answers held under name go.
func (c *Client) Release(name string) { c.player.release(name) }

// Remaining is how many uses are left of the entries that do not answer always.
func (c *Client) Remaining() int { return c.player.remaining() }

// Requests are the requests so far, in order of arrival. Message slices are copies.
func (c *Client) Requests() []llm.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]llm.Request(nil), c.requests...)
}

// Count is the number of requests so far.
func (c *Client) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.requests)
}

// Window is the script's window.
func (c *Client) Window() int { return c.player.script.Window }

// Estimate counts a quarter of the bytes of the messages.
func (c *Client) Estimate(req llm.Request) int { return size(req) / 4 }

// Complete answers by the script. Text arrives in OnDelta as one delta.
func (c *Client) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	kept := req
	kept.Messages = append([]llm.Message(nil), req.Messages...)
	c.mu.Lock()
	c.requests = append(c.requests, kept)
	c.mu.Unlock()

	if err := ctx.Err(); err != nil {
		return llm.Response{}, c.cancelled(err)
	}
	entry, err := c.player.pick(req)
	if err != nil {
		return llm.Response{}, c.fail(llm.Server, 500, err.Error())
	}
	start := time.Now()
	if err := c.player.wait(ctx, entry); err != nil {
		return llm.Response{}, c.cancelled(err)
	}
	if entry.Error != nil {
		return llm.Response{}, c.failure(*entry.Error)
	}
	return c.respond(req, *entry.Reply, time.Since(start))
}

// respond delivers a reply the way the real adapter would: cut, filtered and empty ones are errors.
func (c *Client) respond(req llm.Request, r Reply, latency time.Duration) (llm.Response, error) {
	if r.Thinking != "" && req.OnDelta != nil {
		req.OnDelta(llm.Delta{Kind: llm.DeltaThinking, Text: r.Thinking})
	}
	if r.Text != "" && req.OnDelta != nil {
		req.OnDelta(llm.Delta{Kind: llm.DeltaText, Text: r.Text})
	}
	switch {
	case r.Cut:
		return llm.Response{}, c.fail(llm.Cut, 0, "the answer ended before it was complete")
	case r.finish() == "content_filter":
		return llm.Response{}, c.fail(llm.Content, 0, "content_filter")
	case r.Text == "" && len(r.Calls) == 0:
		return llm.Response{}, c.fail(llm.Empty, 0, "neither text nor call")
	}
	msg := llm.Message{Role: llm.Assistant, Content: r.Text, Provider: "script"}
	if r.Thinking != "" {
		msg.Thinking = []llm.Thinking{{Provider: "script", Text: r.Thinking}}
	}
	stop := llm.StopEnd
	if r.finish() == "length" {
		stop = llm.StopLength
	} else if len(r.Calls) > 0 {
		stop = llm.StopCalls
	}
	for _, call := range r.Calls {
		msg.Calls = append(msg.Calls, toolCall(call, req.Tools, stop))
	}
	return llm.Response{
		Message: msg, Stop: stop, Usage: r.usage(size(req)), Provider: "script", Model: c.player.script.Model,
		Latency: latency, Tries: 1, Window: c.player.script.Window,
	}, nil
}

// toolCall turns a scripted call into what the adapter would deliver for it.
func toolCall(c Call, tools []llm.Tool, stop llm.StopReason) llm.ToolCall {
	out := llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: json.RawMessage(c.text())}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(out.Arguments, &object); err != nil {
		out.Arguments = json.RawMessage("{}")
		out.Problem = fmt.Sprintf("arguments are not a JSON object: %v", err)
	}
	if !known(c.Name, tools) {
		out.Problem = fmt.Sprintf("unknown tool %q", c.Name)
	}
	if stop == llm.StopLength {
		out.Problem = "output was cut; send smaller calls"
	}
	return out
}

// known reports whether a tool was offered; a request without tools leaves the question open.
func known(name string, tools []llm.Tool) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return len(tools) == 0
}

// size is the number of bytes of the messages, from which usage is estimated.
func size(req llm.Request) int {
	n := 0
	for _, m := range req.Messages {
		n += len(m.Content)
		for _, call := range m.Calls {
			n += len(call.Name) + len(call.Arguments)
		}
	}
	return n
}

// fail is an error of this client.
func (c *Client) fail(class llm.Class, status int, message string) *llm.Error {
	return &llm.Error{
		Class: class, Status: status, Provider: "script", Model: c.player.script.Model, Message: message, Tries: 1,
	}
}

// cancelled is the error for a caller that gave up.
func (c *Client) cancelled(err error) *llm.Error {
	e := c.fail(llm.Cancelled, 0, err.Error())
	e.Err = err
	return e
}

// failure turns a scripted failure into the error that the real adapter would make of it.
func (c *Client) failure(f Failure) *llm.Error {
	class := f.Class
	switch {
	case class != "":
	case f.Drop:
		class = llm.Transport
	default:
		class = classOfStatus(f.status())
	}
	e := c.fail(class, f.status(), f.Message)
	if d, err := time.ParseDuration(f.Headers["Retry-After"] + "s"); err == nil {
		e.RetryAfter = d
	}
	return e
}

// status is the HTTP status with its default.
func (f Failure) status() int {
	if f.Status == 0 {
		return 500
	}
	return f.Status
}

// classOfStatus is the class when the script names none. It knows statuses only; the real classification reads bodies.
func classOfStatus(status int) llm.Class {
	switch {
	case status == 401 || status == 403:
		return llm.Auth
	case status == 402:
		return llm.Quota
	case status == 404:
		return llm.NoModel
	case status == 413:
		return llm.Overflow
	case status == 429:
		return llm.Rate
	case status >= 400 && status < 500:
		return llm.Param
	default:
		return llm.Server
	}
}
