package team

import "slices"

// Phase is what a member is doing.
type Phase string

// The phases; docs/states.md has a paragraph on each.
const (
	Starting        Phase = "starting"
	Working         Phase = "working"
	Idle            Phase = "idle"
	WaitingApproval Phase = "waiting_approval"
	Backoff         Phase = "backoff"
	Stopping        Phase = "stopping"
	Shutdown        Phase = "shutdown" // ended by itself or with the daemon; revived when there is work
	Stopped         Phase = "stopped"  // ended by a person; only a spawn brings it back
	Failed          Phase = "failed"   // ended by its panics; only a spawn brings it back
)

// nextPhases is the transition table. A phase that ends a life leads to Starting alone.
func nextPhases(from Phase) []Phase {
	switch from {
	case Starting:
		return []Phase{Working, Idle, Stopping, Backoff, Stopped, Failed}
	case Working:
		return []Phase{Idle, WaitingApproval, Backoff, Stopping, Failed}
	case WaitingApproval:
		return []Phase{Working, Idle, Backoff, Stopping, Failed}
	case Idle:
		return []Phase{Working, Backoff, Stopping, Shutdown, Failed}
	case Backoff:
		return []Phase{Idle, Working, Stopping, Failed}
	case Stopping:
		return []Phase{Shutdown, Stopped, Failed}
	case Shutdown:
		return []Phase{Starting, Stopped}
	case Stopped, Failed:
		return []Phase{Starting}
	}
	return nil
}

// CanMove reports whether a member may go from one phase to another.
func CanMove(from, to Phase) bool { return slices.Contains(nextPhases(from), to) }

// Live reports whether a member in this phase has a goroutine.
func (p Phase) Live() bool {
	switch p {
	case Shutdown, Stopped, Failed:
		return false
	}
	return p != ""
}
