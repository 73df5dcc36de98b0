package board

import (
	"context"
	"errors"
	"time"

	"github.com/autonomy-team/autonomy"
)

// The verbs of people. Each is a compare-and-swap under the side lock and needs no daemon. A task that a live member
// works is taken from it: the file keeps the claim, so that the daemon sees whose attempt to stop, and the task is
// offered to others when that has stopped.

// ClaimByPerson lets a person take a task, whatever its role, tools or back-off ask for. People may own many tasks;
// their claims carry no instance and are never reaped.
func (d *Dir) ClaimByPerson(ctx context.Context, id autonomy.TaskID, name autonomy.AgentName) (Task, error) {
	if name == "" {
		return Task{}, errors.New("claim: whose claim? a name is needed")
	}
	return d.byPerson(ctx, id, true, func(t Task, _ bool) (Task, error) {
		if err := d.claimableByPerson(t, name); err != nil {
			return Task{}, err
		}
		return t.claimed(Claim{ID: newClaimID(), By: name, At: d.now()}), nil
	})
}

// claimableByPerson is claimable without what only concerns members. A leftover claim stands in the way while its
// daemon lives.
func (d *Dir) claimableByPerson(t Task, name autonomy.AgentName) error {
	dead := t.stopping() != "" && !d.alive(t.Claim.Instance)
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.index.records[t.ID]
	if r == nil {
		return &NotFoundError{ID: t.ID}
	}
	facts := r.facts
	facts.Refused = ""
	if dead && d.attempts[t.ID] == nil {
		facts.Stopping = ""
	}
	if ready := Ready(t, facts, &d.index.graph, t.NotBefore); !ready.Ready {
		return refusal(t, ready)
	}
	if t.Owner != "" && t.Owner != name {
		return &IneligibleError{ID: t.ID, Name: name, Reason: "assigned to " + string(t.Owner)}
	}
	return nil
}

// Complete is a person's word that the work is done. It is refused while a blocker is not completed.
func (d *Dir) Complete(ctx context.Context, id autonomy.TaskID, result Result) (Task, error) {
	return d.byPerson(ctx, id, true, func(t Task, live bool) (Task, error) {
		if t.Status != Pending && t.Status != InProgress {
			return Task{}, wrongStatus(t, "complete")
		}
		d.mu.Lock()
		err := d.unblocked(t)
		d.mu.Unlock()
		if err != nil {
			return Task{}, err
		}
		return t.completed(result, d.now()).keeping(t, live), nil
	})
}

// Release gives a task in progress back, uncounted.
func (d *Dir) Release(ctx context.Context, id autonomy.TaskID) (Task, error) {
	return d.byPerson(ctx, id, false, func(t Task, live bool) (Task, error) {
		if t.Status != InProgress {
			return Task{}, wrongStatus(t, "release")
		}
		return t.released(d.now()).keeping(t, live), nil
	})
}

// Retry lets a task be claimed again at once that failed, is held, or waits after a failed attempt, and forgets how often
// it failed.
func (d *Dir) Retry(ctx context.Context, id autonomy.TaskID) (Task, error) {
	return d.byPerson(ctx, id, false, func(t Task, _ bool) (Task, error) {
		waits := t.Status == Pending && (t.Held != nil || t.Failure != nil && t.Failure.Count > 0)
		if t.Status != Failed && !waits {
			return Task{}, &StateError{ID: t.ID, Verb: "retry", Why: "it has not failed and is not held"}
		}
		return t.retried(d.now()), nil
	})
}

// Cancel says that the task will not be worked. What waits for it has a dead dependency.
func (d *Dir) Cancel(ctx context.Context, id autonomy.TaskID) (Task, error) {
	return d.byPerson(ctx, id, false, func(t Task, live bool) (Task, error) {
		if t.Status == Completed || t.Status == Cancelled {
			return Task{}, wrongStatus(t, "cancel")
		}
		before := t
		t.Status, t.Claim, t.UpdatedAt = Cancelled, nil, d.now()
		return t.keeping(before, live), nil
	})
}

