package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// player keeps what one playing of a script changes: uses left, call ids given, holds released. Client and Server
// share it; it is safe for concurrent use.
type player struct {
	script Script

	mu    sync.Mutex
	used  []int
	calls int
	holds map[string]chan struct{}
}

// newPlayer starts a playing with all uses left.
func newPlayer(s Script) *player {
	if s.Model == "" {
		s.Model = "scripted"
	}
	if s.Window == 0 {
		s.Window = 32768
	}
	return &player{script: s, used: make([]int, len(s.Entries)), holds: map[string]chan struct{}{}}
}

// pick uses up the entry that answers req and gives ids to its calls; the error is what no entry is answered with.
func (p *player) pick(req llm.Request) (Entry, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, e := range p.script.Entries {
		if !e.left(p.used[i]) || !e.When.holds(req) {
			continue
		}
		p.used[i]++
		return p.identify(e), nil
	}
	if p.script.Func != nil {
		if e, ok := p.script.Func(req); ok {
			return p.identify(e), e.validate()
		}
	}
	return Entry{}, fmt.Errorf("script: no entry answers the request (%d entries, %s)", len(p.script.Entries), describe(req))
}

// left reports whether an entry that was used so often may answer once more.
func (e Entry) left(used int) bool {
	return e.Times == Always || used < max(e.Times, 1)
}

// identify gives each call without an id the next one, on a copy.
func (p *player) identify(e Entry) Entry {
	if e.Reply == nil {
		return e
	}
	reply := *e.Reply
	reply.Calls = append([]Call(nil), reply.Calls...)
	for i := range reply.Calls {
		if reply.Calls[i].ID == "" {
			p.calls++
			reply.Calls[i].ID = fmt.Sprintf("call_%d", p.calls)
		}
	}
	e.Reply = &reply
	return e
}

// wait honours Hold and Delay; it ends early with the context.
func (p *player) wait(ctx context.Context, e Entry) error {
	if e.Hold != "" {
		select {
		case <-p.hold(e.Hold):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if e.Delay > 0 {
		timer := time.NewTimer(time.Duration(e.Delay))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// hold is closed when the name is released.
func (p *player) hold(name string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holdLocked(name)
}

// holdLocked is hold for a caller that has mu; a name exists from its first mention on, by either side.
func (p *player) holdLocked(name string) chan struct{} {
	ch, ok := p.holds[name]
	if !ok {
		ch = make(chan struct{})
		p.holds[name] = ch
	}
	return ch
}

// release lets all answers with this hold go, present and future.
func (p *player) release(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ch := p.holdLocked(name)
	select {
	case <-ch:
	default:
		close(ch)
	}
}

// remaining counts the uses left of entries that do not answer always.
func (p *player) remaining() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for i, e := range p.script.Entries {
		if e.Times != Always {
			n += max(e.Times, 1) - p.used[i]
		}
	}
	return n
}

// holds reports whether the entry's conditions are met by a request.
func (m Match) holds(req llm.Request) bool {
	if m.Model != "" && m.Model != req.Model {
		return false
	}
	if m.Contains != "" && !strings.Contains(lastUser(req.Messages), m.Contains) {
		return false
	}
	if m.SystemContains != "" && !anyContains(req.Messages, llm.System, m.SystemContains) {
		return false
	}
	if m.ToolResultContains != "" && !anyContains(trailingResults(req.Messages), llm.ToolRole, m.ToolResultContains) {
		return false
	}
	return true
}

// lastUser is the text of the last user message, wherever it stands.
func lastUser(messages []llm.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llm.User {
			return messages[i].Content
		}
	}
	return ""
}

// anyContains reports whether a message of a role holds a text.
func anyContains(messages []llm.Message, role llm.Role, text string) bool {
	for _, m := range messages {
		if m.Role == role && strings.Contains(m.Content, text) {
			return true
		}
	}
	return false
}

// trailingResults is what follows the last assistant message.
func trailingResults(messages []llm.Message) []llm.Message {
	i := len(messages)
	for i > 0 && messages[i-1].Role != llm.Assistant {
		i--
	}
	return messages[i:]
}

// describe tells the author of a script which request was not answered.
func describe(req llm.Request) string {
	return fmt.Sprintf("%d messages, last user message %q", len(req.Messages), clip(lastUser(req.Messages), 120))
}

// clip cuts s to n bytes of whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// usage is what the reply reports for a prompt of so many bytes.
func (r Reply) usage(promptBytes int) llm.Usage {
	if r.Usage != nil {
		return llm.Usage{
			Prompt: r.Usage.Prompt, Completion: r.Usage.Completion, Cached: r.Usage.Cached, Thinking: r.Usage.Thinking,
		}
	}
	answer := len(r.Text) + len(r.Thinking)
	for _, c := range r.Calls {
		answer += len(c.Name) + len(c.Arguments)
	}
	return llm.Usage{Prompt: max(promptBytes/4, 1), Completion: max(answer/4, 1), Estimated: r.NoUsage}
}

// finish is the finish_reason of the reply.
func (r Reply) finish() string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

// text is the arguments as they stand on the wire.
func (c Call) text() string {
	var s string
	if len(c.Arguments) > 0 && c.Arguments[0] == '"' && json.Unmarshal(c.Arguments, &s) == nil {
		return s
	}
	if len(c.Arguments) == 0 {
		return "{}"
	}
	return string(c.Arguments)
}
