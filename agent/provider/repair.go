package provider

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider/wire"
)

// What a repaired history says where something is missing.
const (
	noResult = "no result: interrupted"
	noOutput = "(no output)"
)

// Repair makes a history that every server accepts: system messages only at the head and merged into one; each
// assistant turn with calls directly followed by exactly its results, in order; no orphan results, no empty turns; call
// ids unique and at most idLimit bytes (0: any); arguments JSON objects. It is pure and depends, for each message, only
// on what came before and on the results of the turn, so what was sent once is sent again byte for byte. The input is
// not changed.
func Repair(history []llm.Message, idLimit int) []llm.Message {
	r := repairer{ids: wire.NewIDs(nil, idLimit), out: make([]llm.Message, 0, len(history)+4)}
	head := 0
	var system []string
	for head < len(history) && history[head].Role == llm.System {
		if s := history[head].Content; s != "" {
			system = append(system, s)
		}
		head++
	}
	if len(system) > 0 {
		r.out = append(r.out, llm.Message{Role: llm.System, Content: strings.Join(system, "\n\n")})
	}
	history = history[head:]
	for i := 0; i < len(history); {
		next := i + 1
		for next < len(history) && history[next].Role != llm.Assistant {
			next++
		}
		if history[i].Role == llm.Assistant {
			r.turn(history[i], history[i+1:next])
		} else {
			r.others(history[i:next])
		}
		i = next
	}
	return r.out
}

type repairer struct {
	ids *wire.IDs
	out []llm.Message
}

// turn adds an assistant message, its results, and what else came before the next one.
func (r *repairer) turn(m llm.Message, following []llm.Message) {
	calls, at := m.Calls, len(r.out)
	m.Calls = nil
	r.out = append(r.out, m)
	for i, c := range calls {
		if strings.TrimSpace(c.Name) == "" {
			continue
		}
		content := resultOf(following, calls[:i], c.ID)
		c.ID = r.ids.Assign(c.ID)
		c.Name = historyName(c.Name)
		c.Arguments = historyArguments(c)
		c.Sent = nil
		if m.Calls == nil {
			m.Calls = make([]llm.ToolCall, 0, len(calls))
		}
		m.Calls = append(m.Calls, c)
		r.out = append(r.out, llm.Message{Role: llm.ToolRole, CallID: c.ID, Content: content})
	}
	if r.out[at] = m; strings.TrimSpace(m.Content) == "" && len(m.Calls) == 0 {
		r.out = r.out[:at]
	}
	r.others(following)
}

// resultOf is the first result with a call's id, or what stands for one. Of two calls with one id only the first has it.
// A turn has few calls: looking through them costs less than a map for each turn of a long history.
func resultOf(following []llm.Message, before []llm.ToolCall, id string) string {
	for _, c := range before {
		if c.ID == id && strings.TrimSpace(c.Name) != "" {
			return noResult
		}
	}
	for _, f := range following {
		if f.Role == llm.ToolRole && f.CallID == id {
			if f.Content == "" {
				return noOutput
			}
			return f.Content
		}
	}
	return noResult
}

// others adds user messages. A late system message becomes one too, for many chat templates refuse it there; orphan
// results and empty messages are dropped.
func (r *repairer) others(messages []llm.Message) {
	for _, m := range messages {
		if m.Role == llm.ToolRole || m.Content == "" {
			continue
		}
		m.Role = llm.User
		m.Calls, m.CallID = nil, ""
		r.out = append(r.out, m)
	}
}

// historyName makes a tool name that a model invented fit to be sent back: letters, digits, _ and -, at most 64.
func historyName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, strings.TrimSpace(name))
	return name[:min(len(name), 64)]
}

// historyArguments are the arguments as the model sees them again: what it sent if that was an object, else the
// repaired object, else {}. The bytes are the same before and after the message was stored as JSON.
func historyArguments(c llm.ToolCall) json.RawMessage {
	args := c.Arguments
	if len(c.Sent) > 0 {
		args = c.Sent
	}
	if args = bytes.TrimLeft(args, " \t\r\n"); len(args) == 0 || args[0] != '{' {
		return json.RawMessage("{}")
	}
	return plainJSON(args) // {} for what is no JSON
}

// Flatten turns calls and results into text, for requests without tools and for turns that a server would refuse. keep
// decides which assistant turns stay as they are; nil keeps none. The history must be repaired.
func Flatten(history []llm.Message, keep func(llm.Message) bool) []llm.Message {
	var out []llm.Message
	names := map[string]string{}
	for _, m := range history {
		switch {
		case m.Role == llm.Assistant && len(m.Calls) > 0 && (keep == nil || !keep(m)):
			out = append(out, flatTurn(m, names))
		case m.Role == llm.ToolRole && names[m.CallID] != "":
			text := "Result of " + names[m.CallID] + ":\n" + m.Content
			// Results that follow each other become one message, so that roles keep alternating.
			if n := len(out); n > 0 && out[n-1].Role == llm.User && strings.HasPrefix(out[n-1].Content, "Result of ") {
				out[n-1].Content += "\n\n" + text
				continue
			}
			out = append(out, llm.Message{Role: llm.User, Content: text})
		default:
			out = append(out, m)
		}
	}
	return out
}

// flatTurn is a turn as the model could have said it; names remembers which result belongs to which tool.
func flatTurn(m llm.Message, names map[string]string) llm.Message {
	var b strings.Builder
	b.WriteString(m.Content)
	for _, c := range m.Calls {
		names[c.ID] = c.Name
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString("I called " + c.Name + " with " + string(c.Arguments) + ".")
	}
	return llm.Message{Role: llm.Assistant, Content: b.String(), Provider: m.Provider}
}
