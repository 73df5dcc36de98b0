package board

import (
	"slices"

	"github.com/autonomy-team/autonomy"
)

// Claimant is a member who looks for work.
type Claimant struct {
	Name     autonomy.AgentName
	Role     autonomy.Role
	Tools    []string // names of the toolsets and tools that it has
	Model    bool     // it can work a task without steps
	Instance autonomy.InstanceID
	Peers    []Claimant // the other members, live or revivable; their Peers and Instance are not looked at
}

// Eligible says whether a member may take a task, were it ready, and if not, why. It looks only at the fields that
// make up a task's class, so that one answer holds for every task of the class.
func Eligible(t Task, who Claimant) (ok bool, reason string) {
	if reason := mayTake(t, who); reason != "" {
		return false, reason
	}
	switch {
	case who.Model:
		return true, ""
	case len(t.Steps) == 0:
		return false, "needs a model"
	case t.failed():
		for _, peer := range who.Peers {
			if peer.Model && mayTake(t, peer) == "" {
				return false, "left to " + string(peer.Name) + ", who has a model"
			}
		}
	}
	return true, ""
}

// failed reports whether the steps of the task failed since a person last looked at it.
func (t Task) failed() bool { return t.Failure != nil && t.Failure.Count > 0 }

// mayTake answers owner, role, tools and worktree, everything but who can do the work. "" means yes.
func mayTake(t Task, who Claimant) string {
	if t.Owner != "" && t.Owner != who.Name {
		return "assigned to " + string(t.Owner)
	}
	if t.Role != "" && t.Role != who.Role {
		return "wants role " + string(t.Role)
	}
	for _, name := range t.Requires {
		if !slices.Contains(who.Tools, name) {
			return "requires " + name + ", which " + string(who.Name) + " lacks"
		}
	}
	if t.Worktree {
		return "needs a worktree, which this version does not make"
	}
	return ""
}
