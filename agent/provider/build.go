package provider

import (
	"encoding/json"
	"net/http"

	openai "github.com/sashabaranov/go-openai"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider/wire"
)

// neutralModel stands in for the true name in front of the client library, whose checks by model name would refuse
// requests for models and proxies it knows nothing about.
const neutralModel = "model"

// plan is one request as it will be sent to one endpoint.
type plan struct {
	request  openai.ChatCompletionRequest
	exchange *wire.Exchange
	// estimate is the number of prompt tokens before calibration.
	estimate int
}

// plan builds a request. strict sends all turns with calls as text, for a server that refuses their form; nudge is an
// extra user message at the end.
func (l *link) plan(req llm.Request, strict bool, nudge string) plan {
	q := l.endpoint.Quirks
	id := l.endpoint.Provider.ID
	messages := Repair(req.Messages, q.IDLimit)
	switch {
	case strict || len(req.Tools) == 0:
		messages = Flatten(messages, nil)
	case q.EchoRequired:
		messages = Flatten(messages, func(m llm.Message) bool { return m.Provider == "" || m.Provider == id })
	}
	if nudge != "" {
		messages = append(messages, llm.Message{Role: llm.User, Content: nudge})
	}
	x := &wire.Exchange{
		Provider: id, Model: l.endpoint.Model, Set: l.fields(req), Tools: req.Tools, Used: map[string]bool{},
		IDLimit: q.IDLimit, TextCalls: q.TextCalls, Limits: l.endpoint.Limits, Header: l.header(),
		Secrets: l.endpoint.secrets(),
	}
	for _, list := range [][]llm.Message{req.Messages, messages} { // also ids that are sent in another form, or as text
		for _, m := range list {
			for _, c := range m.Calls {
				x.Used[c.ID] = true
			}
		}
	}
	p := plan{exchange: x}
	x.Messages, x.ToolList, p.estimate = l.shelf.encode(l, messages, req.Tools)
	p.request.Model = neutralModel
	p.request.Messages = []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser}} // x brings the true ones
	return p
}

// parameters is never null: servers want an object schema also for tools without parameters.
func parameters(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 || string(schema) == "null" {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return schema
}

// header holds what is sent beyond the library's own headers. X-Title is how OpenRouter names the application.
func (l *link) header() http.Header {
	h := http.Header{"User-Agent": {l.agent}}
	if l.endpoint.Provider.ID == "openrouter" {
		h["X-Title"] = []string{"autonomy"}
	}
	return h
}

// message converts one message. extra is what the library's type cannot hold of it, calls the same of its calls by id.
func (l *link) message(m llm.Message) (out openai.ChatCompletionMessage, extra map[string]json.RawMessage, calls map[string]map[string]json.RawMessage) {
	out = openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.CallID}
	extra, calls = map[string]json.RawMessage{}, map[string]map[string]json.RawMessage{}
	own := m.Provider == "" || m.Provider == l.endpoint.Provider.ID
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
			ID: c.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: c.Name, Arguments: string(c.Arguments)},
		})
		if own && len(c.Extra) > 0 {
			calls[c.ID] = c.Extra
		}
	}
	if m.Role == llm.Assistant {
		if own {
			for k, v := range m.Extra {
				extra[k] = v
			}
		}
		l.echo(m, extra)
	}
	return out, extra, calls
}

// echo puts back the thinking that the provider wants to see again: its own only.
func (l *link) echo(m llm.Message, extra map[string]json.RawMessage) {
	var text string
	var raw json.RawMessage
	for _, t := range m.Thinking {
		if t.Provider == l.endpoint.Provider.ID {
			text += t.Text
			raw = t.Raw
		}
	}
	switch q := l.endpoint.Quirks; {
	case q.Echo == EchoCalls && len(m.Calls) > 0 && (text != "" || q.EchoRequired):
		extra["reasoning_content"] = jsonString(text)
	case q.Echo == EchoDetails && len(raw) > 0:
		extra["reasoning_details"] = plainJSON(raw)
	}
}

// jsonString is s as JSON text.
func jsonString(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string cannot fail
	return b
}
