package app

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/config"
)

// InitOptions are the flags of `init`.
type InitOptions struct {
	Examples bool                // copy the example board
	Getenv   func(string) string // nil = os.Getenv
	UserDir  string              // "" = by XDG rules
}

// Initialised says what Init did.
type Initialised struct {
	config.Made
	Workspace config.Workspace
	Trusted   bool // false: what lies there waits for `autonomy trust`
}

// Init makes dir, which is created if need be, a workspace. It trusts it only when the state folders were absent or
// empty, so that nobody else's files can act.
func Init(ctx context.Context, dir string, o InitOptions) (Initialised, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Initialised{}, fmt.Errorf("init: %w", err)
	}
	var examples fs.FS
	if o.Examples {
		var err error
		if examples, err = fs.Sub(autonomy.Examples, ".tasks.example"); err != nil {
			return Initialised{}, fmt.Errorf("init: %w", err)
		}
	}
	ws, made, err := config.Init(dir, examples)
	if err != nil {
		return Initialised{}, err
	}
	done := Initialised{Made: made, Workspace: ws}
	a, err := Open(ctx, Options{Workspace: ws, Getenv: o.Getenv, UserDir: o.UserDir})
	if err != nil {
		return done, err
	}
	if made.Fresh {
		if err := a.Trust(ctx); err != nil {
			return done, err
		}
	}
	done.Trusted = a.TrustState(ctx).Trusted
	return done, nil
}
