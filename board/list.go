package board

import (
	"maps"
	"slices"
	"time"

	"github.com/autonomy-team/autonomy"
)

// List returns every task file of the last look, invalid ones included, by id; files whose name gives no id come first.
func (d *Dir) List() []Entry {
	now := d.cfg.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	var entries []Entry
	for _, name := range slices.Sorted(maps.Keys(d.odd)) {
		entries = append(entries, oddEntry(d.odd[name].err))
	}
	rings := d.index.graph.Rings()
	for _, id := range d.index.sorted() {
		r := d.index.records[id]
		entries = append(entries, d.entry(r, !rings[id], now))
	}
	return entries
}

func oddEntry(err *InvalidError) Entry {
	return Entry{Path: err.Path, Err: err, Readiness: Ready(Task{}, Facts{Invalid: err}, &Graph{}, time.Time{})}
}

func (d *Dir) entry(r *record, acyclic bool, now time.Time) Entry {
	facts := r.facts
	facts.Acyclic = acyclic
	return Entry{
		ID:        r.id,
		Path:      d.path(FileName(r.id)),
		Task:      r.task,
		Readiness: Ready(r.task, facts, &d.index.graph, now),
		Blockers:  d.index.graph.Blockers(r.id),
		Err:       r.facts.Invalid,
		Stale:     r.facts.Unreadable != "",
	}
}

// Get returns one task file of the last look. The error is a *NotFoundError.
func (d *Dir) Get(id autonomy.TaskID) (Entry, error) {
	now := d.cfg.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.index.records[id]
	if r == nil {
		return Entry{}, d.notFound(id)
	}
	return d.entry(r, false, now), nil
}

// Stuck returns the tasks, failed ones included, that will not complete unless a person acts: failed, held, invalid,
// unreadable or untrusted ones, those with a dead or missing blocker or in a ring, and all that wait for one of these.
// Ascending. Files whose name gives no id are not among them.
func (d *Dir) Stuck() []autonomy.TaskID {
	d.mu.Lock()
	defer d.mu.Unlock()
	stuck := d.index.graph.Stuck(func(id autonomy.TaskID) bool {
		r := d.index.records[id]
		return r == nil || r.facts.Refused != "" || r.task.Status == Pending && r.task.Held != nil
	})
	for id, r := range d.index.records {
		if state := r.state(); state == StateFailed || state == StateInvalid || state == StateUnreadable {
			stuck = append(stuck, id)
		}
	}
	slices.Sort(stuck)
	return stuck
}

// Eligible says whether a member may take a task, were it ready, and if not, why.
func (d *Dir) Eligible(id autonomy.TaskID, who Claimant) (bool, string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.index.records[id]
	if r == nil {
		return false, (&NotFoundError{ID: id}).Error()
	}
	return Eligible(r.task, who)
}

// BestFor returns the ready task that a member should take next. It looks at the snapshot only, so that asking costs
// nothing; only a claim decides.
func (d *Dir) BestFor(who Claimant) (autonomy.TaskID, bool) {
	now := d.cfg.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.index.advance(now)
	if r := d.index.best(who); r != nil {
		return r.id, true
	}
	return 0, false
}

// Own returns the unfinished task that a member of an instance holds. A claim that this Dir has not made, as after an
// editor put an old file back, is taken in, so that no other attempt starts beside it.
func (d *Dir) Own(name autonomy.AgentName, instance autonomy.InstanceID) (Task, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.index.holds(name, instance)
	if r == nil {
		return Task{}, false
	}
	if d.attempts[r.id] == nil {
		d.begun(&attempt{Ref: r.task.Ref(), by: name})
	}
	if d.attempts[r.id].lost != nil {
		return Task{}, false // it is being stopped
	}
	return r.task, true
}

// Lost returns nil while a claim is in force, as far as the last look knows, else a *LostError with the reason in
// words. While the file is not readable the claim stands.
func (d *Dir) Lost(ref Ref) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a := d.attempts[ref.ID]; a != nil && a.Ref == ref {
		if a.lost != nil {
			return a.lost
		}
		return nil
	}
	r := d.index.records[ref.ID]
	reason := "file was removed"
	if r != nil {
		if !r.settled() {
			return nil
		}
		reason = lostReason(r.task, ref)
	}
	if reason == "" {
		return nil
	}
	return &LostError{Ref: ref, Reason: reason}
}

// Explain says all that is known about why a task is worked or not, by whom it could be and by whom not.
func (d *Dir) Explain(id autonomy.TaskID, members []Claimant) (Explanation, error) {
	entry, err := d.Get(id)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Entry: entry, Nobody: entry.Readiness.Ready}
	d.mu.Lock()
	for _, b := range entry.Blockers {
		archived := d.index.records[b] == nil && d.index.graph.State(b) != StateMissing
		e.Blockers = append(e.Blockers, Blocker{ID: b, State: d.index.graph.State(b), Archived: archived})
	}
	d.mu.Unlock()
	for _, m := range members {
		ok, reason := Eligible(entry.Task, m)
		e.Members = append(e.Members, Suitability{Name: m.Name, OK: ok, Reason: reason})
		e.Nobody = e.Nobody && !ok
	}
	return e, nil
}
