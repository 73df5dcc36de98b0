package team

import (
	"context"
	"errors"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
)

// opening is work that does not wait for IDLE: what was interrupted by a back-off, then the prompt of the spawn.
func (t *Teammate) opening() *errand {
	if e := t.unfinished; e != nil {
		t.unfinished = nil
		return e
	}
	if spec := t.spec(); spec.Prompt != "" {
		return &errand{job: Job{Kind: PromptJob, Text: spec.Prompt}}
	}
	return nil
}

// look is one check of IDLE: mail, the own unfinished task, the best ready task, in this order.
// Of the ready tasks it takes one of the offers, for which it was woken, unless there is one of a higher priority: the
// offers of others are theirs.
func (t *Teammate) look(ctx context.Context, offers []autonomy.TaskID) *errand {
	t.settleTaken(ctx)
	mail, err := t.wakingMail(ctx)
	t.complain("read mail", err)
	if task, ok := t.sup.cfg.Board.Own(t.name(), t.sup.cfg.Instance); ok && !t.sup.owes(task.Ref()) {
		return t.attemptOf(task) // mail joins its run
	}
	if mail != nil {
		return mail
	}
	return t.claim(ctx, offers)
}

// attemptOf makes the next round of the attempt of a task that the member holds.
func (t *Teammate) attemptOf(task board.Task) *errand {
	if t.attempt.ref != task.Ref() {
		t.attempt = attempt{ref: task.Ref()}
		t.hold(task)
	}
	return &errand{job: Job{Kind: TaskJob, Task: &task, Round: t.attempt.round, Refused: t.attempt.refused}}
}

// claim takes the best task that is ready and suits the member; nil when there is none. No model is asked.
func (t *Teammate) claim(ctx context.Context, offers []autonomy.TaskID) *errand {
	who := t.sup.claimant(t)
	task, err := t.claimOffered(ctx, who, offers)
	if err != nil {
		task, err = t.sup.cfg.Board.ClaimNext(ctx, who)
	}
	var holds *board.HoldsError
	switch {
	case err == nil:
	case errors.Is(err, board.ErrNothing), errors.As(err, &holds), ctx.Err() != nil:
		t.complain("claim a task", nil)
		return nil
	default:
		t.complain("claim a task", err)
		return nil
	}
	t.complain("claim a task", nil)
	t.claimed(task)
	return t.attemptOf(task)
}

// claimOffered claims the first offer unless a more important task is ready. Its errors only mean that it did not.
func (t *Teammate) claimOffered(ctx context.Context, who board.Claimant, offers []autonomy.TaskID) (board.Task, error) {
	if len(offers) == 0 {
		return board.Task{}, board.ErrNothing
	}
	if best, ok := t.sup.cfg.Board.BestFor(who); ok && best != offers[0] {
		first, err := t.sup.cfg.Board.Get(best)
		offered, err2 := t.sup.cfg.Board.Get(offers[0])
		if err != nil || err2 != nil || first.Task.Priority > offered.Task.Priority {
			return board.Task{}, board.ErrNothing
		}
	}
	return t.sup.cfg.Board.Claim(ctx, offers[0], who)
}

func (t *Teammate) claimed(task board.Task) {
	t.sup.emit(Event{Kind: EventClaimed, Actor: t.name(), Task: task.ID, Claim: task.Ref().Claim, Reason: task.Subject})
	t.sup.look() // the next ready task may want the next member
}

// wakingMail returns a job on the unread mail if any of it wakes a member; the rest waits for the next work. The mail of
// a member without a model is stored, answered and done with.
func (t *Teammate) wakingMail(ctx context.Context) (*errand, error) {
	batch, err := t.unread(ctx)
	if err != nil || len(batch.Messages) == 0 {
		return nil, err
	}
	if !t.spec().HasModel() {
		return nil, t.storeMail(ctx, batch)
	}
	if !wakes(batch.Messages) {
		return nil, nil
	}
	e := &errand{job: Job{Kind: MailJob, Mail: batch.Messages}}
	e.ack = func(ctx context.Context) error { return t.ackMail(ctx, e, batch) }
	return e, nil
}

// unread looks for mail. Bad lines without a good one among them are stepped over at once.
func (t *Teammate) unread(ctx context.Context) (inbox.Batch, error) {
	name := t.name()
	waiting, err := t.sup.cfg.Mail.Waiting(name)
	if err != nil || !waiting {
		return inbox.Batch{}, err
	}
	batch, err := t.sup.cfg.Mail.Receive(ctx, name)
	if err == nil && len(batch.Messages) == 0 && len(batch.Rejected) > 0 {
		err = t.sup.cfg.Mail.Ack(ctx, name, batch.Cursor)
	}
	return batch, err
}

// wakes reports whether any of the messages is of a kind that starts a run.
func wakes(messages []inbox.Message) bool {
	for _, m := range messages {
		switch m.Kind {
		case inbox.KindMessage, inbox.KindBroadcast, inbox.KindResult:
			return true
		}
	}
	return false
}
