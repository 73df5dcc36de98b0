package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// receive lets mail that came since the last turn into the transcript.
func (r *run) receive(ctx context.Context) error {
	if r.Mail == nil {
		return nil
	}
	d, ok, err := r.Mail.Poll(ctx)
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return err
	case err != nil:
		return r.fault(FaultMail, err) // it comes again with the next turn
	case !ok:
		return nil
	}
	return r.deliver(d)
}

func (r *run) deliver(d Delivery) error {
	d.Letters = slices.Clone(d.Letters)
	for i, l := range d.Letters {
		d.Letters[i].From, d.Letters[i].Content = r.Mask(l.From), r.Mask(l.Content)
	}
	ids, err := r.Transcript.Deliver(d)
	var unacknowledged *AckError
	if err != nil && !errors.As(err, &unacknowledged) {
		return &logError{err}
	}
	if err != nil {
		if err := r.fault(FaultMail, err); err != nil {
			return err
		}
	}
	r.report.Mail = append(r.report.Mail, ids...)
	if len(ids) == 0 {
		return nil
	}
	return r.emit(MailDelivered{IDs: ids})
}

// interruptible is a context for one turn that ends also when urgent mail comes. stop must be called; it waits for the
// goroutine that listens.
func (r *run) interruptible(ctx context.Context) (turn context.Context, stop func()) {
	if r.Mail == nil || r.Mail.Interrupts() == nil {
		return ctx, func() {}
	}
	turn, cancel := context.WithCancelCause(ctx)
	var listener sync.WaitGroup
	listener.Go(func() {
		select {
		case <-r.Mail.Interrupts():
			cancel(errInterrupted)
		case <-turn.Done():
		}
	})
	return turn, func() {
		cancel(nil)
		listener.Wait()
	}
}

// interruption turns an error that urgent mail caused into an event: the run goes on with the next turn, in which the
// mail is read. Every other error is returned as it is.
func (r *run) interruption(turn context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(turn), errInterrupted) {
		return err
	}
	var logged *logError
	if errors.As(err, &logged) {
		return err
	}
	return r.fault(FaultInterrupted, errInterrupted)
}
