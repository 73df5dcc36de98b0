package script

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/agent/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func user(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: text}}}
}

func TestFirstMatchingEntryWithUsesAnswers(t *testing.T) {
	s, err := Parse([]byte(`{"entries":[
		{"when":{"contains":"red"},"reply":{"text":"R"},"times":2},
		{"when":{"system_contains":"alice","contains":"x"},"reply":{"text":"A"}},
		{"when":{"tool_result_contains":"exit 0"},"reply":{"text":"T"}},
		{"when":{"model":"big"},"reply":{"text":"B"}},
		{"when":{"contains":"red"},"reply":{"text":"late"},"times":-1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(s)
	alice := llm.Request{Messages: []llm.Message{{Role: llm.System, Content: "You are alice"}, {Role: llm.User, Content: "x"}}}
	result := llm.Request{Messages: []llm.Message{
		{Role: llm.User, Content: "go"},
		{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "1", Name: "bash"}}},
		{Role: llm.ToolRole, CallID: "1", Content: "exit 0"},
	}}
	big := user("z")
	big.Model = "big"
	for i, step := range []struct {
		req  llm.Request
		want string
	}{{user("red"), "R"}, {alice, "A"}, {user("red"), "R"}, {user("red"), "late"}, {user("red"), "late"}, {result, "T"}, {big, "B"}} {
		resp, err := c.Complete(t.Context(), step.req)
		if err != nil || resp.Message.Content != step.want {
			t.Errorf("step %d: got %q, %v; want %q", i, resp.Message.Content, err, step.want)
		}
	}
	if _, err := c.Complete(t.Context(), alice); llm.ClassOf(err) != llm.Server || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("an unanswered request gave %v", err)
	}
	if c.Remaining() != 0 || c.Count() != 8 {
		t.Errorf("remaining %d, count %d", c.Remaining(), c.Count())
	}
}

func TestClientMarksCallsThatMustNotRun(t *testing.T) {
	tools := []llm.Tool{{Name: "bash"}}
	for _, tt := range []struct {
		name    string
		entry   Entry
		problem string
	}{
		{"good", Do("bash", `{"command":"ls"}`), ""},
		{"no arguments", Do("bash", ""), ""},
		{"unknown tool", Do("rm", `{}`), `unknown tool "rm"`},
		{"broken arguments", Do("bash", `"{\"a\":"`), "arguments are not a JSON object"},
		{"cut by length", Entry{Reply: &Reply{Calls: []Call{{Name: "bash"}}, Finish: "length"}}, "output was cut"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := NewClient(Of(tt.entry)).Complete(t.Context(), llm.Request{Tools: tools})
			if err != nil {
				t.Fatal(err)
			}
			call := resp.Message.Calls[0]
			if (tt.problem == "") != (call.Problem == "") || !strings.Contains(call.Problem, tt.problem) {
				t.Errorf("problem is %q, want %q", call.Problem, tt.problem)
			}
			if !json.Valid(call.Arguments) || call.ID != "call_1" {
				t.Errorf("call is %+v", call)
			}
		})
	}
}

func TestClientFailures(t *testing.T) {
	for _, tt := range []struct {
		name  string
		entry Entry
		want  llm.Class
	}{
		{"rate", Entry{Error: &Failure{Status: 429, Headers: map[string]string{"Retry-After": "7"}}}, llm.Rate},
		{"class by hand", Entry{Error: &Failure{Class: llm.Overflow}}, llm.Overflow},
		{"drop", Entry{Error: &Failure{Drop: true}}, llm.Transport},
		{"cut", Entry{Reply: &Reply{Text: "half", Cut: true}}, llm.Cut},
		{"empty", Entry{Reply: &Reply{}}, llm.Empty},
		{"filter", Entry{Reply: &Reply{Text: "x", Finish: "content_filter"}}, llm.Content},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewClient(Of(tt.entry)).Complete(t.Context(), user("hi"))
			if llm.ClassOf(err) != tt.want {
				t.Errorf("got %v, want class %s", err, tt.want)
			}
			if e, ok := err.(*llm.Error); !ok || tt.name == "rate" && e.RetryAfter != 7*time.Second {
				t.Errorf("error is %#v", err)
			}
		})
	}
}

func TestHoldEndsByReleaseOrContext(t *testing.T) {
	e := Text("ok")
	e.Hold = "gate"
	c := NewClient(Of(e, e))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Complete(ctx, user("a")); llm.ClassOf(err) != llm.Cancelled {
		t.Fatalf("got %v", err)
	}
	done := make(chan error, 1)
	go func() { _, err := c.Complete(t.Context(), user("a")); done <- err }()
	c.Release("gate")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func serve(t *testing.T, s Script) *Server {
	t.Helper()
	srv, err := NewServer(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

func post(t *testing.T, srv *Server, body string) (*http.Response, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(srv.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(data)
}

func TestServerStreamsCallsInPieces(t *testing.T) {
	args := `{"command":"printf 'a rather long command of more than one piece'"}`
	srv := serve(t, Of(Entry{Reply: &Reply{Text: "hello wörld, this is text", Calls: []Call{{Name: "bash", Arguments: json.RawMessage(args)}}}}))
	resp, body := post(t, srv, `{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`)
	if resp.Header.Get("Content-Type") != "text/event-stream" || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Fatalf("no stream: %s", body)
	}
	var text, got strings.Builder
	finish := ""
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: {"))
		if !ok {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content   string `json:"content"`
					ToolCalls []struct {
						Function struct{ Arguments string }
					} `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(append([]byte("{"), data...), &chunk); err != nil {
			t.Fatal(err)
		}
		for _, c := range chunk.Choices {
			text.WriteString(c.Delta.Content)
			finish += c.FinishReason
			for _, call := range c.Delta.ToolCalls {
				got.WriteString(call.Function.Arguments)
			}
		}
	}
	if text.String() != "hello wörld, this is text" || got.String() != args || finish != "tool_calls" {
		t.Errorf("text %q, arguments %q, finish %q", text.String(), got.String(), finish)
	}
	if rec := srv.Requests(); len(rec) != 1 || rec[0].Request.Messages[0].Content != "hi" || rec[0].Request.Model != "m" {
		t.Errorf("recorded %+v", rec)
	}
}

func TestServerAnswersJSONErrorsAndCuts(t *testing.T) {
	srv := serve(t, Of(Text("plain"), Entry{Error: &Failure{Status: 429, Body: "slow", Headers: map[string]string{"Retry-After": "2"}}},
		Entry{Reply: &Reply{Text: "half", Cut: true}}))
	const ask = `{"messages":[{"role":"user","content":"hi"}]}`
	if _, body := post(t, srv, ask); !strings.Contains(body, `"content":"plain"`) || !strings.Contains(body, `"usage"`) {
		t.Errorf("JSON answer is %s", body)
	}
	if resp, body := post(t, srv, ask); resp.StatusCode != 429 || body != "slow" || resp.Header.Get("Retry-After") != "2" {
		t.Errorf("failure is %d %s", resp.StatusCode, body)
	}
	if _, body := post(t, srv, `{"stream":true}`); strings.Contains(body, "[DONE]") || strings.Contains(body, "finish_reason") {
		t.Errorf("cut stream is %s", body)
	}
	resp, body := post(t, srv, ask)
	if resp.StatusCode != 500 || !strings.Contains(body, "no entry answers") || resp.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("unanswered: %d %s", resp.StatusCode, body)
	}
	if err := srv.Wait(t.Context(), 4); err != nil || srv.Count() != 4 {
		t.Errorf("wait: %v, count %d", err, srv.Count())
	}
}

func TestCloseEndsHeldAnswers(t *testing.T) {
	e := Text("never")
	e.Hold = "gate"
	srv, err := NewServer(Of(e))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		if resp, err := client.Post(srv.URL()+"/chat/completions", "", strings.NewReader("{}")); err == nil {
			resp.Body.Close()
		}
	}()
	if err := srv.Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	srv.Close()
	<-done
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"unknown field": {`{"entries":[{"replay":{}}]}`, "replay"},
		"no answer":     {`{"entries":[{"reply":{"text":"a"}},{}]}`, "entry 2"},
		"both answers":  {`{"entries":[{"reply":{},"error":{}}]}`, "entry 1"},
		"bad delay":     {`{"entries":[{"reply":{},"delay":"soon"}]}`, "delay"},
		"bad times":     {`{"entries":[{"reply":{},"times":-2}]}`, "times"},
		"two values":    {`{"entries":[]} {}`, "more text"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.json")
			if err := os.WriteFile(path, []byte(tt.in), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to name %q", err, tt.want)
			}
		})
	}
}
