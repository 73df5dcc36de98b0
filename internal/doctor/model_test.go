package doctor

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/agent/provider/script"
)

const canary = "sk-canary-0123456789abcdef"

func infos(ids ...string) (list []provider.ModelInfo) {
	for _, id := range ids {
		list = append(list, provider.ModelInfo{ID: id})
	}
	return list
}

// subject resolves a provider at a loopback server, with a key where it wants one.
func subject(id, url, model string) Model {
	e, err := provider.Resolve(provider.Settings{
		User: provider.Choice{Provider: id, BaseURL: url, Model: model},
		Keys: func(name string) string {
			if strings.HasSuffix(name, "_API_KEY") {
				return canary
			}
			return ""
		},
	})
	return Model{Endpoint: e, Err: err, Fix: "mend it"}
}

func examine(t *testing.T, m Model) map[string]Row {
	t.Helper()
	rows := map[string]Row{}
	for _, r := range Run(t.Context(), []Chain{Models(m)}, Options{}) {
		rows[r.Name] = r
		if strings.Contains(r.Seen+r.Fix, canary) {
			t.Errorf("%s shows the key", r.Name)
		}
		if (r.Fix == "") != (r.State == OK) {
			t.Errorf("%s: %s with fix %q", r.Name, r.State, r.Fix)
		}
	}
	return rows
}

func obedient() script.Script {
	return script.Of(script.Do(testTool, `{"word":"ready"}`), script.Text("Done."))
}

