package team

import (
	"context"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// Teammate is one member. While it is live it has one goroutine, which does everything: looks for work, works, rests.
// Others reach it through its channels and read its record.
type Teammate struct {
	sup       *Supervisor
	tools     []string      // toolsets and tools that it has
	wake      chan struct{} // extra check; one is remembered
	interrupt chan struct{} // cancels the model call in flight; one is remembered
	lines     chan line     // of the lead only

	// Touched by the goroutine alone.
	crashes    crashes
	unfinished *errand           // a prompt or mail whose run ended before it was answered
	attempt    attempt           // the task it worked on last
	resting    time.Duration     // the last back-off of its own; 0 = a run ended well since
	complaints map[string]string // the last error told of each kind, so that it is told once

	mu      sync.Mutex
	status  Status
	life    *life           // nil = not live
	gone    <-chan struct{} // of the last life: closed when its goroutine is gone
	idleEnd time.Time
	current func(error)                 // cancels the run under way, nil = none
	held    board.Ref                   // the claim that it holds
	taken   map[board.Ref]string        // claims that were taken from it; and why; settled by the goroutine
	offers  map[autonomy.TaskID]bool    // ready tasks for which it was woken
	notes   []string                    // to be told at the next work
	heard   map[autonomy.MessageID]bool // interrupts that were signalled
}

// life is one stretch of being live, from start to end.
type life struct {
	cancel context.CancelCauseFunc // the force behind stop
	stop   chan struct{}           // closed = end at the next safe point
	done   chan struct{}           // closed = the goroutine and its processes are gone
	once   sync.Once
	grace  *time.Timer // guarded by Teammate.mu
}

// attempt counts the rounds of one claim.
type attempt struct {
	ref     board.Ref
	round   int
	refused int // completion claims, so far
}

func newTeammate(s *Supervisor, spec Spec, desired Desired, phase Phase) *Teammate {
	now := time.Now()
	return &Teammate{
		sup:       s,
		tools:     s.cfg.Tools(spec),
		wake:      make(chan struct{}, 1),
		interrupt: make(chan struct{}, 1),
		lines:     make(chan line),
		status:    Status{Spec: spec, Desired: desired, Phase: phase, Since: now, LastActivity: now},
	}
}

// poke makes an idle member look at once.
func (t *Teammate) poke() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// snapshot returns the member's record.
func (t *Teammate) snapshot() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := t.status
	if st.Phase == Idle && !t.idleEnd.IsZero() {
		st.IdleLeft = max(0, time.Until(t.idleEnd))
	}
	return st
}

func (t *Teammate) phase() Phase {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status.Phase
}

func (t *Teammate) spec() Spec {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status.Spec
}

func (t *Teammate) name() autonomy.AgentName { return t.spec().Name }

// update changes the record without changing the phase.
func (t *Teammate) update(change func(*Status)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.status)
}

// move goes to another phase and tells the log. A member that is to stop stays Stopping until it has ended. What the
// table does not allow is a fault of this package: it is told, and the record follows what is.
func (t *Teammate) move(to Phase, change func(*Status)) {
	t.moveTo(func(Status) Phase { return to }, change)
}

// moveTo is move with the choice of the phase and change made in one critical section. It returns the choice.
func (t *Teammate) moveTo(choose func(Status) Phase, change func(*Status)) Phase {
	t.mu.Lock()
	from, to := t.status.Phase, choose(t.status)
	quiet := from == to || from == Stopping && to.Live()
	if !quiet {
		t.status.Phase, t.status.Since = to, time.Now()
		t.status.LastActivity = t.status.Since
		t.status.Reason, t.status.Until, t.status.Endless, t.status.Approval = "", time.Time{}, false, ""
	}
	if change != nil {
		change(&t.status)
	}
	st := t.status
	t.mu.Unlock()
	if quiet {
		return to
	}
	if !CanMove(from, to) {
		t.sup.emit(Event{Kind: EventError, Actor: st.Name, From: from, To: to, Reason: "no such transition"})
	}
	t.sup.emit(Event{Kind: EventState, Actor: st.Name, From: from, To: to, Task: st.Task, Claim: st.Claim, Reason: st.Reason})
	t.sup.moved(t, from, to)
	return to
}

