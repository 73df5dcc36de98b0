// Package provider speaks to nine model providers and to any other OpenAI-compatible server. What differs between them
// is data (the table and its Quirks); what holds everywhere is the client: it repairs the history, retries by class,
// shares one limiter per key, falls back, and keeps count of tokens and money. agent/provider/wire reads the bytes.
package provider

import (
	"encoding/json"
	"maps"
	"path"
	"strings"
)

// Quirks are a server's deviations from what its API claims to be. The zero value is the most careful request.
type Quirks struct {
	// LimitField is the name of the completion limit: "max_tokens" (default) or "max_completion_tokens".
	LimitField string
	Sampling   Sampling
	// Temperature is sent with SamplingSend when the request has none.
	Temperature float64
	// ToolChoice sends tool_choice "auto" with tools. A forced choice is never sent: thinking models refuse it.
	ToolChoice bool
	// Parallel sends parallel_tool_calls true with tools.
	Parallel bool
	Thinking Switch
	// Effort replaces the thinking wish of every request.
	Effort string
	Echo   Echo
	// EchoRequired says that turns with calls are refused when their thinking does not come back, so turns of another
	// provider are sent as text.
	EchoRequired bool
	// TextCalls accepts calls that a model writes as text.
	TextCalls bool
	// StreamOptions asks for the usage chunk.
	StreamOptions bool
	// IDLimit is the longest call id, in bytes; 0 means any.
	IDLimit int
	// ToolFields are fields that are sent whenever tools are.
	ToolFields map[string]json.RawMessage
	// Refused says why the model cannot be used; "" means it can.
	Refused string
}

// Sampling says whether temperature is sent.
type Sampling string

// The kinds of Sampling: by default nothing is sent.
const (
	SamplingOmit   Sampling = ""
	SamplingSend   Sampling = "send"   // always, 0 too
	SamplingWished Sampling = "wished" // only when the request has one
)

// Switch says how the thinking wish is written.
type Switch string

// The kinds of Switch: by default the wish is not sent.
const (
	SwitchNone      Switch = ""
	SwitchEffort    Switch = "effort"    // reasoning_effort
	SwitchTemplate  Switch = "template"  // chat_template_kwargs{thinking, enable_thinking}
	SwitchReasoning Switch = "reasoning" // reasoning{effort}
	SwitchDeepSeek  Switch = "deepseek"  // thinking{type} and reasoning_effort low, high, max
	SwitchZai       Switch = "zai"       // thinking{type, clear_thinking}
	SwitchKimi      Switch = "kimi"      // thinking{type} or reasoning_effort, never both
	SwitchAlibaba   Switch = "alibaba"   // enable_thinking, thinking_budget
)

// Echo says which thinking goes back in the history.
type Echo string

// The kinds of Echo: by default none goes back.
const (
	EchoNone    Echo = ""
	EchoCalls   Echo = "calls"   // reasoning_content of turns with calls
	EchoDetails Echo = "details" // reasoning_details as received
)

// Override changes the quirks of the models that a pattern of path.Match fits, in lower case.
type Override struct {
	Model  string
	Change func(*Quirks)
}

// QuirksFor are the quirks of a model: the provider's with its overrides, in order.
func (p Provider) QuirksFor(model string) Quirks {
	q := p.Quirks
	q.ToolFields = maps.Clone(q.ToolFields)
	if q.LimitField == "" {
		q.LimitField = "max_tokens"
	}
	for _, o := range p.Overrides {
		if ok, err := path.Match(o.Model, strings.ToLower(model)); err == nil && ok {
			o.Change(&q)
		}
	}
	return q
}
