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
		Secrets: l.endpoint.secrets(), CallExtras: map[string]map[string]json.RawMessage{},
	}
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			x.Used[c.ID] = true // also those that are sent under another id, or as text
		}
	}
	p := plan{exchange: x, estimate: estimate(messages, req.Tools)}
	for _, m := range messages {
		p.request.Messages = append(p.request.Messages, l.message(m, x))
	}
	p.request.Model = neutralModel
	for _, t := range req.Tools {
		p.request.Tools = append(p.request.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: parameters(t.Schema),
		}})
	}
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

// message converts one message and puts into x what the library's type cannot hold.
func (l *link) message(m llm.Message, x *wire.Exchange) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.CallID}
	own := m.Provider == "" || m.Provider == l.endpoint.Provider.ID
	for _, c := range m.Calls {
		x.Used[c.ID] = true
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
			ID: c.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: c.Name, Arguments: string(c.Arguments)},
		})
		if own && len(c.Extra) > 0 {
			x.CallExtras[c.ID] = c.Extra
		}
	}
	extra := map[string]json.RawMessage{}
	if m.Role == llm.Assistant {
		if own {
			for k, v := range m.Extra {
				extra[k] = v
			}
		}
		l.echo(m, extra)
	}
	x.Extras = append(x.Extras, extra)
	return out
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
