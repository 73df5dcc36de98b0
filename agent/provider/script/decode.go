package script

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// body is what the server reads of a chat request.
type body struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role       llm.Role        `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

// decode reads a chat request into our own words and says whether a stream is asked for.
func decode(data []byte) (llm.Request, bool, error) {
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		return llm.Request{}, false, fmt.Errorf("request is no chat request: %w", err)
	}
	req := llm.Request{Model: b.Model}
	for _, m := range b.Messages {
		msg := llm.Message{Role: m.Role, Content: contentText(m.Content), CallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			msg.Calls = append(msg.Calls, llm.ToolCall{
				ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments),
			})
		}
		req.Messages = append(req.Messages, msg)
	}
	for _, t := range b.Tools {
		f := t.Function
		req.Tools = append(req.Tools, llm.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters})
	}
	return req, b.Stream, nil
}

// contentText is the text of a content that is a string or a list of parts.
func contentText(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}
