package provider

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// shape is what one provider really sends, and what it wants to get.
type shape struct {
	id, model string
	server    string // which custom one
	effort    string
	sends     []string // in the first request
	lacks     []string
	stream    string // two calls of bash, thinking "hm", usage 50 and 9
	cached    int
	calls     string // ids and commands
	second    []string
	never     []string // not in the second request
	errStatus int
	errBody   string
	class     llm.Class
	hint      string
}

const (
	lsArgs  = `{\"command\":\"ls\"}`
	pwdArgs = `{\"command\":\"pwd\"}`
	usage50 = `"usage":{"prompt_tokens":50,"completion_tokens":9}`
)

func lines(chunks ...string) string {
	return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\ndata: [DONE]\n\n"
}

// wholeCalls is a stream of calls that come whole.
func wholeCalls(thinkingField, id1, id2, usage string) string {
	return lines(
		`{"choices":[{"delta":{"role":"assistant","`+thinkingField+`":"hm"}}]}`,
		`{"choices":[{"delta":{"content":"","tool_calls":[{"index":0,"id":"`+id1+`","type":"function","function":{"name":"bash","arguments":"`+lsArgs+`"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"`+id2+`","type":"function","function":{"name":"bash","arguments":"`+pwdArgs+`"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
		`{"choices":[],`+usage+`}`)
}

func shapes() []shape { return slices.Concat(shapesWest(), shapesEast(), shapesCustom()) }

func shapesWest() []shape {
	return []shape{
		{
			id: "ollama", model: "gpt-oss:20b", effort: "low",
			sends: []string{`"max_tokens":500`, `"temperature":0.2`, `"reasoning_effort":"low"`, `"stream_options":{"include_usage":true}`},
			lacks: []string{"tool_choice", "parallel_tool_calls", "max_completion_tokens"},
			// One delta a call, all of index 0, thinking in reasoning.
			stream: lines(
				`{"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"hm"},"finish_reason":null}]}`,
				`{"choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_a","index":0,"type":"function","function":{"name":"bash","arguments":"`+lsArgs+`"}}]},"finish_reason":null}]}`,
				`{"choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_b","index":0,"type":"function","function":{"name":"bash","arguments":"`+pwdArgs+`"}}]},"finish_reason":"tool_calls"}]}`,
				`{"choices":[],`+usage50+`}`),
			calls: "call_a ls call_b pwd", never: []string{"reasoning\":", "reasoning_content"},
			errStatus: 404, errBody: `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`,
			class: llm.NoModel, hint: "ollama pull",
		},
		{
			id: "openai-api", model: "gpt-5.5", effort: "high",
			sends:  []string{`"max_completion_tokens":500`, `"tool_choice":"auto"`, `"parallel_tool_calls":true`, `"reasoning_effort":"high"`},
			lacks:  []string{`"max_tokens"`, "temperature", "store", "strict"},
			stream: wholeCalls("x", "call_a", "call_b", `"usage":{"prompt_tokens":50,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":32}}`),
			cached: 32, calls: "call_a ls call_b pwd",
			errStatus: 429, errBody: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
			class: llm.Quota,
		},
		{
			id: "nvidia", model: "nvidia/nemotron-3-super-120b-a12b", effort: "none",
			sends: []string{`"max_tokens":500`, `"temperature":0.2`, `"tool_choice":"auto"`, `"chat_template_kwargs":{"enable_thinking":false,"thinking":false}`},
			lacks: []string{"parallel_tool_calls"},
			// No ids, and the name in every chunk.
			stream: lines(
				`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"bash","arguments":"{\"command\":"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"bash","arguments":"\"ls\"}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"bash","arguments":"`+pwdArgs+`"}}]}}]}`,
				`{"choices":[{"delta":{},"finish_reason":"tool_calls"}],`+usage50+`}`),
			calls: "call_1 ls call_2 pwd", never: []string{`"name":"bash","role"`},
			errStatus: 404, errBody: `{"status":404,"title":"Not Found","detail":"Function 'x': Not found for account 'y'"}`, class: llm.NoModel,
		},
		{
			id: "openrouter", model: "z-ai/glm-5.2", effort: "medium",
			sends: []string{`"reasoning":{"effort":"medium"}`, `"provider":{"require_parameters":true}`, `"tool_choice":"auto"`, `"max_tokens":500`},
			lacks: []string{"temperature", "parallel_tool_calls"},
			stream: ": OPENROUTER PROCESSING\n\n" + lines(
				`{"choices":[{"delta":{"content":"","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0,"signature":"sig"}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"bash","arguments":""}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"`+lsArgs+`"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"bash","arguments":"`+pwdArgs+`"}}]}}]}`,
				`{"choices":[{"delta":{"content":""},"finish_reason":"tool_calls","native_finish_reason":"tool_calls"}]}`,
				`{"choices":[{"delta":{"content":""}}],"usage":{"prompt_tokens":50,"completion_tokens":9,"cost":0.0123,"prompt_tokens_details":{"cached_tokens":8}}}`),
			cached: 8, calls: "call_a ls call_b pwd",
			second:    []string{`"reasoning_details":[{"index":0,"signature":"sig","text":"hm","type":"reasoning.text"}]`},
			errStatus: 200, errBody: `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"upstream rate limit reached\"}}"}}}`,
			class: llm.Rate,
		},
		{
			id: "xai", model: "grok-4.6", effort: "low",
			sends: []string{`"max_tokens":500`, `"tool_choice":"auto"`}, lacks: []string{"reasoning_effort", "temperature", "parallel_tool_calls"},
			stream: lines(
				`{"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"hm"}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"call_a","function":{"name":"bash","arguments":"`+lsArgs+`"},"index":0,"type":"function"},{"id":"call_b","function":{"name":"bash","arguments":"`+pwdArgs+`"},"index":1,"type":"function"}]}}]}`,
				`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],`+usage50+`}`),
			calls: "call_a ls call_b pwd", never: []string{"reasoning_content"},
			errStatus: 400, errBody: `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xai-abcdefghijkl"}`, class: llm.Auth,
		},
	}
}

