package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bashTool is the one tool most tests offer.
func bashTool() []llm.Tool {
	return []llm.Tool{{Name: "bash", Description: "run", Schema: json.RawMessage(
		`{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}`)}}
}

func ask1(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: text}}, Tools: bashTool()}
}

// dial makes a client of a provider's row for a loopback server; retries do not wait.
func dial(t *testing.T, id, base string, change ...func(*Config)) *Client {
	t.Helper()
	e, err := Resolve(Settings{Provider: id, Model: "m", BaseURL: base, Key: "sk-test-canary"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Endpoint: e, Jitter: func() float64 { return 0 }, Version: "test"}
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func play(t *testing.T, s script.Script) *script.Server {
	t.Helper()
	srv, err := script.NewServer(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

func TestCompleteOverAScript(t *testing.T) {
	srv := play(t, script.Of(
		script.Entry{Reply: &script.Reply{
			Text: "looking", Thinking: "hm", Calls: []script.Call{
				{Name: "bash", Arguments: json.RawMessage(`{"command":"ls <a>"}`)}, {Name: "bash", Arguments: json.RawMessage(`{"command":"pwd","timeout":"3"}`)},
			}, Usage: &script.Usage{Prompt: 100, Completion: 20, Cached: 60},
		}},
		script.Text("done"),
	))
	c := dial(t, "custom", srv.URL())
	var text, thinking strings.Builder
	req := ask1("go")
	req.OnDelta = func(d llm.Delta) {
		switch d.Kind {
		case llm.DeltaText:
			text.WriteString(d.Text)
		case llm.DeltaThinking:
			thinking.WriteString(d.Text)
		}
	}
	resp, err := c.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != "looking" || thinking.String() != "hm" || resp.Message.Content != "looking" {
		t.Errorf("text %q, thinking %q, message %+v", text.String(), thinking.String(), resp.Message)
	}
	calls := resp.Message.Calls
	if len(calls) != 2 || string(calls[1].Arguments) != `{"command":"pwd","timeout":3}` || !calls[1].Repaired || calls[0].Repaired {
		t.Fatalf("calls %+v", calls)
	}
	if resp.Stop != llm.StopCalls || resp.Usage.Prompt != 100 || resp.Usage.Cached != 60 || !resp.Usage.CostKnown || resp.Window != 32768 {
		t.Errorf("response %+v", resp)
	}
	req.Messages = append(req.Messages, resp.Message,
		llm.Message{Role: llm.ToolRole, CallID: calls[0].ID, Content: "a"}, llm.Message{Role: llm.ToolRole, CallID: calls[1].ID})
	if _, err := c.Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	sent := srv.Requests()[1].Request.Messages
	if len(sent) != 4 || sent[3].Content != "(no output)" || string(sent[1].Calls[1].Arguments) != `{"command":"pwd","timeout":"3"}` {
		t.Errorf("history sent: %+v", sent)
	}
}

func TestTheWordThatStandsInForAKeyIsNoSecret(t *testing.T) {
	srv := play(t, script.Of(script.Fail(400, "registry.ollama.ai/library/x does not support tools")))
	e, err := Resolve(Settings{Provider: "ollama", Model: "x", BaseURL: srv.URL()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Endpoint: e})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Complete(t.Context(), ask1("hi")); err == nil || !strings.Contains(err.Error(), "registry.ollama.ai") {
		t.Errorf("got %v", err)
	}
}
