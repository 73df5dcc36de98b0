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