// Assign lets only one member claim the task; the empty name frees it for all. A task in progress is taken from
// whoever works it, unless that is the assignee.
func (d *Dir) Assign(ctx context.Context, id autonomy.TaskID, name autonomy.AgentName) (Task, error) {
	return d.byPerson(ctx, id, false, func(t Task, live bool) (Task, error) {
		switch {
		case t.Status != Pending && t.Status != InProgress:
			return Task{}, wrongStatus(t, "assign")
		case t.Owner == name:
			return t, nil
		}
		before := t
		t.Status, t.Owner, t.Claim, t.UpdatedAt = Pending, name, nil, d.now()
		return t.keeping(before, live), nil
	})
}

// byPerson carries out a verb. change hears whether the daemon behind the task's claim lives.
func (d *Dir) byPerson(ctx context.Context, id autonomy.TaskID, blockers bool, change func(t Task, live bool) (Task, error)) (Task, error) {
	defer d.deliver()
	if err := d.load(ctx); err != nil {
		return Task{}, err
	}
	return d.do(ctx, swap{
		id:       id,
		blockers: blockers,
		durable:  true,
		change: func(t Task) (Task, error) {
			live := t.Claim != nil && t.Claim.Instance != "" && d.alive(t.Claim.Instance)
			return change(t, live)
		},
	})
}

// keeping leaves the claim of a live member in place when the task is taken from it.
func (t Task) keeping(before Task, live bool) Task {
	if live {
		t.Claim = before.Claim
	}
	return t
}

func wrongStatus(t Task, verb string) error {
	return &StateError{ID: t.ID, Verb: verb, Why: "it is " + string(t.Status)}
}

// Edit changes fields that people own. A member who works the task goes on with it. Blockers must exist and may make no
// ring.
func (d *Dir) Edit(ctx context.Context, id autonomy.TaskID, patch Patch) (Task, error) {
	task, err := d.byPerson(ctx, id, false, func(t Task, _ bool) (Task, error) {
		if patch.BlockedBy != nil {
			if err := d.checkBlockers(id, *patch.BlockedBy); err != nil {
				return Task{}, err
			}
		}
		return patch.apply(t, d.now()), nil
	})
	if err == nil && d.cfg.Gate != nil {
		d.look(id, passHint) // the gate judges what people's fields say now
	}
	return task, err
}

func (p Patch) apply(t Task, now time.Time) Task {
	if p.Subject != nil {
		t.Subject = *p.Subject
	}
	if p.Description != nil {
		t.Description = *p.Description
	}
	if p.Priority != nil {
		t.Priority = *p.Priority
	}
	if p.BlockedBy != nil {
		t.BlockedBy = *p.BlockedBy
	}
	if p.Metadata != nil {
		t.Metadata = p.Metadata
	}
	t.UpdatedAt = now
	return t
}

// checkBlockers refuses blockers that are unknown, the task itself, or part of a ring.
func (d *Dir) checkBlockers(id autonomy.TaskID, blockers []autonomy.TaskID) error {
	d.acquaint(blockers)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range blockers {
		if b == id {
			return &BlockerError{Blocker: b, Reason: "a task cannot wait for itself"}
		}
		if d.index.graph.State(b) == StateMissing {
			return &BlockerError{Blocker: b, Reason: "there is no such task"}
		}
	}
	if ring := d.index.graph.Ring(id, blockers); ring != nil {
		return &BlockerError{Blocker: ring[1], Reason: "that would make a cycle: " + arrows(ring)}
	}
	return nil
}

// acquaint looks for tasks, on the board and in the archive, that the snapshot does not know.
func (d *Dir) acquaint(ids []autonomy.TaskID) {
	for _, id := range ids {
		d.mu.Lock()
		state := d.index.graph.State(id)
		d.mu.Unlock()
		if state != StateMissing || id < 1 {
			continue
		}
		if s := d.look(id, passHint); s.gone() {
			state := d.archived(id)
			d.mu.Lock()
			d.index.archive(id, state, d.cfg.Now())
			d.mu.Unlock()
		}
	}
}
