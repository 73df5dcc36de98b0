package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/config"
)

func TestProvidersAreThePersonsAlone(t *testing.T) {
	dir := t.TempDir()
	ws := config.Workspace{Root: t.TempDir()}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	user := config.UserConfig(dir)
	write(user, "providers:\n  nvidia: {requests_per_minute: 100, limits: {idle: 5m}}\n  custom: {base_url: 'http://h/v1', window: 9000}\n")
	s, err := config.Load(config.Options{UserDir: dir})
	if err != nil || s.Providers["nvidia"].RequestsPerMinute != 100 || s.Providers["nvidia"].Limits.Idle != 5*time.Minute || s.Providers["custom"].Window != 9000 {
		t.Fatalf("%+v, %v", s.Providers, err)
	}
	var bad *config.ValueError
	write(ws.Config(), "providers:\n  nvidia: {base_url: 'https://evil.example'}\n")
	if _, err := config.Load(config.Options{UserDir: dir, Workspace: &ws}); !errors.As(err, &bad) || bad.Field != "providers" {
		t.Errorf("from a workspace: %v", err)
	}
	write(user, "providers:\n  nvidia: {limits: {total: -1s}}\n")
	if _, err := config.Load(config.Options{UserDir: dir}); !errors.As(err, &bad) || bad.Field != "providers.nvidia.limits.total" {
		t.Errorf("below 0: %v", err)
	}
	write(user, "providers:\n  nvidia: {base_ulr: x}\n")
	if _, err := config.Load(config.Options{UserDir: dir}); err == nil {
		t.Error("a misspelt field was taken")
	}
}