// begin makes the member live. The caller starts serve.
func (t *Teammate) begin(cancel context.CancelCauseFunc) *life {
	l := &life{cancel: cancel, stop: make(chan struct{}), done: make(chan struct{})}
	t.mu.Lock()
	t.life, t.gone = l, l.done
	t.mu.Unlock()
	return l
}

// requestStop ends the member at its next safe point and, when the grace is over, by force. It returns what is closed
// when the member is gone; nil when it never was live.
func (t *Teammate) requestStop(grace time.Duration) <-chan struct{} {
	t.mu.Lock()
	l, gone := t.life, t.gone
	t.mu.Unlock()
	if l == nil {
		return gone
	}
	t.move(Stopping, nil)
	l.once.Do(func() { close(l.stop) })
	if grace <= 0 {
		l.cancel(errStopped)
		return gone
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.grace == nil && t.life == l {
		l.grace = time.AfterFunc(grace, func() { l.cancel(errStopped) })
	}
	return gone
}

// lifeNow returns the member's life, nil while it is not live.
func (t *Teammate) lifeNow() *life {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.life
}

// stopping reports whether the member is to end.
func (l *life) stopping() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// letGo notes that the member holds no claim.
func (t *Teammate) letGo() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = board.Ref{}
}

// hold notes the claim that the member holds now, and whether it was taken before it could be noted.
func (t *Teammate) hold(task board.Task) {
	t.mu.Lock()
	known := t.held == task.Ref()
	t.held = task.Ref()
	t.mu.Unlock()
	if known {
		return
	}
	if reason, lost := t.sup.orphan(task.Ref()); lost {
		t.take(task.Ref(), reason)
	}
}

// take tells the member that the claim it holds is void. A run on it is cancelled. It reports false when the member
// does not hold that claim.
func (t *Teammate) take(ref board.Ref, reason string) bool {
	t.mu.Lock()
	if t.held != ref {
		t.mu.Unlock()
		return false
	}
	if t.taken == nil {
		t.taken = map[board.Ref]string{}
	}
	t.taken[ref] = reason
	cancel := t.current
	if t.status.Task != ref.ID || t.status.Claim != ref.Claim {
		cancel = nil // it works on something else; the loss is settled when that ends
	}
	t.mu.Unlock()
	if cancel != nil {
		cancel(&takenError{reason})
	}
	t.poke()
	return true
}

// wasTaken reports whether a claim is known to be void.
func (t *Teammate) wasTaken(ref board.Ref) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.taken[ref]
	return ok
}

// offer wakes an idle member for a ready task. It reports false when the member has found something else meanwhile: an
// offer that came after that would lie there until it idles again.
func (t *Teammate) offer(id autonomy.TaskID) bool {
	t.mu.Lock()
	if t.status.Phase != Idle {
		t.mu.Unlock()
		return false
	}
	if t.offers == nil {
		t.offers = map[autonomy.TaskID]bool{}
	}
	t.offers[id] = true
	t.mu.Unlock()
	t.poke()
	return true
}

// offered reports whether the member was woken for a task and has not looked yet.
func (t *Teammate) offered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.offers) > 0
}

// takeOffers returns the tasks for which the member was woken and forgets them.
func (t *Teammate) takeOffers() []autonomy.TaskID {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []autonomy.TaskID
	for id := range t.offers {
		ids = append(ids, id)
	}
	t.offers = nil
	return ids
}

// note keeps something to be told to the member at its next work.
func (t *Teammate) note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = append(t.notes, text)
}

// complain tells the log that doing something failed, once until the error changes or is gone (nil). The record of an
// idle member has it as the reason meanwhile.
func (t *Teammate) complain(doing string, err error) {
	text := ""
	if err != nil {
		text = doing + ": " + err.Error()
	}
	was := t.complaints[doing]
	t.update(func(st *Status) {
		if st.Phase == Idle && (text != "" || st.Reason == was) {
			st.Reason = text
		}
	})
	if was == text {
		return
	}
	if t.complaints == nil {
		t.complaints = map[string]string{}
	}
	t.complaints[doing] = text
	if text != "" {
		t.sup.emit(Event{Kind: EventError, Actor: t.name(), Reason: text})
	}
}
