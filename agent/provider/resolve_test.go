package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/autonomy-team/autonomy/agent/provider/wire"
)

func vars(kv ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return func(name string) string { return m[name] }
}

func TestResolve(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    Settings
		want string // provider model url key keyFrom
	}{
		{"flag with the row's key", Settings{Provider: "zai", Env: vars("ZAI_API_KEY", "k")}, "zai glm-5.3 https://api.z.ai/api/paas/v4 k ZAI_API_KEY (environment)"},
		{"aliases in order", Settings{Provider: "zai", Env: vars("Z_AI_API_KEY", "c", "GLM_API_KEY", "a")}, "zai glm-5.3 https://api.z.ai/api/paas/v4 a GLM_API_KEY (environment)"},
		{"environment before keys.env", Settings{Provider: "xai", Env: vars("XAI_API_KEY", "e"), Keys: vars("XAI_API_KEY", "f")}, "xai grok-4.6 https://api.x.ai/v1 e XAI_API_KEY (environment)"},
		{"keys.env", Settings{Provider: "xai", Keys: vars("XAI_API_KEY", "f")}, "xai grok-4.6 https://api.x.ai/v1 f XAI_API_KEY (keys.env)"},
		{"flag before AUTONOMY before config", Settings{Model: "m1", User: Choice{Provider: "xai", Model: "m3"}, Env: vars("AUTONOMY_MODEL", "m2", "XAI_API_KEY", "k")}, "xai m1 https://api.x.ai/v1 k XAI_API_KEY (environment)"},
		{"another provider's model does not count", Settings{Provider: "xai", User: Choice{Provider: "zai", Model: "glm-4.7", BaseURL: "https://z.test"}, Env: vars("XAI_API_KEY", "k")}, "xai grok-4.6 https://api.x.ai/v1 k XAI_API_KEY (environment)"},
		{"AUTONOMY_API_KEY with AUTONOMY_PROVIDER", Settings{Env: vars("AUTONOMY_PROVIDER", "xai", "AUTONOMY_API_KEY", "a", "XAI_API_KEY", "k")}, "xai grok-4.6 https://api.x.ai/v1 a AUTONOMY_API_KEY (environment)"},
		{"AUTONOMY_API_KEY not for the user's provider", Settings{User: Choice{Provider: "xai"}, Env: vars("AUTONOMY_API_KEY", "a", "XAI_API_KEY", "k")}, "xai grok-4.6 https://api.x.ai/v1 k XAI_API_KEY (environment)"},
		{"URL variable of the row", Settings{Provider: "deepseek", Env: vars("DEEPSEEK_BASE_URL", "https://api.deepseek.com/", "DEEPSEEK_API_KEY", "k")}, "deepseek deepseek-flash https://api.deepseek.com k DEEPSEEK_API_KEY (environment)"},
		{"a base URL is not repaired", Settings{Provider: "zai", BaseURL: "https://proxy.test/some/path", Key: "k"}, "zai glm-5.3 https://proxy.test/some/path k given"},
		{"base URL alone is custom", Settings{Env: vars("AUTONOMY_BASE_URL", "http://127.0.0.1:8080/v1")}, "custom  http://127.0.0.1:8080/v1  "},
		{"LM Studio's key on its port", Settings{BaseURL: "http://127.0.0.1:1234/v1", Env: vars("LM_API_KEY", "l", "LITELLM_API_KEY", "x")}, "custom  http://127.0.0.1:1234/v1 l LM_API_KEY (environment)"},
		{"and nowhere else", Settings{BaseURL: "http://evil.test/v1", Env: vars("LM_API_KEY", "l", "LITELLM_API_KEY", "x")}, "custom  http://evil.test/v1  "},
		{"local Ollama sends no cloud key", Settings{Provider: "ollama", Env: vars("OLLAMA_API_KEY", "cloud")}, "ollama  http://127.0.0.1:11434/v1 ollama fixed"},
		{"Ollama's cloud", Settings{Provider: "ollama", BaseURL: "https://ollama.com/v1", Env: vars("OLLAMA_API_KEY", "cloud")}, "ollama  https://ollama.com/v1 cloud OLLAMA_API_KEY (environment)"},
		{"Kimi's coding key has its host", Settings{Provider: "kimi-coding", Env: vars("KIMI_API_KEY", "sk-kimi-abc")}, "kimi-coding kimi-k3 https://api.kimi.com/coding/v1 sk-kimi-abc KIMI_API_KEY (environment)"},
		{"unless a URL was chosen", Settings{Provider: "kimi-coding", BaseURL: "https://k.test/v1", Env: vars("KIMI_API_KEY", "sk-kimi-abc")}, "kimi-coding kimi-k3 https://k.test/v1 sk-kimi-abc KIMI_API_KEY (environment)"},
		{"the user's row before the table", Settings{Provider: "xai", Rows: map[string]Row{"xai": {BaseURL: "https://x.test/v1/", Model: "grok-9"}}, Key: "k"}, "xai grok-9 https://x.test/v1 k given"},
		{"the user's choice before their row", Settings{User: Choice{"xai", "grok-8", "https://c.test/v1"}, Rows: map[string]Row{"xai": {BaseURL: "https://x.test/v1", Model: "grok-9"}}, Key: "k"}, "xai grok-8 https://c.test/v1 k given"},
		{"the user's row before a variable of the row", Settings{Provider: "xai", Env: vars("XAI_BASE_URL", "https://v.test"), Rows: map[string]Row{"xai": {BaseURL: "https://x.test/v1"}}, Key: "k"}, "xai grok-4.6 https://x.test/v1 k given"},
		{"a row chooses no provider", Settings{Provider: "xai", Rows: map[string]Row{"zai": {Model: "glm-9"}}, Key: "k"}, "xai grok-4.6 https://api.x.ai/v1 k given"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Resolve(tt.s)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s %s %s %s %s", e.Provider.ID, e.Model, e.BaseURL, e.Key.Reveal(), e.KeyFrom); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRowsChangePaceAndPatience(t *testing.T) {
	e, err := Resolve(Settings{Provider: "nvidia", Key: "k", Rows: map[string]Row{
		"nvidia": {PerMinute: 100, Limits: wire.Limits{Idle: time.Second}, Window: 9000},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if e.Provider.Pace() != "100 a minute, 4 at once" || e.Patience() != "3m to the first byte, 1s of silence, 15m in all" || e.Window != 9000 {
		t.Errorf("pace %q, patience %q, window %d", e.Provider.Pace(), e.Patience(), e.Window)
	}
	if l := (&Limiters{}).lane(e); l.pace.Limit() != rate.Limit(100.0/60) || cap(l.slots) != 4 {
		t.Errorf("the limiter has %v a second, %d at once", l.pace.Limit(), cap(l.slots))
	}
	var unknown *UnknownProviderError
	if _, err := Resolve(Settings{Provider: "xai", Key: "k", Rows: map[string]Row{"xia": {}}}); !errors.As(err, &unknown) || unknown.ID != "xia" {
		t.Errorf("a misspelt row gives %v", err)
	}
}

func TestResolveErrors(t *testing.T) {
	var unknown *UnknownProviderError
	var missing *MissingKeyError
	var badURL *URLError
	var refused *RefusedModelError
	for _, tt := range []struct {
		name string
		s    Settings
		as   any
		says string
	}{
		{"unknown provider", Settings{Provider: "openai"}, &unknown, "openai-api"},
		{"no key", Settings{Provider: "zai", Env: vars("OPENAI_API_KEY", "other")}, &missing, "GLM_API_KEY, ZAI_API_KEY"},
		{"no scheme", Settings{BaseURL: "127.0.0.1:8080"}, &badURL, ""},
		{"ftp", Settings{BaseURL: "ftp://u:hunter2@h/v1"}, &badURL, "http://"},
		{"query", Settings{BaseURL: "http://h/v1?key=x"}, &badURL, "query"},
		{"model that cannot use tools here", Settings{Provider: "openai-api", Model: "gpt-6-astra", Key: "k"}, &refused, "Responses API"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Resolve(tt.s)
			if err == nil || !errors.As(err, tt.as) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := Resolve(Settings{}); !errors.Is(err, ErrNoProvider) {
		t.Errorf("got %v", err)
	}
}

func TestPlainHTTPWithAKeyWarns(t *testing.T) {
	for base, want := range map[string]int{"http://far.test/v1": 1, "http://127.0.0.1:9/v1": 0, "http://[::1]:9/v1": 0, "https://far.test/v1": 0} {
		e, err := Resolve(Settings{Provider: "xai", BaseURL: base, Key: "k"})
		if err != nil || len(e.Warnings) != want {
			t.Errorf("%s: warnings %v, %v", base, e.Warnings, err)
		}
	}
}

func TestOllamaHost(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "http://127.0.0.1:11434/v1",
		"gpu":                 "http://gpu:11434/v1",
		"gpu:8080":            "http://gpu:8080/v1",
		"0.0.0.0":             "http://127.0.0.1:11434/v1",
		"0.0.0.0:9":           "http://127.0.0.1:9/v1",
		"http://gpu":          "http://gpu:80/v1",
		"https://gpu/":        "https://gpu:443/v1",
		"https://gpu:9/under": "https://gpu:9/under/v1",
		"[::]:9":              "http://127.0.0.1:9/v1",
		"[::1]":               "http://[::1]:11434/v1",
	} {
		e, err := Resolve(Settings{Provider: "ollama", Env: vars("OLLAMA_HOST", in)})
		if err != nil || e.BaseURL != want {
			t.Errorf("%q gave %s, %v; want %s", in, e.BaseURL, err, want)
		}
	}
}

// The key shows in no form in which an endpoint can be printed or encoded.
func TestEndpointHidesItsKey(t *testing.T) {
	e, err := Resolve(Settings{Provider: "xai", BaseURL: "https://user:hunter2@h.test/v1", Key: "4711-canary"})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(map[string]any{"key": e.Key, "list": []Secret{e.Key}})
	if err != nil {
		t.Fatal(err)
	}
	all := string(encoded) + fmt.Sprintf("%v %+v %#v %s %q", e.Key, e.Key, e.Key, e.Key, e.Key) + e.ShownURL()
	if strings.Contains(all, "canary") || strings.Contains(all, "hunter2") {
		t.Errorf("it shows: %s", all)
	}
}

func TestTable(t *testing.T) {
	ids := ""
	for _, p := range Table() {
		ids += p.ID + " "
		if p.ID != Custom && (p.BaseURL == "" || len(p.KeyVars) == 0 || len(p.URLVars) == 0) {
			t.Errorf("row %s is incomplete", p.ID)
		}
		if p.Limits.First == 0 || p.Limits.Idle == 0 || p.Limits.Total == 0 || p.InFlight == 0 {
			t.Errorf("row %s has no limits", p.ID)
		}
	}
	if ids != "ollama openai-api nvidia openrouter xai deepseek zai kimi-coding alibaba custom " {
		t.Errorf("rows: %s", ids)
	}
	p, _ := Find("openai-api")
	if q := p.QuirksFor("o4-mini"); q.Parallel || q.LimitField != "max_completion_tokens" {
		t.Errorf("o4-mini: %+v", q)
	}
	if q := p.QuirksFor("GPT-6-sol"); q.Effort != "none" {
		t.Errorf("gpt-6-sol: %+v", q)
	}
}
