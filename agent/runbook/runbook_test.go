package runbook_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/runbook"
)

func book(t *testing.T) *runbook.Book {
	t.Helper()
	b, err := runbook.New([]action.Action{
		{Tool: "bash", Arguments: json.RawMessage(`{"command":"make"}`)},
		{Name: "look", Tool: "read_file"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPropose(t *testing.T) {
	tests := []struct {
		name  string
		state agent.State
		want  string // name of the step, "claim", or "" for nothing
	}{
		{"begins at the first step", agent.State{}, "step 1"},
		{"goes on where it is, whatever else was done", agent.State{Steps: 1, Position: 9}, "look"},
		{"claims after the last", agent.State{Steps: 2}, "claim"},
		{"says nothing after a failure", agent.State{Steps: 1, Uncertain: true}, ""},
		{"says nothing after a refused claim", agent.State{Steps: 2, Uncertain: true}, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			paths, err := book(t).Propose(context.Background(), tc.state)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(paths) == 1 && len(paths[0].Actions) == 1 && paths[0].Certain && paths[0].Source == action.FromRunbook {
				if got = paths[0].Actions[0].Name; paths[0].Actions[0].Claim {
					got = "claim"
				}
			}
			if got != tc.want || len(paths) > 1 {
				t.Errorf("got %q of %+v, want %q", got, paths, tc.want)
			}
		})
	}
}

func TestStepsAreTheTasksOwnWords(t *testing.T) {
	paths, _ := book(t).Propose(context.Background(), agent.State{Steps: 1})
	if a := paths[0].Actions[0]; !a.Direct || string(a.Arguments) != "{}" || a.Call != "step-2" {
		t.Errorf("step %+v", a)
	}
}

func TestEmptyBookSaysNothing(t *testing.T) {
	b, err := runbook.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if paths, err := b.Propose(context.Background(), agent.State{}); err != nil || paths != nil || b.Brief(agent.State{Uncertain: true}) != "" {
		t.Errorf("got %v, %v", paths, err)
	}
}

func TestBriefNamesWhatIsLeft(t *testing.T) {
	b := book(t)
	if got := b.Brief(agent.State{Steps: 1, Uncertain: true}); !strings.Contains(got, "look: read_file") || strings.Contains(got, "make") {
		t.Errorf("got %q", got)
	}
	if got := b.Brief(agent.State{Steps: 2, Uncertain: true}); !strings.Contains(got, "not accepted") {
		t.Errorf("got %q", got)
	}
	if got := b.Brief(agent.State{Steps: 1}); got != "" {
		t.Errorf("got %q while all is certain", got)
	}
}

func TestBadStepsAreNamed(t *testing.T) {
	for name, step := range map[string]action.Action{
		"no tool": {Arguments: json.RawMessage(`{}`)}, "no JSON": {Tool: "bash", Arguments: json.RawMessage(`{`)},
		"a list": {Tool: "bash", Arguments: json.RawMessage(`[]`)}, "null": {Tool: "bash", Arguments: json.RawMessage(`null`)},
	} {
		if _, err := runbook.New([]action.Action{{Tool: "x"}, step}); err == nil || !strings.Contains(err.Error(), "step 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
