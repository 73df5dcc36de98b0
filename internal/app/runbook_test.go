package app

import (
	"context"
	"testing"

	"github.com/autonomy-team/autonomy/agent/action"
)

// checked is an Executor that allows everything and has seen what the test says.
type checked struct{ seen action.Observation }

func (c checked) Assess(a action.Action) action.Action { return a }

func (c checked) Admit(_ context.Context, a action.Action) (action.Admission, error) {
	if !a.Direct {
		return action.Admission{Decision: action.Deny, Reason: "nobody's command"}, nil
	}
	return action.Admission{Decision: action.Allow}, nil
}

func (c checked) Execute(context.Context, action.Action, action.Admission) (action.Observation, error) {
	return c.seen, nil
}

func TestVerifyPassesByItsExitStatusAlone(t *testing.T) {
	zero, three := 0, 3
	for name, tc := range map[string]struct {
		seen action.Observation
		ok   bool
		exit int
	}{
		"passed":               {action.Observation{Status: action.OK, Exit: &zero}, true, 0},
		"failed":               {action.Observation{Status: action.Failed, Exit: &three}, false, 3},
		"cut off after exit 0": {action.Observation{Status: action.Failed, Exit: &zero}, false, 0},
		"stopped":              {action.Observation{Status: action.Aborted, Exit: &zero}, false, 0},
		"without a word":       {action.Observation{Status: action.OK}, false, 1},
	} {
		ok, exit, _, err := verifier(checked{tc.seen}, "make test")(t.Context())
		if ok != tc.ok || exit != tc.exit || err != nil {
			t.Errorf("%s: %v, exit %d, %v", name, ok, exit, err)
		}
	}
	if verifier(checked{}, "") != nil {
		t.Error("there is something to verify where nothing is said")
	}
}
