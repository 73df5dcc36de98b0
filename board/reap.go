package board

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/autonomy-team/autonomy"
)

// Reap takes back the claims of instances that are dead, and puts in order what people's edits left of claims behind
// which nothing runs. The daemon calls it when the commands of the dead instance are gone. It goes on after an error
// and returns all of them.
func (d *Dir) Reap(ctx context.Context) ([]Reaped, error) {
	defer d.deliver()
	if d.cfg.Alive == nil {
		return nil, errors.New("reap: the configuration has no Alive")
	}
	if err := d.load(ctx); err != nil {
		return nil, err
	}
	alive := map[autonomy.InstanceID]bool{}
	var reaped []Reaped
	var errs []error
	for _, c := range d.claims() {
		if _, asked := alive[c.instance]; !asked && c.instance != "" {
			alive[c.instance] = d.cfg.Alive(c.instance)
		}
		r, err := d.reap(ctx, c, alive[c.instance])
		if err != nil && !errors.Is(err, ErrNotFound) {
			errs = append(errs, fmt.Errorf("reap task %d: %w", c.ID, err))
		}
		if r != nil {
			reaped = append(reaped, *r)
		}
	}
	return reaped, errors.Join(errs...)
}

// claimed is a claim in a file that may have to be reaped.
type claimed struct {
	Ref
	by       autonomy.AgentName
	instance autonomy.InstanceID
	mine     bool // made through this Dir
}

// claims returns the claims in the files behind which this Dir knows of no attempt.
func (d *Dir) claims() []claimed {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []claimed
	for by, refs := range d.index.owned {
		for ref, instance := range refs {
			if d.attempts[ref.ID] == nil && d.index.records[ref.ID].settled() {
				list = append(list, claimed{ref, by, instance, d.mine[instance]})
			}
		}
	}
	slices.SortFunc(list, func(a, b claimed) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// reap decides about one claim. It returns nil when there was nothing to do.
func (d *Dir) reap(ctx context.Context, c claimed, alive bool) (*Reaped, error) {
	var result *Reaped
	_, err := d.do(ctx, swap{
		id:      c.ID,
		durable: true,
		change: func(t Task) (Task, error) {
			result = nil
			if t.Claim == nil || t.Claim.ID != c.Claim {
				return t, nil
			}
			r := Reaped{Ref: c.Ref, By: c.by, Instance: c.instance}
			switch {
			case t.InForce() && (c.instance == "" || c.mine || alive):
				return t, nil
			case t.InForce():
				t = t.reaped(d.now())
				r.Held = t.Held != nil
			case c.instance == "" && t.Status != InProgress, alive && !c.mine:
				return t, nil
			default:
				t = t.normalised(d.now())
				r.Leftover = true
			}
			result = &r
			return t, nil
		},
	})
	if err != nil || result == nil {
		return nil, err
	}
	if result.Leftover {
		d.mu.Lock()
		d.tell(NoticeRepaired, d.path(FileName(c.ID)), c.ID, "the claim that "+string(c.by)+" left behind was removed")
		d.mu.Unlock()
	}
	return result, nil
}
