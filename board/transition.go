package board

import (
	"time"

	"github.com/autonomy-team/autonomy"
)

// The transitions. Each takes a task as it stands and returns it as it shall stand; whether the move is allowed was
// decided before. docs/states.md draws them.
//
//	pending      claim     in_progress
//	in_progress  complete  completed
//	in_progress  release   pending                 uncounted
//	in_progress  fail      pending, failed         counted, failed at FailureLimit
//	in_progress  hold      pending and held
//	in_progress  reap      pending, held           death counted, held at DeathLimit
//	failed, held retry     pending                 clears what stood in the way
//	not finished cancel    cancelled
//	not finished assign    pending for the assignee

func (t Task) claimed(c Claim) Task {
	c.Assigned = t.Owner != "" && t.Owner == c.By
	t.Owner, t.Status = c.By, InProgress
	t.Attempt++
	t.Claim = &c
	t.NotBefore = time.Time{} // has passed, and would delay the next attempt's back-off for no reason
	t.UpdatedAt = c.At
	return t
}

// freed takes a task from its holder; one that had been assigned stays so.
func (t Task) freed(now time.Time) Task {
	if t.Claim == nil || !t.Claim.Assigned {
		t.Owner = ""
	}
	t.Status, t.Claim, t.UpdatedAt = Pending, nil, now
	return t
}

// survived resets the count of owners that died in a row: this attempt ended in another way.
func (t Task) survived() Task {
	if t.Failure == nil || t.Failure.Deaths == 0 {
		return t
	}
	f := *t.Failure
	f.Deaths = 0
	t.Failure = &f
	return t
}

func (t Task) completed(r Result, now time.Time) Task {
	if r.FinishedAt.IsZero() {
		r.FinishedAt = now
	}
	t = t.survived()
	t.Status, t.Claim, t.Held, t.Result, t.UpdatedAt = Completed, nil, nil, &r, now
	return t
}

func (t Task) released(now time.Time) Task { return t.survived().freed(now) }

func (t Task) failedWith(code, message string, now time.Time) Task {
	t = t.freed(now)
	f := Failure{Code: code, Message: message, Count: 1, At: now}
	if t.Failure != nil {
		f.Count += t.Failure.Count
	}
	t.Failure = &f
	if f.Count >= FailureLimit {
		t.Status = Failed
		return t
	}
	t.NotBefore = now.Add(RetryStep * time.Duration(f.Count))
	return t
}

func (t Task) heldFor(reason string, now time.Time) Task {
	t = t.released(now)
	t.Held = &Held{Reason: reason, At: now}
	return t
}

// reaped takes a task from an owner that died.
func (t Task) reaped(now time.Time) Task {
	by := t.Claim.By
	t = t.freed(now)
	f := Failure{Code: "died", Message: "the daemon of " + string(by) + " ended without giving the task back", Deaths: 1, At: now}
	if t.Failure != nil {
		f.Count, f.Deaths = t.Failure.Count, t.Failure.Deaths+1
	}
	t.Failure = &f
	if f.Deaths >= DeathLimit {
		t.Held = &Held{Reason: "its owner died too often", At: now}
	}
	return t
}

func (t Task) retried(now time.Time) Task {
	if t.Failure != nil {
		f := *t.Failure
		f.Count, f.Deaths = 0, 0
		t.Failure = &f
	}
	t.Status, t.Held, t.NotBefore, t.UpdatedAt = Pending, nil, time.Time{}, now
	return t
}

// normalised puts a claim in order that is no longer in force and behind which nothing runs any more. What a person
// decided stays; only what is left over of the claim goes.
func (t Task) normalised(now time.Time) Task {
	if t.Claim == nil {
		return t
	}
	if t.Status == InProgress {
		t.Status = Pending // for whoever is the owner now, or for anybody
	}
	t.Claim, t.UpdatedAt = nil, now
	return t
}

// InForce reports whether the claim in the file holds: the task is being worked by the one who claimed it.
func (t Task) InForce() bool {
	return t.Claim != nil && t.Status == InProgress && t.Owner == t.Claim.By
}

// lostReason says in words why ref is not, or no longer, in force; "" while it is.
func lostReason(t Task, ref Ref) string {
	switch {
	case t.Status != InProgress:
		return "status was set to " + string(t.Status)
	case t.Claim == nil:
		return "the claim was removed"
	case t.Claim.ID != ref.Claim:
		return "claimed anew by " + string(t.Claim.By)
	case t.Owner == "":
		return "owner was cleared"
	case t.Owner != t.Claim.By:
		return "owner was changed to " + string(t.Owner)
	}
	return ""
}

// stopping names the member behind a leftover claim: a person took the task, and that attempt may still run.
// "" when there is none. Claims by people have nothing that runs behind them.
func (t Task) stopping() autonomy.AgentName {
	if t.Claim == nil || t.Claim.Instance == "" || t.InForce() {
		return ""
	}
	return t.Claim.By
}
