package board

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// textLimits are the lengths, in bytes, to which the texts of an end are cut, one after the other, until the file is
// not too large: a completion must not fail because its summary is long.
var textLimits = [...]int{16 << 10, 1 << 10, 64}

// Finish ends an attempt. It compares the claim under the side lock: a *LostError says that the claim is not in force
// any more and why, and nothing was written; the caller then stops and calls Stopped. A Complete is refused with a
// *NotReadyError when a blocker is not completed (any more). Completions, failures and holds survive power loss once
// nil is returned. After any other error the same call may be repeated.
func (d *Dir) Finish(ctx context.Context, ref Ref, end End) (Task, error) {
	defer d.deliver()
	if err := d.load(ctx); err != nil {
		return Task{}, err
	}
	if task, ok := d.finished(ref); ok {
		return d.sync(ref, task)
	}
	task, err := d.finish(ctx, ref, end)
	var invalid *InvalidError
	if errors.Is(err, ErrNotFound) || errors.As(err, &invalid) {
		// An editor may be in the middle of saving.
		if err := pause(ctx, recheckAfter); err != nil {
			return Task{}, err
		}
		task, err = d.finish(ctx, ref, end)
	}
	if errors.Is(err, ErrNotFound) {
		return Task{}, &LostError{Ref: ref, Reason: "file was removed"}
	}
	return task, err
}

func (d *Dir) finished(ref Ref) (Task, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, ok := d.unsynced[ref]
	return t, ok
}

// sync tries once more to make a finished task durable that is in its file already.
func (d *Dir) sync(ref Ref, task Task) (Task, error) {
	if err := atomicfile.SyncDir(d.fs, d.cfg.Path); err != nil {
		return Task{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.unsynced, ref)
	return task, nil
}

func (d *Dir) finish(ctx context.Context, ref Ref, end End) (task Task, err error) {
	_, completes := end.(Complete)
	_, releases := end.(Release)
	for _, limit := range textLimits {
		task, err = d.do(ctx, swap{
			id:       ref.ID,
			blockers: completes,
			durable:  !releases,
			change: func(t Task) (Task, error) {
				if err := d.finishable(t, ref, completes); err != nil {
					return Task{}, err
				}
				return ended(t, end, limit, d.now())
			},
			done: func(Task) { d.over(ref) },
		})
		if !errors.Is(err, errTooLarge) {
			break
		}
	}
	var unsynced *unsyncedError
	if errors.As(err, &unsynced) {
		d.mu.Lock()
		d.unsynced[ref] = task
		d.mu.Unlock()
		return Task{}, err
	}
	return task, err
}

// finishable says why an attempt may not end in the way wanted.
func (d *Dir) finishable(t Task, ref Ref, completes bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.attempts[t.ID]
	if a != nil && a.Ref == ref && a.lost != nil {
		return a.lost
	}
	if reason := lostReason(t, ref); reason != "" {
		return &LostError{Ref: ref, Reason: reason}
	}
	if completes {
		return d.unblocked(t)
	}
	return nil
}

// unblocked refuses the completion of a task that still waits for another; mu is held.
func (d *Dir) unblocked(t Task) error {
	if kind, reason := blocked(t.ID, &d.index.graph, false); kind != "" {
		return &NotReadyError{ID: t.ID, Reason: reason}
	}
	return nil
}

// ended applies an end, its texts cut to limit bytes.
func ended(t Task, end End, limit int, now time.Time) (Task, error) {
	switch e := end.(type) {
	case Complete:
		e.Result.Summary = head(e.Result.Summary, limit)
		if len(e.Result.Usage) > limit {
			e.Result.Usage = nil
		}
		return t.completed(e.Result, now), nil
	case Release:
		return t.released(now), nil
	case Fail:
		return t.failedWith(e.Code, tail(e.Message, limit), now), nil
	case Hold:
		return t.heldFor(head(e.Reason, limit), now), nil
	}
	return Task{}, fmt.Errorf("finish task %d: unknown end %T", t.ID, end)
}

// head keeps the beginning of a text.
func head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// tail keeps the end of a text, where the error of a command stands.
func tail(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	from := len(s) - limit
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return "…" + s[from:]
}

// Stopped says that the attempt behind a claim has ended and its processes are gone. What is left of the claim is put
// in order (a task that a person gave to somebody else becomes pending for that member, a claim that was still in force
// is released uncounted) and the task is offered again. After an error the task stays off the board's offers: repeat
// the call.
func (d *Dir) Stopped(ctx context.Context, ref Ref) error {
	defer d.deliver()
	_, err := d.do(ctx, swap{
		id: ref.ID,
		change: func(t Task) (Task, error) {
			switch {
			case t.Claim == nil || t.Claim.ID != ref.Claim:
				return t, nil
			case t.InForce():
				return t.released(d.now()), nil
			}
			return t.normalised(d.now()), nil
		},
	})
	var invalid *InvalidError
	if err != nil && !errors.Is(err, ErrNotFound) && (!errors.As(err, &invalid) || d.doubtful(ref.ID)) {
		return err
	}
	d.forget(ref)
	return nil
}

// doubtful reports whether a file that does not parse may yet become whole.
func (d *Dir) doubtful(id autonomy.TaskID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.index.records[id]
	return r != nil && r.facts.Unsettled
}

// forget ends the bookkeeping of an attempt, so that the task can be offered again.
func (d *Dir) forget(ref Ref) {
	now := d.cfg.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.over(ref) {
		return
	}
	if r := d.index.records[ref.ID]; r != nil && r.settled() {
		d.index.update(r, now, func(r *record) { r.facts.Stopping = d.stopping(r.task) })
	}
}
