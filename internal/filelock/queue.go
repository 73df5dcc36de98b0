package filelock

import (
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// A file lock costs a few system calls and, when another process has it, a wait in steps. So those who wait within this
// process stand in a queue, and one who is done hands the lock on to the next without letting go of it; after some
// turns it lets go, so that other processes come in too.
const (
	maxTurns = 16                   // of one process before the file is unlocked
	maxSpan  = 5 * time.Millisecond // likewise
)

// grant is what a waiter gets: the lock itself, or with nil the right to go and get it from the disk.
type grant struct{ held *flock.Flock }

// queue is the order of this process's goroutines, first come first served.
type queue struct {
	mu      sync.Mutex
	busy    bool // someone holds the lock or is getting it
	waiting []chan grant
	turns   int // since the file was locked
	since   time.Time
}

// join returns nil when it is the caller's turn at once, else the channel on which the turn will come.
func (q *queue) join() chan grant {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.busy {
		q.busy = true
		return nil
	}
	turn := make(chan grant, 1)
	q.waiting = append(q.waiting, turn)
	return turn
}

// leave takes a waiter out of the queue. It reports the grant that came in the very moment, which must be passed on.
func (q *queue) leave(turn chan grant) (late grant, granted bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, w := range q.waiting {
		if w == turn {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return grant{}, false
		}
	}
	return <-turn, true
}

// locked notes that the file has just been locked.
func (q *queue) locked() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.turns, q.since = 0, time.Now()
}

// next ends a turn with the lock in held, nil if the disk did not give it. It hands the lock on, or returns it to be
// unlocked: then the next in the queue, if there is one, has to get it anew and is told so by woken.
func (q *queue) next(held *flock.Flock) (unlock *flock.Flock, woken chan grant) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.busy = false
		return held, nil
	}
	first := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.turns++
	if held == nil || q.turns >= maxTurns || time.Since(q.since) >= maxSpan {
		return held, first
	}
	first <- grant{held}
	return nil, nil
}
