package team

import (
	"context"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
)

// staff brings back members that shut down and are needed: those with mail that wakes, and one for a ready task that no
// idle live member may take. It brings back one for a task, not all who could take it: when that one has claimed, staff
// is called again.
func (v *serving) staff(ctx context.Context) {
	if v.cfg.NoRevive {
		return
	}
	served := map[autonomy.TaskID]bool{}
	for _, t := range v.all() {
		if !v.revivable(t.snapshot()) {
			continue
		}
		if v.hasWakingMail(ctx, t) {
			v.revive(t, "unread mail")
			continue
		}
		id, ok := v.cfg.Board.BestFor(v.claimant(t))
		if !ok || served[id] {
			continue
		}
		served[id] = true
		entry, err := v.cfg.Board.Get(id)
		if err != nil || v.hasTaker(entry.Task) {
			continue
		}
		v.revive(t, "task ready")
	}
}

// hasTaker reports whether a live member looks for work already and may take the task.
func (s *Supervisor) hasTaker(task board.Task) bool {
	for _, t := range s.all() {
		st := t.snapshot()
		looks := st.Phase == Idle || st.Phase == Starting && st.Prompt == ""
		if looks && st.Name != Lead && s.suits(task, t) {
			if st.Phase == Idle && !t.offered() && !t.offer(task.ID) {
				continue // it has found something else
			}
			return true
		}
	}
	return false
}

// revive starts a member again, with its transcript, if the team has room.
func (s *Supervisor) revive(t *Teammate, why string) {
	s.roster.Lock()
	defer s.roster.Unlock()
	if !s.revivable(t.snapshot()) || s.live() >= s.cfg.MaxTeammates {
		return
	}
	s.emit(Event{Kind: EventSpawned, Actor: t.name(), Reason: "revived: " + why})
	s.start(t)
}

// hasWakingMail looks into a mailbox without consuming anything.
func (v *serving) hasWakingMail(ctx context.Context, t *Teammate) bool {
	batch, err := v.peek(ctx, t)
	return err == nil && wakes(batch.Messages)
}

func (v *serving) peek(ctx context.Context, t *Teammate) (inbox.Batch, error) {
	waiting, err := v.cfg.Mail.Waiting(t.name())
	if err != nil || !waiting {
		return inbox.Batch{}, err
	}
	return v.cfg.Mail.Receive(ctx, t.name())
}

// steer cancels the model call in flight of a member that works, if unread mail asks for it.
func (v *serving) steer(ctx context.Context, t *Teammate) {
	if t.phase() != Working || !t.spec().HasModel() {
		return
	}
	batch, err := v.peek(ctx, t)
	if err != nil {
		return
	}
	for _, m := range batch.Messages {
		if m.Interrupt && t.hear(m.ID) {
			select {
			case t.interrupt <- struct{}{}:
			default:
			}
		}
	}
}

// hear reports whether an interrupt is new to the run under way.
func (t *Teammate) hear(id autonomy.MessageID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heard[id] {
		return false
	}
	if t.heard == nil {
		t.heard = map[autonomy.MessageID]bool{}
	}
	t.heard[id] = true
	return true
}
