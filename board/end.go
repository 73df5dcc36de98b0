package board

import (
	"time"

	"github.com/autonomy-team/autonomy"
)

// Ref names one claim of one task. Whoever holds another claim id does not own the task any more.
type Ref struct {
	ID    autonomy.TaskID
	Claim autonomy.ClaimID
}

// Ref returns the claim in the task's file; its Claim is "" when there is none.
func (t Task) Ref() Ref {
	if t.Claim == nil {
		return Ref{ID: t.ID}
	}
	return Ref{ID: t.ID, Claim: t.Claim.ID}
}

// End is how an attempt ends: Complete, Release, Fail or Hold.
type End interface{ end() }

// Complete accepts the work. FinishedAt defaults to now.
type Complete struct{ Result Result }

// Release gives the task back uncounted: the member was stopped, or its provider is in trouble. The reason is for the
// caller's log; the file does not keep it.
type Release struct{ Reason string }

// Fail gives the task back counted: it is not claimable for 30 s × the count, and at three it has failed for good. A
// stall is a Fail with code "stalled".
type Fail struct{ Code, Message string }

// Hold gives the task back and lets it wait for a person.
type Hold struct{ Reason string }

func (Complete) end() {}
func (Release) end()  {}
func (Fail) end()     {}
func (Hold) end()     {}

// The rules of what counts.
const (
	FailureLimit = 3                // failed attempts until a task has failed for good
	DeathLimit   = 5                // owners that died in a row until a task is held for a person
	RetryStep    = 30 * time.Second // back-off per failed attempt
)
