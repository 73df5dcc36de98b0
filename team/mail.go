package team

import (
	"context"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/inbox"
)

// noModel is what a member without a model answers each message with. It wakes nobody.
const noModel = "no model; stored"

// storeMail puts mail into the transcript of a member that cannot read it, and says so to who wrote.
func (t *Teammate) storeMail(ctx context.Context, batch inbox.Batch) error {
	spec := t.spec()
	fresh, err := t.sup.cfg.Transcripts.Store(ctx, spec, batch.Messages)
	if err != nil {
		return err
	}
	if err := t.sup.cfg.Mail.Ack(ctx, spec.Name, batch.Cursor); err != nil {
		return err
	}
	t.delivered(fresh)
	t.answer(ctx, fresh, inbox.KindError, noModel)
	return nil
}

// receive fetches mail for a run under way.
func (t *Teammate) receive(ctx context.Context, e *errand) (Delivery, error) {
	batch, err := t.unread(ctx)
	if err != nil || len(batch.Messages) == 0 {
		return Delivery{}, err
	}
	return Delivery{
		Messages: batch.Messages,
		Ack:      func(ctx context.Context) error { return t.ackMail(ctx, e, batch) },
	}, nil
}

// ackMail is called when mail is in the durable transcript.
func (t *Teammate) ackMail(ctx context.Context, e *errand, batch inbox.Batch) error {
	if err := t.sup.cfg.Mail.Ack(ctx, t.name(), batch.Cursor); err != nil {
		return err
	}
	e.read(batch.Messages)
	t.delivered(batch.Messages)
	return nil
}

func (t *Teammate) delivered(messages []inbox.Message) {
	if len(messages) == 0 {
		return
	}
	ids := make([]autonomy.MessageID, len(messages))
	var powerless []string
	for i, m := range messages {
		ids[i] = m.ID
		if m.Kind.Control() {
			powerless = append(powerless, fmt.Sprintf("%s from %s is shown as text: no line in a file has authority", m.Kind, m.From))
		}
	}
	st := t.snapshot()
	t.sup.emit(Event{
		Kind: EventMailDelivered, Actor: st.Name, Task: st.Task, Claim: st.Claim, Run: st.Run, Messages: ids,
		Reason: strings.Join(powerless, "; "),
	})
}

// answer writes to the sender of each message that is of kind message. A label that names nobody gets none.
func (t *Teammate) answer(ctx context.Context, messages []inbox.Message, kind inbox.Kind, content string) {
	me := t.name()
	for _, m := range messages {
		if m.Kind != inbox.KindMessage || m.From == me || !t.sup.known(m.From) {
			continue
		}
		t.post(ctx, inbox.Message{Kind: kind, From: me, To: m.From, ReplyTo: m.ID, Content: content})
	}
}

// answerEnd sends the outcome of a run on mail or a prompt to those who wait for it.
func (t *Teammate) answerEnd(ctx context.Context, e *errand, r agent.Report) {
	kind, content := inbox.KindResult, r.Text
	if r.Termination != agent.Achieved {
		kind, content = inbox.KindError, codeOf(r)+": "+reasonOf(r)
	}
	if content == "" {
		return
	}
	if e.job.Kind == PromptJob {
		to := t.spec().SpawnedBy
		if to == "" {
			to = User
		}
		t.post(ctx, inbox.Message{Kind: kind, From: t.name(), To: to, Content: content})
	}
	t.answer(ctx, e.messages(), kind, content)
}

// tellLead writes to the lead about a trouble. Idle and status notices never go this way.
func (t *Teammate) tellLead(ctx context.Context, content string) {
	if me := t.name(); me != Lead {
		t.post(ctx, inbox.Message{Kind: inbox.KindError, From: me, To: Lead, Content: content})
	}
}

func (t *Teammate) post(ctx context.Context, m inbox.Message) {
	wctx, cancel := writing(ctx)
	defer cancel()
	_, err := t.sup.cfg.Mail.Send(wctx, m)
	t.complain("send mail to "+string(m.To), err)
	if err == nil {
		t.sup.MailHint(m.To)
	}
}
