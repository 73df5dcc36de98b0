package daemon

import (
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/trust"
)

// trust agrees to the workspace as a person would.
func (s *site) trust() {
	s.t.Helper()
	store, err := trust.Open(config.TrustFile(s.user))
	if err != nil {
		s.t.Fatal(err)
	}
	seen, err := store.Show(s.t.Context(), s.ws)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := store.Trust(s.t.Context(), seen); err != nil {
		s.t.Fatal(err)
	}
}
