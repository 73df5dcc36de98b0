package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/trust"
)

func (a *App) openTrust() (*trust.Store, error) {
	dir, err := a.userDir()
	if err != nil {
		return nil, fmt.Errorf("find the user's trust decisions: %w", err)
	}
	return trust.Open(config.TrustFile(dir))
}

// trustNow is what a person's consent covers at this moment. What can't be told counts as untrusted.
func (a *App) trustNow() trust.State {
	store, err := a.consent()
	if err != nil {
		return trust.State{Why: "untrusted: " + err.Error()}
	}
	state, err := store.Check(a.ws)
	if err != nil {
		return trust.State{Why: "untrusted: " + err.Error()}
	}
	return state
}

// trusted reports whether a person's commands in this workspace count as such.
func (a *App) trusted() bool { return a.trustNow().Trusted }

// acts reports whether a file of the workspace, such as its settings or a role, was accepted as it is now.
func (a *App) acts(path string) bool {
	rel, err := filepath.Rel(a.ws.Root, path)
	return err == nil && a.trustNow().Acts(rel)
}

// TrustState says whether the workspace may act, and which of its files are inert because they changed.
func (a *App) TrustState(context.Context) control.Trust {
	state := a.trustNow()
	t := control.Trust{Trusted: state.Trusted, Why: state.Why}
	if len(state.Changed) > 0 {
		t.Why = "without effect until 'autonomy trust': " + strings.Join(state.Changed, ", ")
	}
	return t
}

// ShowTrust lists what the workspace would bring.
func (a *App) ShowTrust(ctx context.Context) (trust.Listing, error) {
	store, err := a.consent()
	if err != nil {
		return trust.Listing{}, err
	}
	return store.Show(ctx, a.ws)
}

// Accept records a person's consent to exactly what was listed.
func (a *App) Accept(ctx context.Context, listing trust.Listing) error {
	store, err := a.consent()
	if err != nil {
		return err
	}
	return store.Trust(ctx, listing)
}

// Revoke takes a person's consent back.
func (a *App) Revoke(ctx context.Context) error {
	store, err := a.consent()
	if err != nil {
		return err
	}
	return store.Revoke(ctx, a.ws)
}

// Trust accepts the workspace as it lies there now.
func (a *App) Trust(ctx context.Context) error {
	listing, err := a.ShowTrust(ctx)
	if err != nil {
		return err
	}
	return a.Accept(ctx, listing)
}
