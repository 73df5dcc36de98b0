package app

import (
	"testing"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/team"
)

// TestFixedPartOfARequestIsSmall holds what every request of a coder repeats to its bound: 4 kB of prompt and 10 kB of
// names, descriptions and schemas.
func TestFixedPartOfARequestIsSmall(t *testing.T) {
	p := newPlace(t)
	set, err := p.Settings()
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.Workshop(set)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, name := range []autonomy.AgentName{"alice", team.Lead} {
		spec := team.Spec{Name: name, Role: "coder", Provider: "custom", Model: "scripted"}
		head := w.head(spec)
		size := 0
		for _, tool := range head.Tools {
			size += len(tool.Name) + len(tool.Description) + len(tool.Schema)
		}
		t.Logf("%s: %d bytes of prompt, %d tools in %d bytes", name, len(head.System), len(head.Tools), size)
		if len(head.Tools) == 0 || len(head.System) > 4<<10 || name != team.Lead && size > 10<<10 {
			t.Errorf("%s: %d bytes of prompt, %d tools in %d bytes", name, len(head.System), len(head.Tools), size)
		}
	}
}
