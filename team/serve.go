package team

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// serving is the state of one Serve. Only its goroutine touches it.
type serving struct {
	*Supervisor
	recheck *time.Timer // for what Changes.Next announced
}

// Serve runs the team until ctx ends or, with ExitWhenIdle, until nothing is left to do. First it undoes the claims of
// dead instances and starts the members that Recover and Spawn have named. At the end it asks every member to stop,
// forces those that take longer than half of StopTimeout, and returns at the latest when StopTimeout is over.
//
// It returns nil after a clean stop, an *IdleError when there was nothing left, and joined to these a *StuckError with
// who did not stop and an *UnwrittenError for every end of an attempt that is not on the board. It may run once.
func (s *Supervisor) Serve(ctx context.Context) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	v := &serving{Supervisor: s, recheck: time.NewTimer(time.Hour)}
	defer v.recheck.Stop()
	v.recheck.Stop()

	v.reap(ctx)
	v.refresh(ctx)
	s.mu.Lock()
	s.base = base
	s.mu.Unlock()
	s.startAll()
	v.staff(ctx)

	err := v.loop(ctx)
	return errors.Join(err, s.stopAll(base))
}

func (v *serving) loop(ctx context.Context) error {
	ticks := time.NewTicker(v.cfg.Poll)
	defer ticks.Stop()
	for {
		if v.cfg.ExitWhenIdle {
			if idle := v.finished(); idle != nil {
				return idle
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
			v.tick(ctx)
		case <-v.recheck.C:
			changes, err := v.cfg.Board.Recheck(ctx)
			v.apply(changes, err)
		case <-v.kick:
			v.hints(ctx)
		}
		v.staff(ctx)
	}
}

// tick is the poll: the truth, whatever hints came or were lost.
func (v *serving) tick(ctx context.Context) {
	v.pay(ctx)
	v.reap(ctx)
	v.refresh(ctx)
	v.mu.Lock()
	for ref, o := range v.orphans {
		if time.Since(o.since) > time.Minute {
			delete(v.orphans, ref)
		}
	}
	v.mu.Unlock()
	for _, t := range v.all() {
		v.steer(ctx, t)
	}
}

func (v *serving) refresh(ctx context.Context, names ...string) {
	changes, err := v.cfg.Board.Refresh(ctx, names...)
	v.apply(changes, err)
}

// hints does at once what it was told of.
func (v *serving) hints(ctx context.Context) {
	v.mu.Lock()
	p := v.pending
	v.pending = pending{}
	v.mu.Unlock()
	switch {
	case p.all:
		v.refresh(ctx)
	case len(p.files) > 0:
		slices.Sort(p.files)
		v.refresh(ctx, slices.Compact(p.files)...)
	}
	v.dispatch(p.ready)
	if slices.Contains(p.mail, "") {
		p.mail = nil
		for _, t := range v.all() {
			p.mail = append(p.mail, t.name())
		}
	}
	slices.Sort(p.mail)
	for _, name := range slices.Compact(p.mail) {
		if t := v.find(name); t != nil {
			if t.phase() == Idle {
				t.poke()
			}
			v.steer(ctx, t)
		}
	}
}

// apply takes over what a look at the board found.
func (v *serving) apply(changes board.Changes, err error) {
	v.complain("look at the board", err)
	for _, lost := range changes.Lost {
		v.lost(lost)
	}
	v.dispatch(changes.Ready)
	if changes.Next.IsZero() {
		v.recheck.Stop()
	} else {
		v.recheck.Reset(max(0, time.Until(changes.Next)))
	}
}

// lost tells the holder of a claim that it is void.
func (v *serving) lost(lost *board.LostError) {
	for _, t := range v.all() {
		if t.take(lost.Ref, lost.Reason) {
			return
		}
	}
	v.mu.Lock()
	v.orphans[lost.Ref] = orphan{reason: lost.Reason, since: time.Now()}
	v.mu.Unlock()
	// The claim may have been noted between the look above and now.
	for _, t := range v.all() {
		if t.take(lost.Ref, lost.Reason) {
			v.orphan(lost.Ref)
			return
		}
	}
}

// reap undoes the claims of instances that died.
func (v *serving) reap(ctx context.Context) {
	reaped, err := v.cfg.Board.Reap(ctx)
	v.complain("reap claims", err)
	for _, r := range reaped {
		reason := "instance " + string(r.Instance) + " is gone"
		if r.Held {
			reason += "; owners died too often, a person is asked"
		}
		v.emit(Event{Kind: EventReaped, Actor: r.By, Task: r.ID, Claim: r.Claim, Reason: reason})
	}
}

// complain tells the log of an error, once until it changes or is gone.
func (v *serving) complain(doing string, err error) {
	text := ""
	if err != nil && !errors.Is(err, context.Canceled) {
		text = doing + ": " + err.Error()
	}
	v.mu.Lock()
	known := v.trouble[doing] == text
	if text == "" {
		delete(v.trouble, doing)
	} else {
		v.trouble[doing] = text
	}
	v.mu.Unlock()
	if !known && text != "" {
		v.emit(Event{Kind: EventError, Reason: text})
	}
}

// Troubles is what keeps the supervisor and its idle members from their work now, each once, such as a board that an
// outsider has locked.
func (s *Supervisor) Troubles() []string {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.trouble))
	s.mu.Unlock()
	for _, t := range s.all() {
		if st := t.snapshot(); st.Phase == Idle && st.Reason != "" {
			all = append(all, st.Reason)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// dispatch wakes one idle member for each task that became ready: the one that waits longest among those who may take
// it. Nobody else is woken; a task that finds nobody is seen by whoever becomes idle, or brings somebody back.
func (v *serving) dispatch(ready []autonomy.TaskID) {
	if len(ready) == 0 {
		return
	}
	v.mu.Lock()
	free := slices.Clone(v.idle)
	v.mu.Unlock()
	free = slices.DeleteFunc(free, (*Teammate).offered)
	for _, id := range ready {
		if len(free) == 0 {
			return
		}
		entry, err := v.cfg.Board.Get(id)
		if err != nil || !entry.Readiness.Ready {
			continue
		}
		i := slices.IndexFunc(free, func(t *Teammate) bool { return v.suits(entry.Task, t) && t.offer(id) })
		if i < 0 {
			continue
		}
		free = slices.Delete(free, i, i+1)
	}
}

func (s *Supervisor) suits(task board.Task, t *Teammate) bool {
	ok, _ := board.Eligible(task, s.claimant(t))
	return ok
}