func shapesEast() []shape {
	return []shape{
		{
			id: "deepseek", model: "deepseek-flash", effort: "high",
			sends: []string{`"max_tokens":500`, `"thinking":{"type":"enabled"}`, `"reasoning_effort":"max"`, `"tool_choice":"auto"`}, lacks: []string{"temperature"},
			stream: ": keep-alive\n\n" + wholeCalls("reasoning_content", "call_00_a", "call_01_b", `"usage":{"prompt_tokens":50,"completion_tokens":9,"prompt_cache_hit_tokens":40}`),
			cached: 40, calls: "call_00_a ls call_01_b pwd", second: []string{`"reasoning_content":"hm"`},
			errStatus: 402, errBody: `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, class: llm.Quota,
		},
		{
			id: "zai", model: "glm-5.3",
			sends: []string{`"thinking":{"clear_thinking":false,"type":"enabled"}`, `"tool_stream":true`, `"temperature":0.2`, `"max_tokens":500`, `"tool_choice":"auto"`},
			lacks: []string{"stream_options", "parallel_tool_calls"},
			stream: lines(
				`{"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"hm"}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"call_a","index":0,"type":"function","function":{"name":"bash","arguments":"{\"comm"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"and\":\"ls\"}"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"call_b","index":1,"type":"function","function":{"name":"bash","arguments":"`+pwdArgs+`"}}]}}]}`,
				`{"choices":[{"index":0,"finish_reason":"tool_calls","delta":{"role":"assistant","content":""}}],`+usage50+`}`),
			calls: "call_a ls call_b pwd", second: []string{`"reasoning_content":"hm"`},
			errStatus: 429, errBody: `{"error":{"code":"1310","message":"Weekly limit exhausted, resets at 2026-12-07"}}`, class: llm.Quota,
		},
		{
			id: "kimi-coding", model: "kimi-k3", effort: "high",
			sends: []string{`"max_completion_tokens":500`, `"reasoning_effort":"high"`, `"tool_choice":"auto"`}, lacks: []string{"temperature", `"thinking"`, "parallel_tool_calls"},
			stream: lines(
				`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"functions.bash:0","type":"function","function":{"name":"bash","arguments":""}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"`+lsArgs+`"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"functions.bash:1","type":"function","function":{"name":"bash","arguments":"`+pwdArgs+`"}}]}}]}`,
				`{"choices":[{"delta":{},"finish_reason":"tool_calls","usage":{"prompt_tokens":50,"completion_tokens":9,"cached_tokens":16}}]}`),
			cached: 16, calls: "functions.bash:0 ls functions.bash:1 pwd", second: []string{`"reasoning_content":"hm"`},
			errStatus: 400, errBody: `{"error":{"type":"invalid_request_error","message":"Invalid request: Your request exceeded model token limit: 262144"}}`, class: llm.Overflow,
		},
		{
			id: "alibaba", model: "qwen3.8-max", effort: "medium",
			sends: []string{`"enable_thinking":true`, `"thinking_budget":4096`, `"parallel_tool_calls":true`, `"temperature":0.2`, `"max_tokens":500`},
			lacks: []string{"reasoning_effort"},
			stream: lines(
				`{"choices":[{"delta":{"content":null,"reasoning_content":"hm"},"index":0,"finish_reason":null}]}`,
				`{"choices":[{"delta":{"content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"bash","arguments":"{\"command\": "}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","type":"function","function":{"name":null,"arguments":"\"ls\"}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"bash","arguments":"`+pwdArgs+`"}}]}}]}`,
				`{"choices":[{"delta":{"content":"","reasoning_content":null},"finish_reason":"tool_calls"}]}`,
				`{"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":0}}}`),
			calls: "call_a ls call_b pwd", never: []string{"reasoning_content"},
			errStatus: 400, errBody: `{"error":{"code":"data_inspection_failed","message":"<400> InternalError.Algo.DataInspectionFailed: Input data may contain inappropriate content.","type":"data_inspection_failed"},"request_id":"r"}`, class: llm.Content,
		},
	}
}

