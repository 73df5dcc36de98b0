package team

import (
	"context"
	"fmt"
	"time"
)

// exit is why a life ends.
type exit int

const (
	staying exit = iota
	timedOut
	toldToStop
	brokenDown
)

// step is what follows from one round of a life.
type step struct {
	exit  exit
	pause *pause
	crash string // not "" = code of the round panicked
}

// serve is the member's goroutine: it lives until told to stop, until idle for too long, or until it broke down too
// often. Whatever happens it gives its tasks back and says that it is gone.
func (t *Teammate) serve(ctx context.Context, l *life) {
	why, reason := brokenDown, "its goroutine ended"
	defer func() {
		if v := recover(); v != nil {
			reason = fmt.Sprintf("panic: %v", v)
		}
		t.endLife(ctx, l, why, reason)
	}()
	if t.name() == Lead {
		why, reason = t.serveLines(ctx, l), ""
		return
	}
	why, reason = t.rounds(ctx, l)
}

func (t *Teammate) rounds(ctx context.Context, l *life) (exit, string) {
	for {
		s := t.round(ctx, l)
		if s.exit != staying {
			return s.exit, ""
		}
		if s.crash != "" {
			wait, first, dead := t.crashes.add(time.Now())
			if first || dead {
				t.tellLead(ctx, crashText(s.crash, wait, dead))
			}
			if dead {
				return brokenDown, "panic: " + s.crash
			}
			s.pause = &pause{code: "panic", reason: "panic: " + s.crash, wait: wait}
		}
		if s.pause != nil {
			t.giveBack(ctx, s.pause.reason) // a task that it claimed beside its run
			if !t.rest(ctx, l, *s.pause) {
				return toldToStop, ""
			}
		}
	}
}

func crashText(value string, wait time.Duration, dead bool) string {
	if dead {
		return fmt.Sprintf("panic: %s; it was one too many, the member stays down until it is spawned anew", value)
	}
	return fmt.Sprintf("panic: %s; the member starts again in %s", value, wait)
}

// round looks for work, does it, and settles what follows. A panic anywhere in it costs the task, not the team.
func (t *Teammate) round(ctx context.Context, l *life) (s step) {
	defer func() {
		if v := recover(); v != nil {
			s = step{crash: fmt.Sprint(v)}
			t.giveBack(ctx, "panic")
		}
	}()
	job, why := t.nextJob(ctx, l)
	if why != staying {
		return step{exit: why}
	}
	s = t.work(ctx, l, job)
	if l.stopping() {
		s.exit = toldToStop
	}
	return s
}

// rest is the phase BACKOFF. It reports false when the member is to stop.
func (t *Teammate) rest(ctx context.Context, l *life, p pause) bool {
	key := t.sup.cfg.Key(t.spec())
	now := time.Now()
	var until time.Time
	news := p.code != "panic" // which rounds has told
	switch {
	case p.endless:
		t.sup.accounts.yield(key, t)
	case p.shared:
		until, news = t.sup.accounts.fail(key, t, now, p.wait)
	case p.wait > 0:
		until = now.Add(p.wait)
	default:
		news = t.resting == 0
		t.resting = doubled(t.resting)
		until = now.Add(t.resting)
	}
	t.move(Backoff, func(st *Status) {
		forgetTask(st)
		st.Reason, st.Until, st.Endless = p.reason, until, p.endless
	})
	if news {
		t.tellLead(ctx, restText(p, until.Sub(now)))
	}
	if !p.shared {
		return t.sleepUntil(ctx, l, until, nil)
	}
	for {
		ok, until, changed := t.sup.accounts.turn(key, t, time.Now())
		if ok {
			return true
		}
		t.update(func(st *Status) { st.Until = until })
		if !t.sleepUntil(ctx, l, until, changed) {
			return false
		}
	}
}

func restText(p pause, wait time.Duration) string {
	if p.endless {
		return fmt.Sprintf("back-off (%s) until a person acts: %s", p.code, p.reason)
	}
	return fmt.Sprintf("back-off (%s) for %s: %s", p.code, wait.Round(time.Second), p.reason)
}

// sleepUntil waits for a time (zero = for ever) or for changed. It reports false when the member is to stop.
func (t *Teammate) sleepUntil(ctx context.Context, l *life, until time.Time, changed <-chan struct{}) bool {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-changed:
	case <-l.stop:
		return false
	case <-ctx.Done():
		return false
	}
	return !l.stopping()
}

// endLife gives back what the member holds and moves it to the phase that its end deserves.
func (t *Teammate) endLife(ctx context.Context, l *life, why exit, reason string) {
	switch why {
	case timedOut:
		reason = "idle"
	case toldToStop:
		reason = "told to stop"
	}
	t.giveBack(ctx, reason)
	key := t.sup.cfg.Key(t.spec())
	t.sup.accounts.yield(key, t)
	to := t.moveTo(func(st Status) Phase {
		switch {
		case why == brokenDown:
			return Failed
		case st.Desired == NotWanted:
			return Stopped
		}
		return Shutdown
	}, func(st *Status) {
		forgetTask(st)
		st.Reason = reason
		if l.grace != nil {
			l.grace.Stop()
		}
		t.life = nil
	})
	l.cancel(nil)
	t.sup.emit(Event{Kind: EventShutdown, Actor: t.name(), To: to, Reason: reason})
	close(l.done)
	t.sup.look()
}

// giveBack settles and releases all that the member holds. A panic in the board must not keep the member from ending.
func (t *Teammate) giveBack(ctx context.Context, reason string) {
	defer func() {
		if v := recover(); v != nil {
			t.sup.emit(Event{Kind: EventError, Actor: t.name(), Reason: fmt.Sprintf("give tasks back: panic: %v", v)})
		}
	}()
	t.settleTaken(ctx)
	t.releaseOwn(ctx, reason)
}
