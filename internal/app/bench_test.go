package app

import (
	"testing"

	"github.com/autonomy-team/autonomy/team"
)

func BenchmarkToolNames(b *testing.B) {
	p := newPlace(b)
	for b.Loop() {
		p.ToolNames(team.Spec{Name: "a"})
	}
}

// What a run pays for its tools before anything is done.
func BenchmarkRegistryOfARun(b *testing.B) {
	p := newPlace(b)
	set, err := p.Settings()
	if err != nil {
		b.Fatal(err)
	}
	w, err := p.Workshop(set)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for b.Loop() {
		processes, err := w.box.processes(nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.registry(team.Spec{Name: "a"}, &shift{shop: w, processes: processes}); err != nil {
			b.Fatal(err)
		}
		processes.Close(b.Context())
	}
}
