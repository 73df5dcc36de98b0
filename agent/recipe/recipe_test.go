package recipe_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/recipe"
)

// shelf is a Store in memory.
type shelf struct{ data []byte }

func (s *shelf) Read() ([]byte, error) { return s.data, nil }

func (s *shelf) Update(edit func([]byte) ([]byte, error)) error {
	data, err := edit(s.data)
	if err == nil {
		s.data = data
	}
	return err
}

func engine(t *testing.T, s *shelf, unasked bool) *recipe.Engine {
	t.Helper()
	e, err := recipe.New(recipe.Config{Store: s, Unasked: func(action.Action) bool { return unasked }})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func did(position int, tool, args string) agent.Done {
	return agent.Done{Position: position, Action: action.Action{
		Tool: tool, Arguments: json.RawMessage(args), Fingerprint: action.Fingerprint(tool, json.RawMessage(args)),
	}}
}

var claim = agent.Done{Position: 1, Action: action.Action{Tool: action.ClaimTool, Claim: true, Fingerprint: action.ClaimFingerprint()}}

func at(goal agent.Goal, position int) agent.State {
	return agent.State{Goal: goal, Position: position}
}

func propose(t *testing.T, e *recipe.Engine, s agent.State) []action.Path {
	t.Helper()
	paths, err := e.Propose(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestPromotionAtTheSecondRun(t *testing.T) {
	goal := agent.Goal{Kind: agent.KindTask, Subject: "Build  it"}
	same := agent.Goal{Kind: agent.KindTask, Subject: "build it"}
	other := agent.Goal{Kind: agent.KindTask, Subject: "build it", Verify: "true"}
	s := &shelf{}
	for n := 1; n <= 3; n++ {
		learned, err := engine(t, s, false).Achieved(goal.Fingerprint(), []agent.Done{did(0, "bash", `{"command":"make"}`), did(0, "bash", `{ "command":"make"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if want := n == 2; (len(learned) == 1) != want {
			t.Fatalf("run %d learned %v", n, learned)
		}
		paths := propose(t, engine(t, s, false), at(same, 0))
		if n == 1 && len(paths) != 0 {
			t.Fatalf("offered after one run: %v", paths)
		}
		if n > 1 && (len(paths) != 1 || paths[0].Certain || paths[0].Evidence != n || paths[0].Source != action.FromRecipe) {
			t.Fatalf("run %d: offered %+v", n, paths)
		}
	}
	if paths := propose(t, engine(t, s, false), at(other, 0)); len(paths) != 0 {
		t.Errorf("offered for another goal: %v", paths)
	}
	if paths := propose(t, engine(t, s, false), at(same, 1)); len(paths) != 0 {
		t.Errorf("offered at another position: %v", paths)
	}
	paths := propose(t, engine(t, s, false), at(same, 0))
	paths[0].Evidence = 2
	paths[0].Actions[0].Risk = action.Low
	if got := action.Rate(paths[0], action.Facts{}).Total; got != 0.16 {
		t.Errorf("score %v, want 0.16", got)
	}
}

func TestActiveSparesTheModel(t *testing.T) {
	s := &shelf{}
	verified := agent.Goal{Kind: agent.KindTask, Subject: "s", Verify: "true"}
	plain := agent.Goal{Kind: agent.KindTask, Subject: "s"}
	for range 2 {
		for _, g := range []agent.Goal{verified, plain} {
			if _, err := engine(t, s, true).Achieved(g.Fingerprint(), []agent.Done{did(0, "bash", `{}`), claim}); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name    string
		state   agent.State
		certain bool
		paths   int
	}{
		{"action", at(plain, 0), true, 1},
		{"claim that verify decides", at(verified, 1), true, 1},
		{"claim that nothing decides", at(plain, 1), false, 1},
		{"after a deviation", agent.State{Goal: plain, Deviated: true}, false, 0},
		{"mail", at(agent.Goal{Kind: agent.KindMail, Subject: "s"}, 0), false, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			paths := propose(t, engine(t, s, true), tc.state)
			if len(paths) != tc.paths || (tc.paths > 0 && paths[0].Certain != tc.certain) {
				t.Errorf("offered %+v", paths)
			}
		})
	}
}

func TestTwoActiveRecipesAreNotCertain(t *testing.T) {
	s, g := &shelf{}, agent.Goal{Kind: agent.KindRun, Subject: "s"}
	for range 2 {
		_, _ = engine(t, s, true).Achieved(g.Fingerprint(), []agent.Done{did(0, "a", `{}`)})
		_, _ = engine(t, s, true).Achieved(g.Fingerprint(), []agent.Done{did(0, "b", `{}`)})
	}
	for _, p := range propose(t, engine(t, s, true), at(g, 0)) {
		if p.Certain {
			t.Error("certain although there are two")
		}
	}
}

func TestStatesByHand(t *testing.T) {
	s, g := &shelf{}, agent.Goal{Kind: agent.KindRun, Subject: "s"}
	run := func() { _, _ = engine(t, s, true).Achieved(g.Fingerprint(), []agent.Done{did(0, "a", `{}`)}) }
	run()
	list, _ := recipe.Parse(s.data)
	if _, err := recipe.SetState(s.data, list[0].ID, recipe.Active); err == nil {
		t.Error("activated after one run")
	}
	data, err := recipe.SetState(s.data, list[0].ID, recipe.Disabled)
	if err != nil {
		t.Fatal(err)
	}
	s.data = data
	run()
	run()
	if paths := propose(t, engine(t, s, true), at(g, 0)); len(paths) != 0 {
		t.Error("a disabled recipe came back")
	}
	if _, err := recipe.SetState(s.data, "nope", recipe.Active); !errors.Is(err, recipe.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestRedactedIsNeverLearned(t *testing.T) {
	s := &shelf{}
	d := did(0, "bash", `{"command":"curl -H [redacted]"}`)
	d.Action.Redacted = true
	for range 3 {
		_, _ = engine(t, s, true).Achieved("g", []agent.Done{d})
	}
	if list, _ := recipe.Parse(s.data); len(list) != 0 {
		t.Errorf("learned %v", list)
	}
}

func TestBadFileIsKept(t *testing.T) {
	for _, bad := range []string{`{`, `{"version":2}`, `[]`} {
		s := &shelf{data: []byte(bad)}
		e := engine(t, s, true)
		if _, err := e.Propose(context.Background(), at(agent.Goal{Kind: agent.KindRun}, 0)); err == nil {
			t.Errorf("%s: no error", bad)
		}
		if _, err := e.Achieved("g", []agent.Done{did(0, "a", `{}`)}); err == nil || string(s.data) != bad {
			t.Errorf("%s: overwritten by %s (%v)", bad, s.data, err)
		}
	}
}

func TestFileIsBounded(t *testing.T) {
	s := &shelf{}
	var done []agent.Done
	for i := range 5100 {
		done = append(done, did(i, "a", fmt.Sprintf(`{"n":%d}`, i)))
	}
	e := engine(t, s, false)
	_, _ = e.Achieved("g", done[:1])
	_, _ = e.Achieved("g", done)
	list, err := recipe.Parse(s.data)
	if err != nil || len(list) != 5000 {
		t.Fatalf("%d recipes, %v", len(list), err)
	}
	if !strings.Contains(string(s.data), `"state":"candidate"`) {
		t.Error("the only recipe was forgotten")
	}
}

// What was once a person's own word is nobody's when it is repeated.
func TestARecipeIsNobodysCommand(t *testing.T) {
	s := &shelf{}
	goal := agent.Goal{Kind: agent.KindRun, Subject: "build"}
	done := did(0, "bash", `{"command":"make"}`)
	done.Action.Direct = true
	for range recipe.Threshold {
		if _, err := engine(t, s, true).Achieved(goal.Fingerprint(), []agent.Done{done}); err != nil {
			t.Fatal(err)
		}
	}
	paths := propose(t, engine(t, s, true), at(goal, 0))
	if len(paths) != 1 || paths[0].Actions[0].Direct {
		t.Errorf("proposed %+v", paths)
	}
	other := goal
	other.Subject = "build something else"
	if paths := propose(t, engine(t, s, true), at(other, 0)); len(paths) != 0 {
		t.Errorf("proposed for another goal: %+v", paths)
	}
}
