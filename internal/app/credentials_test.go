package app

import (
	"testing"

	"github.com/autonomy-team/autonomy/team"
)

// The roster lies in the workspace, so no URL in it may carry a password: neither one that is asked for nor the person's
// own.
func TestNoPasswordReachesTheRoster(t *testing.T) {
	const secret = "http://me:hunter2@127.0.0.1:9/v1"
	p := newPlace(t)
	set, err := p.Settings()
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.Workshop(set)
	if err != nil {
		t.Fatal(err)
	}
	spec := team.Spec{Name: "alice", Role: "coder", Provider: "custom", Model: "m", BaseURL: secret}
	defer w.Close()
	if got, err := w.Resolve(t.Context(), spec); err == nil {
		t.Errorf("asked for: accepted as %+v", got)
	}
	p.env["AUTONOMY_PROVIDER"], p.env["AUTONOMY_MODEL"], p.env["AUTONOMY_BASE_URL"] = "custom", "m", secret
	spec.BaseURL = ""
	got, err := w.Resolve(t.Context(), spec)
	if err != nil || got.BaseURL != "" {
		t.Errorf("the person's own: %q, %v", got.BaseURL, err)
	}
	if e, err := p.memberEndpoint(choiceOf(got)); err != nil || e.BaseURL != secret {
		t.Errorf("a request goes to %q, %v", e.ShownURL(), err)
	}
}
