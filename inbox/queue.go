package inbox

import (
	"context"
	"sync"
)

// entry is one line on its way to the disk.
type entry struct {
	line []byte
	err  error         // set before done is closed
	done chan struct{} // closed by the leader when the line is on disk or has failed
	lead chan struct{} // closed when this entry's sender must lead the next batch
}

// queue makes the senders of one mailbox share their writes. The first sender leads: it takes all lines that are queued
// and commits them together; those that come meanwhile wait, and one of them leads next. There is no goroutine to own.
type queue struct {
	mu      sync.Mutex
	pending []*entry
	busy    bool // some sender leads, or was told to
}

// do commits line with whatever else is queued and returns its error. Commit sets the err of each entry it fails. A
// context that ends while the line still waits takes it back; a line that is being written is waited for, which the
// bound of the lock limits, so that nobody is told "failed" of a message that arrives.
func (q *queue) do(ctx context.Context, line []byte, commit func([]*entry)) error {
	e := &entry{line: line, done: make(chan struct{}), lead: make(chan struct{})}
	q.mu.Lock()
	q.pending = append(q.pending, e)
	leads := !q.busy
	q.busy = true
	q.mu.Unlock()
	if !leads {
		select {
		case <-e.done:
			return e.err
		case <-e.lead:
		case <-ctx.Done():
			if q.withdraw(e) {
				return ctx.Err()
			}
			<-e.done
			return e.err
		}
	}
	q.lead(commit)
	return e.err
}

// lead commits everything queued, the caller's own entry included, then hands on.
func (q *queue) lead(commit func([]*entry)) {
	q.mu.Lock()
	batch := q.pending
	q.pending = nil
	q.mu.Unlock()

	commit(batch)

	for _, e := range batch {
		close(e.done)
	}
	q.mu.Lock()
	q.handOn()
	q.mu.Unlock()
}

// handOn makes the oldest waiting sender the leader. The caller holds mu and leads.
func (q *queue) handOn() {
	if len(q.pending) == 0 {
		q.busy = false
		return
	}
	close(q.pending[0].lead)
}

// withdraw takes back an entry that no leader has taken.
func (q *queue) withdraw(e *entry) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, waiting := range q.pending {
		if waiting != e {
			continue
		}
		q.pending = append(q.pending[:i:i], q.pending[i+1:]...)
		select {
		case <-e.lead: // it was told to lead just now
			q.handOn()
		default:
		}
		return true
	}
	return false
}
