// Package runbook offers the steps that a task spells out, one certain path at a time, and after the last the claim that
// the task is done.
package runbook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
)

// Book is the runbook of one attempt. Every attempt starts at its first step. It is safe for concurrent use.
type Book struct {
	steps []action.Action
}

// New makes a runbook of a task's steps: actions of which Tool, Arguments and, as far as the task says so, Name,
// Timeout and Expect are set. A step without a tool or with arguments that are no JSON object is an error that names
// the step.
func New(steps []action.Action) (*Book, error) {
	b := &Book{steps: make([]action.Action, len(steps))}
	for i, s := range steps {
		if s.Name == "" {
			s.Name = fmt.Sprintf("step %d", i+1)
		}
		if s.Tool == "" {
			return nil, fmt.Errorf("runbook %s: no tool", s.Name)
		}
		if len(s.Arguments) == 0 {
			s.Arguments = json.RawMessage("{}")
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(s.Arguments, &object); err != nil || object == nil {
			return nil, fmt.Errorf("runbook %s: the arguments are no JSON object", s.Name)
		}
		s.Call = fmt.Sprintf("step-%d", i+1)
		s.Direct = true
		if s.Purpose == "" {
			s.Purpose = fmt.Sprintf("step %d of %d", i+1, len(steps))
		}
		b.steps[i] = s
	}
	return b, nil
}

// Propose gives the next step as a certain path; after the last one, the completion claim. After a failed step or a
// refused claim it has nothing more to say in this attempt.
func (b *Book) Propose(_ context.Context, s agent.State) ([]action.Path, error) {
	if len(b.steps) == 0 || s.Uncertain {
		return nil, nil
	}
	path := action.Path{Source: action.FromRunbook, Certain: true}
	if s.Steps < len(b.steps) {
		path.Actions = []action.Action{b.steps[s.Steps]}
	} else {
		path.Text = "The step is done."
		if n := len(b.steps); n > 1 {
			path.Text = fmt.Sprintf("All %d steps are done.", n)
		}
		path.Actions = []action.Action{{Call: "claim", Tool: action.ClaimTool, Claim: true}}
	}
	return []action.Path{path}, nil
}

// Brief tells the model which steps are left when the runbook's certainty has ended.
func (b *Book) Brief(s agent.State) string {
	if len(b.steps) == 0 || !s.Uncertain {
		return ""
	}
	if s.Steps >= len(b.steps) {
		return "All steps of the runbook ran, but the result was not accepted. Find out why and put it right."
	}
	var out strings.Builder
	out.WriteString("A step of the runbook could not be done. Put it right and do what is left:\n")
	for _, step := range b.steps[s.Steps:] {
		fmt.Fprintf(&out, "- %s: %s %s\n", step.Name, step.Tool, step.Arguments)
	}
	return out.String()
}
