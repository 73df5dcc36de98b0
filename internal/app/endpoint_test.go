package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/internal/config"
)

// person opens a workspace for somebody with these variables, keys.env and config.yaml.
func person(t *testing.T, env map[string]string, keys, settings string) *App {
	t.Helper()
	user := t.TempDir()
	for name, text := range map[string]string{"keys.env": keys, "config.yaml": settings} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(user, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Open(t.Context(), Options{
		Workspace: config.Workspace{Root: t.TempDir()}, UserDir: user, Getenv: func(name string) string { return env[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A base URL without a provider is never that of a provider which only the workspace names: its stored key would go there.
func TestBaseURLAloneIsNotForTheWorkspacesProvider(t *testing.T) {
	const stored = "DEEPSEEK_API_KEY=stored\nAUTONOMY_KEY_GPU_EXAMPLE_COM=gpu\n"
	const gpu = "https://gpu.example.com/v1"
	tests := map[string]struct {
		settings, workspace string
		env                 map[string]string
		flags               provider.Choice
		provider, url, key  string
	}{
		"variable": {workspace: "provider: deepseek\n", env: map[string]string{"AUTONOMY_BASE_URL": gpu}, provider: "custom", url: gpu, key: "gpu"},
		"flag":     {workspace: "provider: deepseek\n", flags: provider.Choice{BaseURL: gpu}, provider: "custom", url: gpu, key: "gpu"},
		"with the provider in the environment": {
			workspace: "provider: xai\n", env: map[string]string{"AUTONOMY_BASE_URL": gpu, "AUTONOMY_PROVIDER": "deepseek"},
			provider: "deepseek", url: gpu, key: "stored",
		},
		"with the person's own provider": {
			settings: "provider: deepseek\n", workspace: "provider: xai\n", env: map[string]string{"AUTONOMY_BASE_URL": gpu},
			provider: "deepseek", url: gpu, key: "stored",
		},
		"with a provider as a flag": {
			flags: provider.Choice{Provider: "deepseek"}, env: map[string]string{"AUTONOMY_BASE_URL": gpu},
			provider: "deepseek", url: "https://api.deepseek.com/v1", key: "stored",
		},
		"no URL": {workspace: "provider: deepseek\n", provider: "deepseek", url: "https://api.deepseek.com/v1", key: "stored"},
		"the person's row": {
			settings: "providers:\n  deepseek: {base_url: " + gpu + "}\n", workspace: "provider: deepseek\n", provider: "deepseek", url: gpu, key: "stored",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := person(t, tt.env, stored, tt.settings)
			trustSettings(t, a, tt.workspace)
			if set, err := a.Settings(); err != nil || tt.workspace != "" && len(tt.env) == 0 && string(set.Source("provider")) != "workspace" {
				t.Fatalf("the workspace does not act: %+v, %v", set, err)
			}
			e, err := a.flagEndpoint(tt.flags)
			if err != nil || e.Provider.ID != tt.provider || e.BaseURL != tt.url || e.Key.Reveal() != tt.key {
				t.Errorf("%s at %s with the key from %q, %v", e.Provider.ID, e.BaseURL, e.KeyFrom, err)
			}
			if values, err := a.ShowModel(); err == nil && tt.provider == "custom" && tt.flags == (provider.Choice{}) && strings.Contains(values[0].From, ".autonomy") {
				t.Errorf("shown as from %s", values[0].From)
			}
		})
	}
	a := person(t, map[string]string{"AUTONOMY_BASE_URL": gpu}, stored, "")
	if e, err := a.memberEndpoint(provider.Choice{Provider: "deepseek"}); err != nil || e.BaseURL != "https://api.deepseek.com/v1" {
		t.Errorf("a member of deepseek is sent to %s, %v", e.BaseURL, err)
	}
}

// trustSettings gives the workspace a config.yaml that may act.
func trustSettings(t *testing.T, a *App, text string) {
	t.Helper()
	if text == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(a.ws.Config()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.ws.Config(), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := a.Trust(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// What a member's spec says lies in the workspace, so it can't send a person's key where the person did not.
func TestKeysFollowThePersonNotTheRoster(t *testing.T) {
	const stored = "DEEPSEEK_API_KEY=stored\nLM_API_KEY=lm\nAUTONOMY_KEY_GPU_EXAMPLE_COM=gpu\n"
	tests := map[string]struct {
		env      map[string]string
		settings string
		choice   provider.Choice
		key      string
		foreign  bool
	}{
		"the table's URL": {choice: provider.Choice{Provider: "deepseek", BaseURL: "https://api.deepseek.com/v1"}, key: "stored"},
		"no URL":          {choice: provider.Choice{Provider: "deepseek"}, key: "stored"},
		"another host":    {choice: provider.Choice{Provider: "deepseek", BaseURL: "https://evil.example/v1"}, foreign: true},
		"plain http to the same host": {
			choice: provider.Choice{Provider: "deepseek", BaseURL: "http://api.deepseek.com/v1"}, foreign: true,
		},
		"a URL of the user's settings": {
			settings: "provider: deepseek\nbase_url: https://gateway.example/v1\n",
			choice:   provider.Choice{Provider: "deepseek", BaseURL: "https://gateway.example/v1"}, key: "stored",
		},
		"AUTONOMY_API_KEY without its provider": {
			env:    map[string]string{"AUTONOMY_API_KEY": "general", "AUTONOMY_PROVIDER": "xai"},
			choice: provider.Choice{Provider: "deepseek"}, key: "stored",
		},
		"AUTONOMY_API_KEY with its provider": {
			env:    map[string]string{"AUTONOMY_API_KEY": "general", "AUTONOMY_PROVIDER": "deepseek"},
			choice: provider.Choice{Provider: "deepseek"}, key: "general",
		},
		"a custom server by its host's name":   {choice: provider.Choice{Provider: "custom", BaseURL: "https://gpu.example.com/v1"}, key: "gpu"},
		"a custom server without a key":        {choice: provider.Choice{BaseURL: "https://other.example/v1"}},
		"another machine at LM Studio's port":  {choice: provider.Choice{Provider: "custom", BaseURL: "http://evil.example:1234/v1"}},
		"LM Studio here":                       {choice: provider.Choice{Provider: "custom", BaseURL: "http://127.0.0.1:1234/v1"}, key: "lm"},
		"AUTONOMY_API_KEY and somebody's host": {env: map[string]string{"AUTONOMY_API_KEY": "general"}, choice: provider.Choice{BaseURL: "https://evil.example/v1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := person(t, tt.env, stored, tt.settings).memberEndpoint(tt.choice)
			var foreign *ForeignURLError
			if errors.As(err, &foreign) != tt.foreign || err != nil && !tt.foreign {
				t.Fatalf("error %v", err)
			}
			if err == nil && e.Key.Reveal() != tt.key {
				t.Errorf("the key from %q was chosen, want %q", e.KeyFrom, tt.key)
			}
			if want := strings.TrimSuffix(tt.choice.BaseURL, "/"); err == nil && want != "" && e.BaseURL != want {
				t.Errorf("URL %s", e.BaseURL)
			}
		})
	}
}
