package provider

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// Each test pins what the client library does on its own, so that an upgrade shows what changed, and that our client
// does better over the same bytes.

// canned is a server that gives one answer to every chat request and keeps the last body.
type canned struct {
	*httptest.Server
	status int
	body   string
	header http.Header
	last   []byte
}

func serveBody(t *testing.T, status int, body string) *canned {
	t.Helper()
	c := &canned{status: status, body: body}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		c.last, _ = io.ReadAll(r.Body)
		c.header = r.Header.Clone()
		w.WriteHeader(c.status)
		_, _ = io.WriteString(w, c.body)
	}))
	t.Cleanup(c.Close)
	return c
}

// bare reads the answer with the library alone.
func (c *canned) bare(t *testing.T, req openai.ChatCompletionRequest) (string, error) {
	t.Helper()
	cfg := openai.DefaultConfig("k")
	cfg.BaseURL = c.URL
	cfg.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	stream, err := openai.NewClientWithConfig(cfg).CreateChatCompletionStream(t.Context(), req)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	text := ""
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return text, err
		}
		for _, choice := range chunk.Choices {
			text += choice.Delta.Content
		}
	}
}

func (c *canned) ours(t *testing.T) (llm.Response, error) {
	t.Helper()
	return dial(t, "custom", c.URL).Complete(t.Context(), ask1("hi"))
}

var plainRequest = openai.ChatCompletionRequest{Model: "m", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "hi"}}}

const stopLine = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"

func TestTrap1_ArgumentsAsObjectEndTheStream(t *testing.T) {
	srv := serveBody(t, 200, `data: {"created":1.5,"choices":[{"delta":{"content":[{"type":"text","text":"hi"}],"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":{"command":"ls"}}}]}}]}`+"\n\n"+stopLine)
	var typeErr *json.UnmarshalTypeError
	if _, err := srv.bare(t, plainRequest); !errors.As(err, &typeErr) {
		t.Errorf("the library now gives %v", err)
	}
	resp, err := srv.ours(t)
	if err != nil || resp.Message.Content != "hi" || string(resp.Message.Calls[0].Arguments) != `{"command":"ls"}` {
		t.Errorf("ours gives %+v, %v", resp, err)
	}
}

func TestTrap2_ACutStreamLooksComplete(t *testing.T) {
	srv := serveBody(t, 200, `data: {"choices":[{"delta":{"content":"half"}}]}`+"\n\n")
	if text, err := srv.bare(t, plainRequest); text != "half" || err != nil {
		t.Errorf("the library now gives %q, %v", text, err)
	}
	if _, err := srv.ours(t); llm.ClassOf(err) != llm.Cut {
		t.Errorf("ours gives %v", err)
	}
	srv.body = `data: {"choices":[{"delta":{"content":"all"},"finish_reason":"stop"}]}`
	if text, _ := srv.bare(t, plainRequest); text != "" {
		t.Errorf("the library now reads a last line without newline: %q", text)
	}
	if resp, err := srv.ours(t); err != nil || resp.Message.Content != "all" {
		t.Errorf("ours gives %+v, %v", resp, err)
	}
}

