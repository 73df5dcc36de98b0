package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider"
)

// The one tool of the test conversation.
const (
	testTool   = "report_word"
	testWord   = "ready"
	testTokens = 1024
)

func testTools() []llm.Tool {
	schema := `{"type":"object","properties":{"word":{"type":"string","description":"the word to report"}},"required":["word"]}`
	return []llm.Tool{{Name: testTool, Description: "Report one word.", Schema: json.RawMessage(schema)}}
}

// chat has the shortest conversation that a member could have: a call, its result, an answer.
func (p *probe) chat(ctx context.Context) Finding {
	if p.stop != "" {
		return p.blocked()
	}
	client, err := provider.New(provider.Config{Endpoint: p.e, HTTP: p.HTTP, Version: p.Version})
	if err != nil {
		return failure("correct the settings with autonomy model setup", "%v", err)
	}
	defer client.Close()
	talk := conversation{client: client, history: []llm.Message{{
		Role: llm.User, Content: "This is a test of tool calls. Call the tool " + testTool + " with the word \"" + testWord + "\". Say nothing else.",
	}}}
	first, err := talk.turn(ctx)
	if err != nil {
		return p.chatFailed(err, talk, "the first request")
	}
	if f, bad := p.judge(first); bad {
		return f
	}
	for _, c := range first.Message.Calls {
		talk.history = append(talk.history, llm.Message{Role: llm.ToolRole, CallID: c.ID, Content: "reported"})
	}
	second, err := talk.turn(ctx)
	if err != nil {
		return p.chatFailed(err, talk, "the request with the tool's result")
	}
	if first.Usage.Estimated || second.Usage.Estimated {
		return warning("nothing; budgets count estimated tokens", "works%s; the server reports no usage", talk.notes())
	}
	return ok("works: called, result accepted, %d tokens%s", first.Usage.Total()+second.Usage.Total(), talk.notes())
}

// judge looks whether the answer calls the tool as it should.
func (p *probe) judge(r llm.Response) (Finding, bool) {
	const fix = "choose a model that can use tools: autonomy model list"
	if len(r.Message.Calls) == 0 {
		if p.e.Provider.ID == provider.Custom {
			return failure("start the server with its tool parser (vLLM: --enable-auto-tool-choice --tool-call-parser; llama.cpp: --jinja), "+
				"or choose another model", "the model answered in words and called no tool"), true
		}
		return failure(fix, "the model answered in words and called no tool"), true
	}
	call := r.Message.Calls[0]
	var args struct {
		Word string `json:"word"`
	}
	switch {
	case r.Stop == llm.StopLength:
		return failure(fix, "the answer was cut at %d tokens before the call was complete", testTokens), true
	case call.Problem != "":
		return failure(fix, "the call cannot be run: %s", call.Problem), true
	case json.Unmarshal(call.Arguments, &args) != nil || args.Word == "":
		return failure(fix, "the arguments of the call are not those of the schema"), true
	}
	return Finding{}, false
}

func (p *probe) chatFailed(err error, talk conversation, when string) Finding {
	var e *llm.Error
	if !errors.As(err, &e) {
		return failure("see the message", "%s: %v", when, err)
	}
	message := e.Message
	if e.Class == llm.Cancelled {
		message = "no answer in time" + talk.last
	}
	return failure(p.fix(e), "%s fails (%s): %s%s", when, e.Class, message, talk.notes())
}

// conversation is the test conversation with what it took.
type conversation struct {
	client  llm.Client
	history []llm.Message
	tries   int
	changed []string // fields that were dropped or renamed
	last    string   // what the last try that failed said
}

func (c *conversation) turn(ctx context.Context) (llm.Response, error) {
	r, err := c.client.Complete(ctx, llm.Request{
		Messages: c.history, Tools: testTools(), MaxTokens: testTokens,
		OnTry: func(t llm.Try) {
			c.tries++
			c.last = fmt.Sprintf("; the last try said: %s (%s)", t.Message, t.Class)
			if t.Changed != "" && !slices.Contains(c.changed, t.Changed) {
				c.changed = append(c.changed, t.Changed)
			}
		},
	})
	if err == nil {
		c.history = append(c.history, r.Message)
	}
	return r, err
}

// notes are what it took besides the two requests.
func (c *conversation) notes() string {
	notes := ""
	switch {
	case c.tries == 1:
		notes += ", one try failed"
	case c.tries > 1:
		notes += fmt.Sprintf(", %d tries failed", c.tries)
	}
	if len(c.changed) > 0 {
		notes += ", dropped or renamed: " + strings.Join(c.changed, ", ")
	}
	return notes
}
