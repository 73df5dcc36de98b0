package team

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/board"
)

// finish writes the end of an attempt to the board. A disk in trouble is tried again until the member has to stop; then
// the write is owed by the supervisor.
func (t *Teammate) finish(ctx context.Context, l *life, ref board.Ref, r agent.Report, end board.End) {
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		wctx, cancel := writing(ctx)
		task, err := t.sup.cfg.Board.Finish(wctx, ref, end)
		cancel()
		_, completes := end.(board.Complete)
		var notReady *board.NotReadyError
		switch {
		case err == nil:
			t.complain("write the end of an attempt", nil)
			t.letGo()
			t.sup.emit(endEvent(t.name(), ref, r, end, task))
			t.sup.taskChanged(ref.ID)
			return
		case t.sup.void(ref, err):
			t.take(ref, lostReason(err))
			t.settleTaken(ctx)
			return
		case completes && errors.As(err, &notReady): // a blocker is not completed any more, so neither is this
			end = board.Release{Reason: notReady.Reason}
			continue
		}
		t.complain("write the end of an attempt", err)
		t.update(func(st *Status) { st.Reason = fmt.Sprintf("cannot write the end of task %d: %v", ref.ID, err) })
		if !t.sleepUntil(ctx, l, time.Now().Add(wait), nil) {
			t.letGo()
			t.sup.owe(debt{member: t.name(), ref: ref, run: r.Run, end: end, err: err})
			return
		}
	}
}

// void reports whether an error says that the claim is in force no more, or that the file can't be written by us at all.
// A file that may be half-written is no such case: were it given up, the member would find its claim and work the task
// again.
func (s *Supervisor) void(ref board.Ref, err error) bool {
	if errors.Is(err, board.ErrClaimLost) || errors.Is(err, board.ErrNotFound) {
		return true
	}
	if invalid := (*board.InvalidError)(nil); !errors.As(err, &invalid) {
		return false
	}
	entry, err := s.cfg.Board.Get(ref.ID)
	return err != nil || entry.Err != nil
}

func lostReason(err error) string {
	var lost *board.LostError
	if errors.As(err, &lost) {
		return lost.Reason
	}
	return err.Error()
}

func endEvent(name autonomy.AgentName, ref board.Ref, r agent.Report, end board.End, task board.Task) Event {
	ev := Event{Actor: name, Task: ref.ID, Claim: ref.Claim, Run: r.Run}
	switch end := end.(type) {
	case board.Complete:
		ev.Kind, ev.Reason = EventCompleted, end.Result.Summary
	case board.Release:
		ev.Kind, ev.Reason = EventReleased, end.Reason
	case board.Fail:
		ev.Kind, ev.Code, ev.Reason = EventFailed, end.Code, end.Message
		if task.Status == board.Failed {
			ev.Reason = "for good: " + ev.Reason
		}
	case board.Hold:
		ev.Kind, ev.Code, ev.Reason = EventFailed, "held", end.Reason
	}
	return ev
}

// settleTaken tells board, log and member of claims that were taken. It is called when nothing runs for them any more.
func (t *Teammate) settleTaken(ctx context.Context) {
	t.mu.Lock()
	taken := t.taken
	t.taken = nil
	if _, ok := taken[t.held]; ok {
		t.held = board.Ref{}
	}
	t.mu.Unlock()
	for ref, reason := range taken {
		if t.attempt.ref == ref {
			t.attempt = attempt{}
		}
		t.sup.emit(Event{Kind: EventClaimLost, Actor: t.name(), Task: ref.ID, Claim: ref.Claim, Reason: reason})
		t.note(fmt.Sprintf("task #%d was taken: %s", ref.ID, reason))
		wctx, cancel := writing(ctx)
		err := t.sup.cfg.Board.Stopped(wctx, ref)
		cancel()
		if err != nil {
			t.sup.owe(debt{member: t.name(), ref: ref, err: err})
		}
		t.sup.taskChanged(ref.ID)
	}
}

// releaseOwn gives back, uncounted, what the member still holds.
func (t *Teammate) releaseOwn(ctx context.Context, reason string) {
	name := t.name()
	task, ok := t.sup.cfg.Board.Own(name, t.sup.cfg.Instance)
	if !ok || t.sup.owes(task.Ref()) {
		return
	}
	wctx, cancel := writing(ctx)
	defer cancel()
	end := board.Release{Reason: reason}
	_, err := t.sup.cfg.Board.Finish(wctx, task.Ref(), end)
	switch {
	case err == nil:
		t.letGo()
		t.sup.emit(endEvent(name, task.Ref(), agent.Report{}, end, task))
		t.sup.taskChanged(task.ID)
	case t.sup.void(task.Ref(), err):
		t.hold(task)
		t.take(task.Ref(), lostReason(err))
		t.settleTaken(ctx)
	default:
		t.letGo()
		t.sup.owe(debt{member: name, ref: task.Ref(), end: end, err: err})
	}
}

// writing is the context of a write that is owed even when the member's own context has ended.
func writing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}
