package wire

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// settleTime is how long a finished answer is read on for its usage.
const settleTime = 5 * time.Second

// watchdog ends a request that takes too long, by cancelling its context with the reason. Its timers run on their own;
// stop must be called once.
type watchdog struct {
	x      *Exchange
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	total   *time.Timer
	gap     *time.Timer
	gapTime time.Duration
	started bool
	stopped bool
}

// watch derives a context that ends when a limit of x is exceeded.
func watch(ctx context.Context, x *Exchange) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{x: x, cancel: cancel}
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := x.Limits.Total; d > 0 {
		w.total = time.AfterFunc(d, func() { w.bark("no complete answer within", d) })
	}
	w.arm(x.Limits.First, "no answer within")
	return ctx, w
}

// bark ends the request with the limit as the reason. It runs on a timer's goroutine.
func (w *watchdog) bark(what string, d time.Duration) {
	e := w.x.err(llm.Transport, fmt.Sprintf("%s %s", what, d))
	w.cancel(e)
}

// arm replaces the gap timer; the caller holds mu.
func (w *watchdog) arm(d time.Duration, what string) {
	if w.gap != nil {
		w.gap.Stop()
		w.gap = nil
	}
	w.gapTime = d
	if d > 0 && !w.stopped {
		w.gap = time.AfterFunc(d, func() { w.bark(what, d) })
	}
}

// heard tells that bytes of the body arrived.
func (w *watchdog) heard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.started {
		w.started = true
		w.arm(w.x.Limits.Idle, "silence for")
	} else if w.gap != nil {
		w.gap.Reset(w.gapTime)
	}
}

// finishing gives the rest of a finished answer a short time in all.
func (w *watchdog) finishing() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = true
	w.arm(0, "")
	if w.total != nil {
		w.total.Stop()
	}
	if !w.stopped {
		w.total = time.AfterFunc(settleTime, func() { w.bark("no end within", settleTime) })
	}
}

// stop ends the watch and releases the context.
func (w *watchdog) stop() {
	w.mu.Lock()
	w.stopped = true
	w.arm(0, "")
	if w.total != nil {
		w.total.Stop()
	}
	w.mu.Unlock()
	w.cancel(nil)
}
