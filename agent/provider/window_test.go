package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider/script"
)

// doors is a server with fixed answers by path; what is not there is a 404 page.
func doors(t *testing.T, answers map[string]string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a, ok := answers[r.URL.Path]; ok {
			_, _ = io.WriteString(w, a)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

func TestWindowServedBeforeTrained(t *testing.T) {
	const show = `{"parameters":"stop \"x\"\nnum_ctx                        16384\n","model_info":{"llama.context_length":131072}}`
	for _, tt := range []struct {
		name, id string
		answers  map[string]string
		cap      int
		hint     int
		want     int
	}{
		{"llama.cpp props", Custom, map[string]string{"/v1/models": `{"data":[{"id":"m","meta":{"n_ctx_train":131072}}]}`, "/props": `{"default_generation_settings":{"n_ctx":4096}}`}, 0, 0, 4096},
		{"llama.cpp listing", Custom, map[string]string{"/v1/models": `{"data":[{"id":"m","meta":{"n_ctx":2048,"n_ctx_train":131072}}]}`}, 0, 0, 2048},
		{"vLLM", Custom, map[string]string{"/v1/models": `{"data":[{"id":"x","max_model_len":1},{"id":"m","max_model_len":40960}]}`}, 0, 0, 40960},
		{"LM Studio v0", Custom, map[string]string{"/v1/models": `{"data":[{"id":"m"}]}`, "/api/v0/models": `{"data":[{"id":"m","max_context_length":131072,"loaded_context_length":8000}]}`}, 0, 0, 8000},
		{"LM Studio v1", Custom, map[string]string{"/api/v1/models": `{"models":[{"key":"m","loaded_instances":[{"config":{"context_length":9000}}]}]}`}, 0, 0, 9000},
		{"LiteLLM", Custom, map[string]string{"/model/info": `{"data":[{"model_name":"m","model_info":{"max_input_tokens":64000}}]}`}, 0, 0, 64000},
		{"OpenRouter's top provider", "openrouter", map[string]string{"/v1/models": `{"data":[{"id":"m","context_length":200000,"top_provider":{"context_length":131072}}]}`}, 0, 0, 131072},
		{"Ollama loaded", "ollama", map[string]string{"/api/ps": `{"models":[{"name":"m:latest","context_length":32768}]}`, "/api/show": show}, 0, 0, 32768},
		{"Ollama before loading", "ollama", map[string]string{"/api/ps": `{"models":[]}`, "/api/show": show}, 0, 9999, 16384},
		{"Ollama by environment", "ollama", map[string]string{"/api/show": `{"parameters":""}`}, 0, 9999, 9999},
		{"Ollama knows nothing", "ollama", nil, 0, 0, 4096},
		{"custom knows nothing", Custom, nil, 0, 0, 8192},
		{"config lowers", Custom, map[string]string{"/v1/models": `[{"id":"m","max_model_len":40960}]`}, 10000, 0, 10000},
		{"config never raises", Custom, map[string]string{"/v1/models": `[{"id":"m","max_model_len":4096}]`}, 10000, 0, 4096},
	} {
		t.Run(tt.name, func(t *testing.T) {
			row, _ := Find(tt.id)
			e := Endpoint{Provider: row, BaseURL: doors(t, tt.answers), Model: "m", Window: tt.cap, ContextHint: tt.hint}
			if got := Discover(t.Context(), e, nil); got.Tokens != tt.want || got.Source == "" {
				t.Errorf("got %+v, want %d", got, tt.want)
			}
		})
	}
	row, _ := Find("xai")
	if got := Discover(t.Context(), Endpoint{Provider: row, BaseURL: "https://h.test/v1", Model: "m"}, nil); got.Tokens != 128_000 {
		t.Errorf("hosted: %+v", got)
	}
}

func TestWindowIsAskedOnceAndAgainWhenLoaded(t *testing.T) {
	var ps atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/ps":
			answer := `{"models":[]}`
			if ps.Add(1) > 1 {
				answer = `{"models":[{"name":"m","context_length":65536}]}`
			}
			_, _ = io.WriteString(w, answer)
		case "/v1/chat/completions":
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	c := dial(t, "ollama", srv.URL+"/v1")
	var windows []int
	for range 4 {
		resp, err := c.Complete(t.Context(), ask1("hi"))
		if err != nil {
			t.Fatal(err)
		}
		windows = append(windows, resp.Window)
	}
	if fmt.Sprint(windows) != "[4096 65536 65536 65536]" || ps.Load() != 2 || c.Window() != 65536 {
		t.Errorf("windows %v after %d questions", windows, ps.Load())
	}
}

func TestSilentCutWarnsOnceAndLowersTheWindow(t *testing.T) {
	reply := script.Entry{Times: script.Always, Reply: &script.Reply{Text: "ok", Usage: &script.Usage{Prompt: 4096, Completion: 1}}}
	srv := play(t, script.Of(reply))
	c := dial(t, "ollama", srv.URL())
	long := ask1(strings.Repeat("many words of a long prompt ", 5000))
	first, err := c.Complete(t.Context(), long)
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Complete(t.Context(), long)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Warnings) != 1 || !strings.Contains(first.Warnings[0], "OLLAMA_CONTEXT_LENGTH") || len(second.Warnings) != 0 {
		t.Errorf("warnings %q then %q", first.Warnings, second.Warnings)
	}
	served := dial(t, "custom", srv.URL()) // which says 32768
	if resp, err := served.Complete(t.Context(), long); err != nil || resp.Window != 4096 || served.Window() != 4096 {
		t.Errorf("window %d, %v", resp.Window, err)
	}
}

func TestOverflowTeachesTheWindow(t *testing.T) {
	srv := play(t, script.Of(script.Fail(400, "This model's maximum context length is 5000 tokens, you asked for 9000")))
	c := dial(t, "custom", srv.URL())
	if _, err := c.Complete(t.Context(), ask1("hi")); llm.ClassOf(err) != llm.Overflow || c.Window() != 5000 {
		t.Errorf("got %v, window %d", err, c.Window())
	}
}

func TestEstimateIsCalibratedByUsage(t *testing.T) {
	req := ask1(strings.Repeat("some text to count ", 100))
	plain := estimate(req.Messages, req.Tools)
	srv := play(t, script.Of(script.Entry{Times: script.Always, Reply: &script.Reply{Text: "ok", Usage: &script.Usage{Prompt: plain * 2, Completion: 1}}}))
	c := dial(t, "custom", srv.URL())
	for range 12 {
		if _, err := c.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Estimate(req); got < plain*19/10 || got > plain*2 {
		t.Errorf("estimate %d, plain %d", got, plain)
	}
}

func TestTokensInAnyScript(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abcd": 1, "你好世界": 4, "привет": 3, "日本語です": 5, "a你": 2} {
		if got := Tokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestNoUsageIsEstimated(t *testing.T) {
	srv := play(t, script.Of(script.Entry{Reply: &script.Reply{Text: strings.Repeat("x", 400), NoUsage: true}}))
	resp, err := dial(t, "custom", srv.URL()).Complete(t.Context(), ask1("hi"))
	if err != nil || !resp.Usage.Estimated || resp.Usage.Completion != 100 || resp.Usage.Prompt == 0 {
		t.Errorf("got %+v, %v", resp.Usage, err)
	}
}

func TestPrices(t *testing.T) {
	p := Prices{"zai/*": {Input: 1, Output: 2}, "zai/glm-5.3": {Input: 10, Output: 20, Cached: 5}, "openrouter/z-ai/*": {Input: 3}}
	u := llm.Usage{Prompt: 1_000_000, Completion: 500_000, Cached: 400_000}
	hosted := func(id string) Endpoint { return Endpoint{Provider: Provider{ID: id}, BaseURL: "https://h.test/v1"} }
	for _, tt := range []struct {
		e     Endpoint
		model string
		cost  float64
		known bool
	}{
		{hosted("zai"), "GLM-4.7", 2, true},
		{hosted("zai"), "glm-5.3", 6 + 2 + 10, true},
		{hosted("openrouter"), "z-ai/glm-5.2", 3, true},
		{hosted("xai"), "grok", 0, false},
		{Endpoint{Provider: Provider{ID: "ollama"}, BaseURL: "http://127.0.0.1:1/v1"}, "x", 0, true},
	} {
		if got := p.cost(tt.e, tt.model, u); got.Cost != tt.cost || got.CostKnown != tt.known {
			t.Errorf("%s/%s: %v known %v", tt.e.Provider.ID, tt.model, got.Cost, got.CostKnown)
		}
	}
	own := llm.Usage{Prompt: 1, Cost: 7, CostKnown: true}
	if got := p.cost(hosted("zai"), "glm-5.3", own); got.Cost != 7 {
		t.Errorf("the provider's own cost became %v", got.Cost)
	}
}

func TestListModelsFailures(t *testing.T) {
	for body, want := range map[string]llm.Class{"<html>": llm.Protocol, `"x"`: llm.Protocol, `{"data":null}`: llm.Protocol} {
		_, err := ListModels(t.Context(), Endpoint{BaseURL: doors(t, map[string]string{"/v1/models": body})}, nil)
		if llm.ClassOf(err) != want {
			t.Errorf("%s gave %v", body, err)
		}
	}
	if _, err := ListModels(t.Context(), Endpoint{BaseURL: doors(t, nil)}, nil); llm.ClassOf(err) != llm.Protocol {
		t.Errorf("missing: %v", err)
	}
}

func TestDefaultModelIsTheFirstWithTools(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"embed"},{"id":"chat"}]}`)
		case r.URL.Path == "/api/show" && strings.Contains(string(body), "embed"):
			_, _ = io.WriteString(w, `{"capabilities":["embedding"]}`)
		case r.URL.Path == "/api/show":
			_, _ = io.WriteString(w, `{"capabilities":["completion","tools"]}`)
		case r.URL.Path == "/v1/chat/completions" && strings.Contains(string(body), `"model":"chat"`):
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"hi"}}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	e, err := Resolve(Settings{Provider: "ollama", BaseURL: srv.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Endpoint: e})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	resp, err := c.Complete(t.Context(), ask1("hi"))
	if err != nil || resp.Model != "chat" {
		t.Errorf("got %+v, %v", resp, err)
	}
}

// A key that servers throw back shows in no error, no try, no warning and no event text.
func TestCanaryKeyShowsNowhere(t *testing.T) {
	const canary = "sk-test-canary"
	bodies := []string{
		`{"error":{"message":"bad key ` + canary + `"}}`, `{"error":"` + canary + `"}`, canary, "<html>" + canary,
		"data: {\"error\":{\"message\":\"" + canary + "\"}}\n\n", "data: " + canary + "\n\n", `{"detail":[{"msg":"` + canary + `"}]}`,
		`{"choices":[{"message":{"refusal":"` + canary + `"}}]}`,
	}
	for _, status := range []int{200, 302, 400, 401, 402, 403, 404, 429, 500} {
		for _, body := range bodies {
			srv := serveBody(t, status, body)
			c := dial(t, "custom", srv.URL, func(c *Config) {
				c.Endpoint.BaseURL = strings.Replace(c.Endpoint.BaseURL, "http://", "http://user:hunter2-canary@", 1)
			})
			req := ask1("hi")
			var seen strings.Builder
			req.OnTry = func(try llm.Try) { fmt.Fprintf(&seen, "%+v", try) }
			resp, err := c.Complete(t.Context(), req)
			encoded, _ := json.Marshal(resp)
			fmt.Fprintf(&seen, "%v %+v %s", err, err, encoded)
			if strings.Contains(seen.String(), "canary") {
				t.Fatalf("status %d, body %q: %s", status, body, seen.String())
			}
			srv.Close()
		}
	}
	e, err := Resolve(Settings{Provider: "custom", BaseURL: "http://user:hunter2-canary@127.0.0.1:1/v1", Key: canary})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ListModels(t.Context(), e, nil); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
}
