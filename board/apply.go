package board

import (
	"time"

	"github.com/autonomy-team/autonomy"
)

// recheckAfter is how long a file that does not parse, or a file of ours that has vanished, is given to become whole.
const recheckAfter = 100 * time.Millisecond

// looks is how often such a file must have looked the same until it is reported: the first time, after recheckAfter,
// and at the two polls after that. looksGone is the same for a vanished file.
const (
	looks     = 4
	looksGone = 2
)

// doubt is about a file that may be in the middle of a change.
type doubt struct {
	looks int // 0 = no doubt
	stamp fileStamp
	since time.Time
}

// grows counts a look that found the file as bad as before, and reports whether that is often enough.
func (q *doubt) grows(s *sight, p pass, enough int) bool {
	switch {
	case p == passFinal:
		return true
	case q.looks == 0 || q.stamp != s.stamp:
		*q = doubt{looks: 1, stamp: s.stamp, since: s.at}
	case q.looks == 1 && s.at.Sub(q.since) >= recheckAfter:
		q.looks = 2
	case q.looks > 1 && p == passPoll:
		q.looks++
	}
	return q.looks >= enough
}

// apply brings the snapshot up to date with what was seen; mu is held.
func (d *Dir) apply(s *sight, p pass) {
	delete(d.doubts, s.id)
	if s.stamp.young(s.at) {
		d.revisit[s.id] = true
	} else {
		delete(d.revisit, s.id)
	}
	switch {
	case s.gone():
		if r := d.index.records[s.id]; r != nil {
			d.applyGone(r, s, p)
		}
	case s.invalid != nil:
		d.applyInvalid(d.index.obtain(s.id), s, p)
	case s.err != nil:
		d.applyUnreadable(d.index.obtain(s.id), s)
	default:
		d.applyGood(d.index.obtain(s.id), s)
	}
}

// unsettle keeps what is known of a file that may be in the middle of a change, and looks again.
func (d *Dir) unsettle(r *record, s *sight) {
	d.doubts[r.id], d.revisit[r.id] = true, true
	if r.facts.Unsettled {
		return
	}
	d.index.update(r, s.at, func(r *record) { r.facts = Facts{Unsettled: true} })
	d.changed[r.id] = true
}

func (d *Dir) applyGone(r *record, s *sight, p pass) {
	a := d.attempts[s.id]
	if a != nil && a.lost == nil && !r.doubt.grows(s, p, looksGone) {
		d.unsettle(r, s) // some editors move the old file away before they write the new one
		return
	}
	d.lookups[s.id] = true
	d.index.drop(r, s.at)
	d.changed[s.id] = true
	d.lose(a, "file was removed")
}

func (d *Dir) applyInvalid(r *record, s *sight, p pass) {
	switch {
	case r.facts.Invalid != nil && r.stamp == s.stamp: // reported already
		return
	case !s.firm && !r.doubt.grows(s, p, looks):
		d.unsettle(r, s)
		return
	}
	d.index.update(r, s.at, func(r *record) {
		old := r.task
		r.task, r.stamp, r.sum, r.doubt = s.task, s.stamp, 0, doubt{}
		if s.task.BlockedBy == nil && s.task.Blocks == nil {
			// Edges that cannot be read any more stay: nothing becomes ready by damage.
			r.task.BlockedBy, r.task.Blocks = old.BlockedBy, old.Blocks
		}
		r.facts = Facts{Invalid: s.invalid}
	})
	d.changed[s.id] = true
	d.tell(NoticeInvalid, d.path(s.name), s.id, s.invalid.where())
}

func (d *Dir) applyUnreadable(r *record, s *sight) {
	d.revisit[s.id] = true
	text := words(s.err)
	if r.facts.Unreadable == text {
		return
	}
	d.index.update(r, s.at, func(r *record) { r.facts = Facts{Unreadable: text} })
	d.changed[s.id] = true
	d.tell(NoticeStale, d.path(s.name), s.id, text)
}

func (d *Dir) applyGood(r *record, s *sight) {
	if a := d.attempts[s.id]; a != nil && a.writing != s.sum {
		d.lose(a, lostReason(s.task, a.Ref))
	}
	facts := Facts{Refused: s.refused, Stopping: d.stopping(s.task)}
	if r.sum == s.sum && r.facts == facts {
		r.stamp, r.doubt = s.stamp, doubt{}
		return
	}
	d.index.update(r, s.at, func(r *record) {
		r.task, r.stamp, r.sum, r.doubt, r.facts = s.task, s.stamp, s.sum, doubt{}, facts
	})
	d.changed[s.id] = true
	d.miss(r)
}

// miss notes blockers that are not on the board, so that the archive is asked for them; mu is held.
func (d *Dir) miss(r *record) {
	for _, id := range r.task.BlockedBy {
		if d.index.graph.State(id) == StateMissing {
			d.lookups[id] = true
		}
	}
}

// lose marks an attempt whose claim is not in force any more, for the reason given; "" says that it is. mu is held.
func (d *Dir) lose(a *attempt, reason string) {
	if a == nil || a.lost != nil || reason == "" {
		return
	}
	a.lost = &LostError{Ref: a.Ref, Reason: reason}
	d.lost = append(d.lost, a.lost)
}

// stopping names the member whose attempt at a task has lost it and may still run, "" if there is none; mu is held.
func (d *Dir) stopping(t Task) autonomy.AgentName {
	if a := d.attempts[t.ID]; a != nil && a.lost != nil {
		return a.by
	}
	return t.stopping()
}