func play(t *testing.T, s script.Script) *script.Server {
	t.Helper()
	server, err := script.NewServer(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func TestAllGreen(t *testing.T) {
	server := play(t, obedient())
	rows := examine(t, subject("custom", server.URL(), "scripted"))
	for name, r := range rows {
		if r.State != OK {
			t.Errorf("%s: %s %q", name, r.State, r.Seen)
		}
	}
	if len(rows) != 10 || server.Count() != 2 {
		t.Fatalf("%d rows, %d requests", len(rows), server.Count())
	}
	second := server.Requests()[1].Request.Messages
	if last := second[len(second)-1]; last.CallID == "" || last.Content != "reported" {
		t.Errorf("the second request ends with %+v", last)
	}
	var body struct {
		MaxTokens  int             `json:"max_tokens"`
		Stream     bool            `json:"stream"`
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	if err := json.Unmarshal(server.Requests()[0].Body, &body); err != nil || body.MaxTokens != 1024 || !body.Stream || body.ToolChoice != nil {
		t.Errorf("request %+v, %v", body, err)
	}
}

func TestPlantedFaultsOfTheChat(t *testing.T) {
	noUsage := obedient()
	for i := range noUsage.Entries {
		noUsage.Entries[i].Reply.NoUsage = true
	}
	tests := map[string]struct {
		script script.Script
		row    string
		state  State
		seen   string
		fix    string
	}{
		"answers in words": {script.Of(script.Text("I would call it.")), "tool call", Failure, "called no tool", "--jinja"},
		"another schema":   {script.Of(script.Do(testTool, `{"wort":"ready"}`)), "tool call", Failure, "", "choose a model"},
		"result refused": {
			script.Of(script.Do(testTool, `{"word":"ready"}`), script.Fail(400, "tool messages are not allowed here")),
			"tool call", Failure, "the request with the tool's result fails", "choose another model",
		},
		"spent":         {script.Of(script.Fail(402, "insufficient balance")), "tool call", Failure, "(quota)", "top up"},
		"no such model": {script.Of(script.Fail(404, "model not found")), "tool call", Failure, "(model)", "autonomy model list"},
		"no usage":      {noUsage, "tool call", Warning, "reports no usage", "estimated"},
		"small window":  {script.Script{Window: 4096, Entries: obedient().Entries}, "window", Warning, "4096", "16384"},
		"not listed":    {script.Script{Model: "scripted-2", Entries: obedient().Entries}, "model", Warning, "not listed", "scripted-2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := examine(t, subject("custom", play(t, tt.script).URL(), "scripted"))[tt.row]
			if r.State != tt.state || !contains(r.Seen, tt.seen) || !contains(r.Fix, tt.fix) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestPlantedFaultsOfTheServer(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		row     string
		state   State
		seen    string
	}{
		"refused key": {answer(401, `{"error":{"message":"invalid api key `+canary+`"}}`), "model list", Failure, "is refused"},
		"web page":    {answer(200, "<html>hello</html>"), "model list", Warning, "web page"},
		"no list":     {answer(404, `{"error":"nothing here"}`), "model list", Warning, "no list"},
		"other shape": {answer(200, `{"models":"none"}`), "model list", Warning, "no list"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusMovedPermanently)
		}, "endpoint", Failure, "redirects to"},
		"the page fails the chat": {answer(200, "<html>hello</html>"), "tool call", Failure, "(protocol)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tt.handler)
			defer server.Close()
			rows := examine(t, subject("xai", server.URL+"/v1", "grok-4.6"))
			if r := rows[tt.row]; r.State != tt.state || !contains(r.Seen, tt.seen) {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		rows := examine(t, subject("ollama", "http://127.0.0.1:1/v1", "qwen3"))
		expect(t, rows["endpoint"], Failure, "no connection")
		expect(t, rows["tool call"], Skipped, "not reached")
	})
	t.Run("TLS on a plain port", func(t *testing.T) {
		server := httptest.NewServer(answer(200, "{}"))
		defer server.Close()
		rows := examine(t, subject("xai", strings.Replace(server.URL, "http:", "https:", 1), "grok-4.6"))
		expect(t, rows["endpoint"], Failure, "TLS fails")
	})
}

func TestPlantedFaultsOfTheSettings(t *testing.T) {
	none := Model{Err: provider.ErrNoProvider}
	for name, r := range examine(t, none) {
		if r.State != Skipped || !contains(r.Fix, "model setup") {
			t.Errorf("without a model %s is %+v", name, r)
		}
	}
	missing, err := provider.Resolve(provider.Settings{User: provider.Choice{Provider: "deepseek"}})
	rows := examine(t, Model{Endpoint: missing, Err: err, Fix: "autonomy keys set deepseek"})
	expect(t, rows["model key"], Failure, "DEEPSEEK_API_KEY")
	expect(t, rows["endpoint"], Skipped, "the key is missing")
	expect(t, rows["base URL"], OK, "https://api.deepseek.com/v1")

	rows = examine(t, subject("openai-api", "", "gpt-6-astra"))
	expect(t, rows["provider"], Failure, "Responses API")
	rows = examine(t, subject("custom", "ftp://gpu.example.com", "m"))
	expect(t, rows["base URL"], Failure, "must begin with http")
	rows = examine(t, subject("custom", "http://127.0.0.1:1/v1/chat/completions", "m"))
	expect(t, rows["base URL"], Failure, "/chat/completions")
	rows = examine(t, subject("xai", "http://example.invalid/v1", "m"))
	expect(t, rows["model key"], Warning, "plain http")
}

func TestWhatProvidersTellBesides(t *testing.T) {
	tests := map[string]struct {
		provider string
		answers  map[string]string
		state    State
		seen     string
	}{
		"ollama": {"ollama", map[string]string{
			"/api/version": `{"version":"0.17.4"}`, "/api/show": `{"capabilities":["completion","tools"]}`,
			"/api/ps": `{"models":[{"name":"m:latest","context_length":32768}]}`,
		}, OK, "version 0.17.4; m is loaded"},
		"ollama without tools": {"ollama", map[string]string{
			"/api/version": `{"version":"0.17.4"}`, "/api/show": `{"capabilities":["completion"]}`,
		}, Warning, "no capability tools"},
		"not ollama":       {"ollama", nil, Warning, "/api/version"},
		"openrouter":       {"openrouter", map[string]string{"/v1/key": `{"data":{"usage":1.5,"limit_remaining":3.25}}`}, OK, "used $1.50, $3.25 left"},
		"openrouter spent": {"openrouter", map[string]string{"/v1/key": `{"data":{"usage":5,"limit_remaining":0}}`}, Warning, "nothing left"},
		"deepseek": {"deepseek", map[string]string{
			"/user/balance": `{"is_available":true,"balance_infos":[{"currency":"CNY","total_balance":"110.00"}]}`,
		}, OK, "110.00 CNY"},
		"deepseek spent": {"deepseek", map[string]string{"/user/balance": `{"is_available":false}`}, Warning, "not enough"},
		"llama.cpp":      {"custom", map[string]string{"/props": `{"default_generation_settings":{"n_ctx":4096}}`}, OK, "llama.cpp"},
		"vLLM":           {"custom", map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"vllm"}]}`}, OK, "vllm"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if answer, ok := tt.answers[r.URL.Path]; ok {
					_, _ = w.Write([]byte(answer))
					return
				}
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write([]byte(`{"error":"not here"}`))
			}))
			defer server.Close()
			expect(t, examine(t, subject(tt.provider, server.URL+"/v1", "m"))[tt.provider], tt.state, tt.seen)
		})
	}
}
