package team

import (
	"context"
	"sync"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/inbox"
)

// errand is a job with what became of it so far. It outlives a run when that ends in a back-off.
type errand struct {
	job Job
	ack func(context.Context) error // of the opening; nil = nothing to acknowledge

	mu      sync.Mutex
	entered bool
	mail    []inbox.Message // in the transcript, to be answered
	tokens  int             // told by Progress
}

// read notes mail that is in the transcript now.
func (e *errand) read(messages []inbox.Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mail = append(e.mail, messages...)
}

func (e *errand) messages() []inbox.Message {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mail
}

// enter is what Job.Entered does: it acknowledges the opening, once.
func (e *errand) enter(ctx context.Context) error {
	e.mu.Lock()
	done := e.entered
	e.mu.Unlock()
	if done {
		return nil
	}
	if e.ack != nil {
		if err := e.ack(ctx); err != nil {
			return err
		}
	}
	e.mu.Lock()
	e.entered = true
	e.mu.Unlock()
	return nil
}

func (e *errand) hasEntered() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.entered
}

// taskID is the task of the errand, 0 if it has none.
func (e *errand) taskID() autonomy.TaskID {
	if e.job.Task == nil {
		return 0
	}
	return e.job.Task.ID
}

// again prepares the errand for another round.
func (e *errand) again() *errand {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.entered {
		e.job.Round++
	}
	e.tokens = 0
	return e
}