func TestProviders(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.id+s.server, func(t *testing.T) { s.test(t) })
	}
}

func (s shape) test(t *testing.T) {
	srv := serveBody(t, 200, s.stream)
	c := dial(t, s.id, srv.URL)
	req := ask1("go")
	req.Model, req.MaxTokens, req.Effort = s.model, 500, s.effort
	resp, err := c.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	s.checkRequest(t, srv, s.sends, s.lacks)
	s.checkResponse(t, resp)

	req.Messages = append(req.Messages, resp.Message)
	for _, call := range resp.Message.Calls {
		req.Messages = append(req.Messages, llm.Message{Role: llm.ToolRole, CallID: call.ID, Content: "ok"})
	}
	if _, err := c.Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	s.checkRequest(t, srv, s.second, s.never)

	srv.status, srv.body = s.errStatus, s.errBody
	_, err = c.Complete(t.Context(), req)
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != s.class || !strings.Contains(e.Hint, s.hint) {
		t.Errorf("error is %v, want class %s", err, s.class)
	}
	if err != nil && strings.Contains(err.Error(), "xai-abcdef") {
		t.Errorf("a key shows in %v", err)
	}
}

func (s shape) checkRequest(t *testing.T, srv *canned, sends, lacks []string) {
	t.Helper()
	body := compactKeys(t, srv.last)
	for _, want := range append(sends, `"model":"`+s.model+`"`, `"stream":true`) {
		if !strings.Contains(body, want) {
			t.Errorf("the request lacks %s: %s", want, body)
		}
	}
	for _, lack := range lacks {
		if strings.Contains(body, lack) {
			t.Errorf("the request has %s: %s", lack, body)
		}
	}
	if got := srv.header.Get("Authorization"); got != "Bearer sk-test-canary" {
		t.Errorf("authorization %q", got)
	}
	if got := srv.header.Get("X-Title"); (got == "autonomy") != (s.id == "openrouter") {
		t.Errorf("X-Title %q", got)
	}
	if srv.header.Get("User-Agent") != "autonomy/test" || srv.header.Get("Accept-Encoding") != "identity" {
		t.Errorf("headers %v", srv.header)
	}
}

