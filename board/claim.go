package board

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/ulid"
)

// Claim takes one task for a member. The loser of a race gets a *ClaimedError that names the owner; other refusals are
// *NotReadyError, *IneligibleError, *HoldsError (a member holds one task at most), *NotFoundError and *InvalidError.
// When it returns nil the claim is in the file. Power loss may undo it, for then the claimant is gone too.
func (d *Dir) Claim(ctx context.Context, id autonomy.TaskID, who Claimant) (Task, error) {
	defer d.deliver()
	if err := d.load(ctx); err != nil {
		return Task{}, err
	}
	if err := d.begin(who); err != nil {
		return Task{}, err
	}
	defer d.end(who)
	return d.claim(ctx, id, who, nil)
}

// ClaimNext takes the best ready task that suits a member, ErrNothing if there is none. A candidate that another was
// faster to take costs one look; the next is tried at once. Members of one process never try the same candidate at the
// same time.
func (d *Dir) ClaimNext(ctx context.Context, who Claimant) (Task, error) {
	defer d.deliver()
	if err := d.load(ctx); err != nil {
		return Task{}, err
	}
	if err := d.begin(who); err != nil {
		return Task{}, err
	}
	defer d.end(who)
	tried := map[autonomy.TaskID]int{}
	unreadable := 0
	for {
		id, ok := d.reserve(who)
		if !ok {
			return Task{}, ErrNothing
		}
		raced := false
		task, err := d.claim(ctx, id, who, &raced)
		d.unreserve(id, raced)
		if err == nil {
			return task, nil
		}
		var refused *UnreadableError
		switch tried[id]++; {
		case ctx.Err() != nil:
			return Task{}, ctx.Err()
		case errors.As(err, &refused):
			if unreadable++; unreadable == 3 {
				return Task{}, err // it is not the file, it is the disk
			}
		case !passable(err):
			return Task{}, err
		case tried[id] == 3:
			return Task{}, ErrNothing // it changes faster than it can be claimed; the next check tries again
		}
	}
}

// passable reports whether a refusal concerns one candidate only.
func passable(err error) bool {
	var ineligible *IneligibleError
	var invalid *InvalidError
	return errors.Is(err, ErrNotReady) || errors.Is(err, ErrNotFound) || errors.Is(err, errChanged) ||
		errors.Is(err, errTooLarge) || errors.As(err, &ineligible) || errors.As(err, &invalid)
}

// begin makes sure that a member claims one task at a time and holds none.
func (d *Dir) begin(who Claimant) error {
	if who.Name == "" || who.Instance == "" {
		return errors.New("claim: a member needs a name and an instance")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.claiming[who.Name] {
		return &HoldsError{Name: who.Name}
	}
	if a := d.members[who.Name]; a != nil {
		return &HoldsError{Name: who.Name, ID: a.ID}
	}
	if r := d.index.holds(who.Name, who.Instance); r != nil {
		return &HoldsError{Name: who.Name, ID: r.id}
	}
	d.claiming[who.Name] = true
	d.mine[who.Instance] = true
	return nil
}

func (d *Dir) end(who Claimant) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.claiming, who.Name)
}

// maxSkip is how many equal candidates are passed over at most when other processes are at them.
const maxSkip = 63

// reserve picks the best candidate and keeps the other claimers of this process off it. Other processes see the same
// board and pick the same: while races are lost to them the pick is at random among the next few, as far as they are of
// equal priority, so that not all write the same file.
func (d *Dir) reserve(who Claimant) (autonomy.TaskID, bool) {
	now := d.cfg.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.index.advance(now)
	var passed []*record
	best := d.index.best(who)
	for skip := rand.IntN(d.skip + 1); best != nil && skip > 0; skip-- {
		d.index.leave(best)
		passed = append(passed, best)
		next := d.index.best(who)
		if next == nil || next.task.Priority != best.task.Priority {
			break
		}
		best = next
	}
	if best == nil {
		return 0, false
	}
	best.reserved = true
	d.index.leave(best)
	for _, r := range passed {
		d.index.evaluate(r, now)
	}
	return best.id, true
}

// unreserve ends what reserve began. raced says that another process was faster.
func (d *Dir) unreserve(id autonomy.TaskID, raced bool) {
	now := d.cfg.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if raced {
		d.skip = min(2*d.skip+1, maxSkip)
	} else {
		d.skip = d.skip * 7 / 8
	}
	if r := d.index.records[id]; r != nil {
		r.reserved = false
		d.index.evaluate(r, now)
	}
}

func (d *Dir) claim(ctx context.Context, id autonomy.TaskID, who Claimant, raced *bool) (Task, error) {
	return d.do(ctx, swap{
		id:       id,
		raced:    raced,
		blockers: true,
		change: func(t Task) (Task, error) {
			if err := d.claimable(t, who); err != nil {
				return Task{}, err
			}
			claim := Claim{ID: newClaimID(), By: who.Name, Instance: who.Instance, At: d.now()}
			return t.claimed(claim), nil
		},
		done: func(t Task) {
			d.begun(&attempt{Ref: t.Ref(), by: who.Name})
		},
	})
}

// claimable says why a member may not take a task now.
func (d *Dir) claimable(t Task, who Claimant) error {
	now := d.cfg.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.index.records[t.ID]
	if r == nil {
		return &NotFoundError{ID: t.ID}
	}
	facts := r.facts
	facts.Acyclic = true // a ring holds open blockers, and only the words would differ
	if ready := Ready(t, facts, &d.index.graph, now); !ready.Ready {
		return refusal(t, d.index.readiness(r, now))
	}
	if ok, reason := Eligible(t, who); !ok {
		return &IneligibleError{ID: t.ID, Name: who.Name, Reason: reason}
	}
	return nil
}

// refusal is the error for a task that is not ready.
func refusal(t Task, why Readiness) error {
	if t.Status == InProgress {
		return &ClaimedError{ID: t.ID, Owner: t.Owner}
	}
	return &NotReadyError{ID: t.ID, Reason: why.Reason}
}

func newClaimID() autonomy.ClaimID { return autonomy.ClaimID(ulid.New()) }
