package app

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/sandbox"
)

// TestMain lets the test binary be the launcher of commands.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "__sandbox" {
		os.Exit(sandbox.Main(context.Background()))
	}
	goleak.VerifyTestMain(m)
}

// place is an App on a fresh, trusted workspace, with an environment of its own.
type place struct {
	*App
	ws      config.Workspace
	env     map[string]string
	notices []Notice
}

func newPlace(t testing.TB) *place {
	t.Helper()
	root := filepath.Join(t.TempDir(), "ws")
	p := &place{env: map[string]string{}}
	user := t.TempDir()
	done, err := Init(t.Context(), root, InitOptions{Getenv: p.getenv, UserDir: user})
	if err != nil {
		t.Fatal(err)
	}
	p.ws = done.Workspace
	p.open(t, user)
	return p
}

func (p *place) open(t testing.TB, user string) {
	t.Helper()
	var err error
	p.App, err = Open(t.Context(), Options{
		Workspace: p.ws, Getenv: p.getenv, UserDir: user, Report: func(n Notice) { p.notices = append(p.notices, n) },
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (p *place) getenv(name string) string { return p.env[name] }

func (p *place) write(t *testing.T, rel, text string) {
	t.Helper()
	path := filepath.Join(p.ws.Root, rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
