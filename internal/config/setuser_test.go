package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/autonomy-team/autonomy/internal/config"
)

func TestSetModelLeavesEveryOtherLine(t *testing.T) {
	deepseek := config.ModelChoice{Provider: "deepseek", Model: "deepseek-flash"}
	custom := config.ModelChoice{Provider: "custom", Model: `a "b": c`, BaseURL: "http://127.0.0.1:8000/v1"}
	tests := map[string]struct {
		before, after string
		choice        config.ModelChoice
	}{
		"no file":         {"", "provider: \"deepseek\"\nmodel: \"deepseek-flash\"\n", deepseek},
		"other lines":     {"# mine\nmode: ask # narrow\n", "# mine\nmode: ask # narrow\nprovider: \"deepseek\"\nmodel: \"deepseek-flash\"\n", deepseek},
		"in place":        {"provider: xai\nmode: ask\nmodel: grok", "provider: \"deepseek\"\nmode: ask\nmodel: \"deepseek-flash\"\n", deepseek},
		"removes the URL": {"base_url: http://x/v1\nprovider: custom\n", "provider: \"deepseek\"\nmodel: \"deepseek-flash\"\n", deepseek},
		"nested names stay": {
			"prices:\n  custom/*: {input: 1, output: 2}\n",
			"prices:\n  custom/*: {input: 1, output: 2}\nprovider: \"custom\"\nmodel: \"a \\\"b\\\": c\"\nbase_url: \"http://127.0.0.1:8000/v1\"\n", custom,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "deep", "config.yaml")
			if tt.before != "" {
				write(t, path, tt.before)
			}
			if err := config.SetModel(path, tt.choice); err != nil {
				t.Fatal(err)
			}
			got, _ := os.ReadFile(path)
			if string(got) != tt.after {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.after)
			}
			if choice, err := config.UserModel(path); err != nil || choice != tt.choice {
				t.Errorf("read back %+v, %v", choice, err)
			}
			if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
		})
	}
}

func TestSetModelRefusesWhatItCannotEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	for _, text := range []string{"{provider: xai}\n", "provider: >\n  xai\n", "\"provider\": xai\n"} {
		write(t, path, text)
		if err := config.SetModel(path, config.ModelChoice{Provider: "deepseek"}); !errors.Is(err, config.ErrNotEdited) {
			t.Errorf("%q: %v", text, err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	write(t, path, "nonsense: 1\n")
	if err := config.SetModel(path, config.ModelChoice{Provider: "deepseek"}); err == nil {
		t.Error("a file that is not valid was changed")
	}
}

func TestPricesAreTheUsersAlone(t *testing.T) {
	user := t.TempDir()
	write(t, filepath.Join(user, "config.yaml"), "prices:\n  deepseek/*: {input: 0.3, output: 0.45, cached: 0.03}\n")
	s, err := config.Load(config.Options{UserDir: user})
	if err != nil || s.Prices["deepseek/*"] != (config.Price{Input: 0.3, Output: 0.45, Cached: 0.03}) {
		t.Errorf("%+v, %v", s.Prices, err)
	}
	ws := config.Workspace{Root: t.TempDir()}
	write(t, ws.Config(), "prices:\n  deepseek/*: {input: 0}\n")
	var bad *config.ValueError
	if _, err := config.Load(config.Options{UserDir: user, Workspace: &ws}); !errors.As(err, &bad) || bad.Field != "prices" {
		t.Errorf("a workspace set prices: %v", err)
	}
	write(t, filepath.Join(user, "config.yaml"), "prices:\n  deepseek/*: {input: -1}\n")
	if _, err := config.Load(config.Options{UserDir: user}); !errors.As(err, &bad) {
		t.Errorf("a price below 0: %v", err)
	}
}
