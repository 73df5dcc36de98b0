package team

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/autonomy-team/autonomy"
)

// Lead is the name of the member a person talks to. Only Supervisor.Lead makes it.
const Lead autonomy.AgentName = "lead"

// User is the name under which people read and send mail. It is never a member.
const User autonomy.AgentName = "user"

// All as a receiver stands for every member but the sender.
const All autonomy.AgentName = "all"

// supervisorName is reserved so that no member can pass for the program.
const supervisorName autonomy.AgentName = "supervisor"

// Spec is what a member is made from. It is what the roster keeps; it never holds a key.
type Spec struct {
	Name        autonomy.AgentName `json:"name"`
	Role        autonomy.Role      `json:"role"`
	Prompt      string             `json:"prompt,omitempty"` // worked first; "" = look at the board. Cleared once it is in the transcript
	Provider    string             `json:"provider,omitempty"`
	Model       string             `json:"model,omitempty"` // "" = no model: runbooks only
	BaseURL     string             `json:"base_url,omitempty"`
	Toolsets    []string           `json:"toolsets,omitempty"` // nil = the default toolsets
	Mode        string             `json:"mode,omitempty"`     // "" = the team's mode
	RequirePlan bool               `json:"require_plan,omitempty"`
	Worktree    bool               `json:"worktree,omitempty"`
	SpawnedBy   autonomy.AgentName `json:"spawned_by,omitempty"` // who gets the result of Prompt; "" = User
}

// HasModel reports whether the member can work what has no steps.
func (s Spec) HasModel() bool { return s.Model != "" }

// Desired is what a person wants of a member, and all that the roster says about its state.
type Desired string

// The wanted states.
const (
	Running   Desired = "running"
	NotWanted Desired = "stopped"
)

// Enrolled is one entry of the roster.
type Enrolled struct {
	Spec
	Desired Desired `json:"desired"`
}

var nameGrammar = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// CheckName says whether a member may be called so; a *NameError says why not. The grammar has no capitals, which is
// what makes names unique ignoring case.
func CheckName(name autonomy.AgentName) error {
	switch {
	case slices.Contains([]autonomy.AgentName{Lead, All, User, supervisorName}, name):
		return &NameError{Name: name, Reason: "the name is reserved"}
	case !nameGrammar.MatchString(string(name)):
		return &NameError{Name: name, Reason: fmt.Sprintf("want lower-case letters, digits, _ and -, a letter first, at most 32 (%s)", nameGrammar)}
	}
	return nil
}
