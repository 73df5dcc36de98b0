// Package llm is the vocabulary in which the agent loop talks to a model: messages, tool calls, usage, and the
// one-method Client that turns a request into a response or a classed error. It does no I/O and knows no vendor; the
// vendors' differences live in agent/provider.
package llm

import "encoding/json"

// Role says who speaks in a message.
type Role string

// The four roles. There is no developer role: system messages are always sent as system.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one entry of a conversation and exactly what a transcript stores: its JSON form is durable, so fields are
// only ever added. A message that was sent once is sent again byte for byte; nothing may edit it afterwards.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content,omitempty"`
	// Calls are the tool calls of an assistant message, in the order the model made them.
	Calls []ToolCall `json:"calls,omitempty"`
	// CallID is set on tool messages alone and names the ToolCall this is the result of.
	CallID string `json:"call_id,omitempty"`
	// Provider wrote an assistant message; "" is unknown. Another provider gets neither its Thinking nor its Extra.
	Provider string `json:"provider,omitempty"`
	// Thinking is what the model thought before it answered. It is never shown to another provider and never run.
	Thinking []Thinking `json:"thinking,omitempty"`
	// Extra holds per-message fields of one provider that must return unchanged (for example extra_content).
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// Empty reports whether the message says nothing: no text and no call. An empty assistant message is never stored.
func (m Message) Empty() bool { return m.Content == "" && len(m.Calls) == 0 }

// Thinking is one piece of a model's reasoning, kept apart from its answer and tagged with the provider that sent it,
// because only that provider may get it back.
type Thinking struct {
	Provider string `json:"provider"`
	// Text is the readable form, possibly empty (encrypted or summarised reasoning).
	Text string `json:"text,omitempty"`
	// Raw is the provider's own JSON, returned byte for byte where the provider asks for it.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// ToolCall is one call the model asks for. A call whose Problem is not empty must not be run: it gets a tool result
// that is marked as an error and says the Problem.
type ToolCall struct {
	// ID is unique in the conversation; the matching tool message repeats it in CallID.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is always a JSON object, also when the model sent something else (then it is {}).
	Arguments json.RawMessage `json:"arguments"`
	// Sent is the object the model sent, set only where Arguments differ from it by a change of type ("3" for 3). It is
	// what the model sees again; Arguments is what runs.
	Sent json.RawMessage `json:"sent,omitempty"`
	// Source is SourceNative for a call the API delivered as one and SourceText for one found in the text.
	Source string `json:"source,omitempty"`
	// Repaired says that name or arguments are not what the model literally sent, so that a policy can ask.
	Repaired bool `json:"repaired,omitempty"`
	// Problem says why the call cannot be run: an unknown tool, arguments that do not parse, an output that was cut.
	Problem string `json:"problem,omitempty"`
	// Extra holds fields of the provider that must return with this very call (Gemini's thought signatures).
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// Where a ToolCall was found.
const (
	SourceNative = ""
	SourceText   = "text"
)

// Tool describes one tool to the model. Schema is a JSON Schema of type object; nil means no parameters.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}
