package team

import (
	"context"
	"errors"
	"fmt"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/inbox"
)

// Receipt says what became of mail that was sent: it is on disk, and whether somebody reads it now.
type Receipt struct {
	IDs    []autonomy.MessageID `json:"ids"`
	Queued bool                 `json:"queued"`         // a receiver does not run
	Note   string               `json:"note,omitempty"` // for the sender: "queued; not running"
}

// notRunning is the note to mail for a member that nobody will start.
const notRunning = "queued; not running"

// Send puts a message into the mailbox of its receiver, or with All of every member but the sender. The sender is
// m.From, User when empty; the kind is message, or broadcast to All, when empty. A name that nobody has is an
// *UnknownNameError, and no file is touched. It returns after the mail is on disk.
func (s *Supervisor) Send(ctx context.Context, m inbox.Message) (Receipt, error) {
	var names []autonomy.AgentName
	for _, t := range s.all() {
		names = append(names, t.name())
	}
	to, err := Route(&m, names)
	switch {
	case err != nil:
		return Receipt{}, err
	case len(to) == 0:
		return Receipt{Note: "there is nobody else"}, nil
	}
	return s.sendTo(ctx, m, to)
}

func (s *Supervisor) sendTo(ctx context.Context, m inbox.Message, to []autonomy.AgentName) (Receipt, error) {
	var receipt Receipt
	var errs []error
	for _, name := range to {
		m.To = name
		sent, err := s.cfg.Mail.Send(ctx, m)
		if err != nil {
			errs = append(errs, fmt.Errorf("send to %s: %w", name, err))
			continue
		}
		receipt.IDs = append(receipt.IDs, sent.ID)
		if !s.willRead(name) {
			receipt.Queued, receipt.Note = true, notRunning
		}
		s.MailHint(name)
	}
	if receipt.Queued && len(to) > 1 {
		receipt.Note = "queued for those who do not run"
	}
	return receipt, errors.Join(errs...)
}

// willRead reports whether the receiver runs or will be brought back by the mail.
func (s *Supervisor) willRead(name autonomy.AgentName) bool {
	if name == User {
		return true
	}
	t := s.find(name)
	if t == nil {
		return false
	}
	st := t.snapshot()
	return st.Phase.Live() || s.revivable(st)
}