func TestTrap3_OtherLinesAreDropped(t *testing.T) {
	srv := serveBody(t, 200, "<!doctype html>\n<html>\n")
	if text, err := srv.bare(t, plainRequest); text != "" || err != nil {
		t.Errorf("the library now gives %q, %v", text, err)
	}
	if _, err := srv.ours(t); llm.ClassOf(err) != llm.Protocol {
		t.Errorf("ours gives %v", err)
	}
	srv.body = strings.Repeat(": keep-alive\n\n", 151) + `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\n"
	if _, err := srv.bare(t, plainRequest); !errors.Is(err, openai.ErrTooManyEmptyStreamMessages) {
		t.Errorf("the library now gives %v", err)
	}
	if resp, err := srv.ours(t); err != nil || resp.Message.Content != "hi" {
		t.Errorf("ours gives %+v, %v", resp, err)
	}
}

func TestTrap4_AnErrorChunkPassesAsData(t *testing.T) {
	srv := serveBody(t, 200, `data: {"id":"x","error":{"code":429,"message":"insufficient_quota"},"choices":[]}`+"\n\n"+stopLine)
	if _, err := srv.bare(t, plainRequest); err != nil {
		t.Errorf("the library now gives %v", err)
	}
	if _, err := srv.ours(t); llm.ClassOf(err) != llm.Quota {
		t.Errorf("ours gives %v", err)
	}
}

func TestTrap5_ErrorTypesAreMisleading(t *testing.T) {
	srv := serveBody(t, 402, `{"error":"no money, balance 0"}`)
	_, err := srv.bare(t, plainRequest)
	var requestErr *openai.RequestError
	var apiErr *openai.APIError
	if !errors.As(err, &requestErr) || requestErr.HTTPStatusCode != 402 || !errors.As(err, &apiErr) || apiErr.HTTPStatusCode != 0 {
		t.Errorf("the library now gives %#v", err)
	}
	_, err = srv.ours(t)
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != llm.Quota || e.Status != 402 {
		t.Errorf("ours gives %v", err)
	}
}

func TestTrap6_EmptyFieldsAreOmitted(t *testing.T) {
	srv := serveBody(t, 200, stopLine)
	index := 0
	req := openai.ChatCompletionRequest{
		Model: "m", Temperature: 0, Tools: []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: "idle"}}},
		Messages: []openai.ChatCompletionMessage{
			{Role: "assistant", ToolCalls: []openai.ToolCall{{Index: &index, ID: "a", Function: openai.FunctionCall{Name: "idle"}}}},
			{Role: "tool", ToolCallID: "a"},
		},
	}
	_, _ = srv.bare(t, req)
	for _, want := range []string{`"index":0`, `"type":""`, `"parameters":null`} {
		if !strings.Contains(string(srv.last), want) {
			t.Errorf("the library no longer sends %s: %s", want, srv.last)
		}
	}
	for _, lacking := range []string{`"content"`, `"arguments"`, `"temperature"`} {
		if strings.Contains(string(srv.last), lacking) {
			t.Errorf("the library now sends %s: %s", lacking, srv.last)
		}
	}
	c := dial(t, "ollama", srv.URL)
	zero := 0.0
	_, _ = c.Complete(t.Context(), llm.Request{
		Temperature: &zero, Tools: []llm.Tool{{Name: "idle"}}, Messages: []llm.Message{
			{Role: llm.User, Content: "go"},
			{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "idle"}}},
			{Role: llm.ToolRole, CallID: "a"},
		},
	})
	for _, want := range []string{
		`"temperature":0`, `"parameters":{"properties":{},"type":"object"}`, `"type":"function"`, `"arguments":"{}"`,
		`{"content":"(no output)","role":"tool","tool_call_id":"a"}`, `{"content":"","role":"assistant","tool_calls"`,
	} {
		if !strings.Contains(compactKeys(t, srv.last), want) {
			t.Errorf("ours lacks %s: %s", want, srv.last)
		}
	}
	if strings.Contains(string(srv.last), `"index"`) {
		t.Error("ours sends an index")
	}
}

// compactKeys sorts the keys of all objects.
func compactKeys(t *testing.T, data []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestTrap7_ChecksByModelName(t *testing.T) {
	srv := serveBody(t, 200, `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`+"\n\n")
	for _, model := range []string{"o3-mini", "gpt-5.5"} {
		req := plainRequest
		req.Model = model
		req.MaxTokens = 10 //lint:ignore SA1019 the old field is what the library checks
		if _, err := srv.bare(t, req); !errors.Is(err, openai.ErrReasoningModelMaxTokensDeprecated) {
			t.Errorf("%s: the library now gives %v", model, err)
		}
	}
	req := plainRequest
	req.Model, req.Tools = "gpt-6-sol", []openai.Tool{{Type: "function"}}
	if _, err := srv.bare(t, req); !errors.Is(err, openai.ErrReasoningToolsRequireResponses) {
		t.Errorf("the library now gives %v", err)
	}
	for _, model := range []string{"o3-mini", "gpt-5.5", "gpt-6-sol"} {
		r := ask1("hi")
		r.Model, r.MaxTokens = model, 10
		if _, err := dial(t, "custom", srv.URL).Complete(t.Context(), r); err != nil {
			t.Errorf("%s: ours gives %v", model, err)
		}
		if !strings.Contains(string(srv.last), `"model":"`+model+`"`) || !strings.Contains(string(srv.last), `"max_tokens":10`) {
			t.Errorf("ours sends %s", srv.last)
		}
	}
}

func TestTrap8_UsageChunkAndListing(t *testing.T) {
	srv := serveBody(t, 200, `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`+"\n\n"+
		`data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
	if resp, err := srv.ours(t); err != nil || resp.Usage.Prompt != 7 {
		t.Errorf("ours gives %+v, %v", resp, err)
	}
	list := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `["a",{"name":"b","context_length":4096.0}]`)
	}))
	defer list.Close()
	cfg := openai.DefaultConfig("k")
	cfg.BaseURL = list.URL
	cfg.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if _, err := openai.NewClientWithConfig(cfg).ListModels(t.Context()); err == nil {
		t.Error("the library now reads a bare array")
	}
	models, err := ListModels(t.Context(), Endpoint{BaseURL: list.URL}, nil)
	if err != nil || len(models) != 2 || models[0].ID != "a" || models[1] != (ModelInfo{ID: "b", Window: 4096}) {
		t.Errorf("ours gives %+v, %v", models, err)
	}
}
