package app

import (
	"slices"
	"testing"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/team"
)

func TestRoleNarrowsAndNeverWidens(t *testing.T) {
	usual := []string{"file", "search", "terminal", "team"}
	tests := []struct {
		name string
		role role
		spec team.Spec
		mode string
		sets []string
	}{
		{"no file", role{}, team.Spec{Mode: "ask"}, "ask", nil},
		{"stricter mode", role{Mode: "read-only"}, team.Spec{Mode: "auto"}, "read-only", nil},
		{"wider mode", role{Mode: "full"}, team.Spec{Mode: "ask"}, "ask", nil},
		{"fewer toolsets", role{Toolsets: []string{"file", "browser"}}, team.Spec{}, "", []string{"file", "team"}},
		{"of those asked for", role{Toolsets: []string{"file"}}, team.Spec{Toolsets: []string{"terminal"}}, "", []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.role.narrow(tt.spec, usual)
			if got.Mode != tt.mode || !slices.Equal(got.Toolsets, tt.sets) {
				t.Errorf("mode %q, toolsets %v; want %q, %v", got.Mode, got.Toolsets, tt.mode, tt.sets)
			}
		})
	}
	chosen := role{Provider: "ollama", Model: "small"}.narrow(team.Spec{Provider: "custom", Model: "mine"}, usual)
	if chosen.Model != "mine" {
		t.Errorf("the role's model replaced a chosen one: %+v", chosen)
	}
}

func TestRoleFileActsOnlyWhenAccepted(t *testing.T) {
	p := newPlace(t)
	p.write(t, ".autonomy/roles/coder.md", "---\nmode: read-only\n---\nBe careful.\n")
	r, err := p.roleOf("coder")
	if err != nil || r.Mode != "" {
		t.Errorf("a file nobody has seen: %+v, %v", r, err)
	}
	if err := p.Trust(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err = p.roleOf("coder"); err != nil || r.Mode != "read-only" || r.charge != "Be careful.\n" {
		t.Errorf("accepted: %+v, %v", r, err)
	}
	for _, name := range []string{"../coder", "a/b", "", "coder.md"} {
		if r, err := p.roleOf(autonomy.Role(name)); err != nil || r.Mode != "" {
			t.Errorf("role %q: %+v, %v", name, r, err)
		}
	}
}

func TestModeOfAMemberIsTheNarrower(t *testing.T) {
	for _, tt := range [][3]string{{"", "auto", "auto"}, {"ask", "auto", "ask"}, {"auto", "ask", "ask"}, {"auto", "full", "auto"}, {"", "full", "full"}} {
		if got := stricter(tt[0], tt[1]); got != tt[2] {
			t.Errorf("stricter(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}