func (s shape) checkResponse(t *testing.T, resp llm.Response) {
	t.Helper()
	var calls []string
	for _, c := range resp.Message.Calls {
		var args struct{ Command string }
		if json.Unmarshal(c.Arguments, &args) != nil || c.Problem != "" || c.Name != "bash" {
			t.Errorf("call %+v", c)
		}
		calls = append(calls, c.ID, args.Command)
	}
	if got := strings.Join(calls, " "); got != s.calls {
		t.Errorf("calls %q, want %q", got, s.calls)
	}
	if u := resp.Usage; u.Prompt != 50 || u.Completion != 9 || u.Cached != s.cached || u.Estimated {
		t.Errorf("usage %+v", u)
	}
	if s.id != "openai-api" && (len(resp.Message.Thinking) != 1 || resp.Message.Thinking[0].Text != "hm" || resp.Message.Thinking[0].Provider != s.id) {
		t.Errorf("thinking %+v", resp.Message.Thinking)
	}
	if resp.Message.Content != "" || resp.Stop != llm.StopCalls || resp.Provider != s.id || resp.Model != s.model {
		t.Errorf("response %+v", resp)
	}
}

func TestForeignThinkingStaysAway(t *testing.T) {
	foreign := llm.Message{
		Role: llm.Assistant, Provider: "openrouter", Thinking: []llm.Thinking{{Provider: "openrouter", Text: "secret thought", Raw: json.RawMessage(`[{"text":"secret thought"}]`)}},
		Calls: []llm.ToolCall{{ID: "a", Name: "bash", Arguments: json.RawMessage(`{"command":"ls"}`), Extra: map[string]json.RawMessage{"extra_content": json.RawMessage(`{"sig":1}`)}}},
	}
	for _, id := range []string{"deepseek", "kimi-coding", "openai-api", "zai", "ollama"} {
		srv := serveBody(t, 200, lines(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`))
		req := ask1("go")
		req.Messages = append(req.Messages, foreign, llm.Message{Role: llm.ToolRole, CallID: "a", Content: "files"})
		if _, err := dial(t, id, srv.URL).Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		body := string(srv.last)
		if strings.Contains(body, "secret thought") || strings.Contains(body, "extra_content") {
			t.Errorf("%s got what another provider thought: %s", id, body)
		}
		required := id == "deepseek" || id == "kimi-coding"
		if strings.Contains(body, `"tool_calls":[`) == required || !strings.Contains(body, "files") {
			t.Errorf("%s: want foreign calls as text exactly where the echo is required: %s", id, body)
		}
	}
}

func TestExtraContentReturnsWithItsCall(t *testing.T) {
	srv := serveBody(t, 200, lines(
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"`+lsArgs+`"},"extra_content":{"google":{"thought_signature":"<sig&>"}}}]},"finish_reason":"tool_calls"}]}`))
	c := dial(t, "custom", srv.URL)
	req := ask1("go")
	resp, err := c.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(resp.Message)
	if err != nil {
		t.Fatal(err)
	}
	var loaded llm.Message
	if err := json.Unmarshal(stored, &loaded); err != nil {
		t.Fatal(err)
	}
	var sent []string
	for _, m := range []llm.Message{resp.Message, loaded} {
		req.Messages = append(ask1("go").Messages, m, llm.Message{Role: llm.ToolRole, CallID: "a", Content: "x"})
		if _, err := c.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		sent = append(sent, compactKeys(t, srv.last))
	}
	if !strings.Contains(sent[0], `"extra_content":{"google":{"thought_signature":"`) || sent[0] != sent[1] {
		t.Errorf("sent %s\nafter storing %s", sent[0], sent[1])
	}
}

func TestRequestsWithoutToolsHaveNoCalls(t *testing.T) {
	srv := serveBody(t, 200, lines(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`))
	req := ask1("go")
	req.Tools = nil
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Content: "I look.", Calls: []llm.ToolCall{{ID: "a", Name: "bash", Arguments: json.RawMessage(`{"command":"ls"}`)}, {ID: "b", Name: "idle"}}},
		llm.Message{Role: llm.ToolRole, CallID: "a", Content: "files"}, llm.Message{Role: llm.ToolRole, CallID: "b", Content: "slept"})
	for _, id := range []string{"openai-api", "alibaba", "custom"} {
		if _, err := dial(t, id, srv.URL).Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		body := string(srv.last)
		if strings.Contains(body, `"role":"tool"`) || strings.Contains(body, `"tool_calls"`) || strings.Contains(body, "tool_choice") ||
			!strings.Contains(body, "files") || !strings.Contains(body, "slept") {
			t.Errorf("%s got %s", id, body)
		}
	}
}
