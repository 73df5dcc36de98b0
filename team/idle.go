package team

import (
	"context"
	"time"
)

// nextJob is the phase IDLE. It looks at once, at every tick of Poll after it began, and at every hint; a hint never
// shifts the ticks. The look at IdleTimeout is the last.
func (t *Teammate) nextJob(ctx context.Context, l *life) (*errand, exit) {
	if l.stopping() {
		return nil, toldToStop
	}
	if job := t.opening(); job != nil {
		return job, staying
	}
	began := time.Now()
	end := began.Add(t.sup.cfg.IdleTimeout)
	t.mu.Lock()
	t.idleEnd = end
	t.mu.Unlock()
	t.drain()
	t.move(Idle, forgetTask)
	for tick := began; ; {
		offers := t.takeOffers()
		if job := t.look(ctx, offers); job != nil {
			t.sup.offerAgain(offers, job.taskID())
			return job, staying
		}
		// Whoever was to try the key first found nothing to try it with: let the next one.
		t.sup.accounts.yield(t.sup.cfg.Key(t.spec()), t)
		if !tick.Before(end) {
			return nil, timedOut
		}
		next := earlier(tick.Add(t.sup.cfg.Poll), end)
		switch t.awaitTick(ctx, l, next) {
		case ticked:
			tick = next
		case stopped:
			return nil, toldToStop
		}
	}
}

type awaited int

const (
	hinted awaited = iota
	ticked
	stopped
)

func (t *Teammate) awaitTick(ctx context.Context, l *life, next time.Time) awaited {
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	select {
	case <-l.stop:
		return stopped
	case <-ctx.Done():
		return stopped
	case <-timer.C:
		return ticked
	case <-t.wake:
		return hinted
	}
}

// drain forgets a hint from before: a look is due anyway.
func (t *Teammate) drain() {
	select {
	case <-t.wake:
	default:
	}
}

func forgetTask(st *Status) {
	st.Task, st.Claim, st.Subject, st.ActiveForm, st.Attempt = 0, "", "", "", 0
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
