package provider

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limiters is the registry of what all clients with one key share: how fast and how many at once, the gate that a 429
// closes for all, and what was learned about the models behind it. The zero value is ready; it is safe for concurrent
// use and must not be copied.
type Limiters struct {
	mu    sync.Mutex
	lanes map[laneKey]*lane
}

// laneKey tells keys apart without keeping them.
type laneKey struct {
	provider, host string
	key            [sha256.Size]byte
}

// lane gives what is shared for an endpoint's key.
func (l *Limiters) lane(e Endpoint) *lane {
	k := laneKey{e.Provider.ID, hostOf(e.BaseURL), sha256.Sum256([]byte(e.Key.Reveal()))}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lanes == nil {
		l.lanes = map[laneKey]*lane{}
	}
	if l.lanes[k] == nil {
		l.lanes[k] = newLane(e.Provider.PerMinute, e.Provider.InFlight)
	}
	return l.lanes[k]
}

// lane is the limiter of one key, with the memory of its models.
type lane struct {
	slots  chan struct{}
	pace   *rate.Limiter // nil without a limit
	models memory

	mu      sync.Mutex
	until   time.Time     // when shut: the earliest moment for the next request
	told    time.Time     // when shut: what the server said, where that is too late to be waited for
	shut    bool          // a 429 came and no request has passed since
	probing bool          // when shut: one request is out to try
	changed chan struct{} // closed and replaced when the gate changes
}

// newLane makes the limiter of one key; perMinute 0 means no pace.
func newLane(perMinute, inFlight int) *lane {
	if inFlight <= 0 {
		inFlight = 4
	}
	l := &lane{slots: make(chan struct{}, inFlight), changed: make(chan struct{})}
	if perMinute > 0 {
		// A burst of a few requests is let through; the bucket then refills evenly.
		l.pace = rate.NewLimiter(rate.Limit(float64(perMinute)/60), min(inFlight, perMinute))
	}
	return l
}

// pass is the right to send one request; its end must be told.
type pass struct {
	lane  *lane
	probe bool
	held  time.Duration // how long the gate held the request
}

// acquire waits for a slot, for the pace and for the gate, or for the context.
func (l *lane) acquire(ctx context.Context) (*pass, error) {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l.pace != nil {
		if err := l.pace.Wait(ctx); err != nil {
			<-l.slots
			return nil, err
		}
	}
	arrived := time.Now()
	probe, err := l.gate(ctx)
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &pass{lane: l, probe: probe, held: time.Since(arrived)}, nil
}

// errHeld says that the gate stayed shut for as long as one request may wait.
var errHeld = errors.New("other requests with this key are still being limited")

// spentError says that the server has just told another request with the key to come back much later.
type spentError struct{ after time.Duration }

func (e *spentError) Error() string { return "another request with this key was told to wait" }

// gate waits while the lane is shut. When the time is up one request goes through as the probe; the others wait for how
// it ends, at most as long as a request may wait in all.
func (l *lane) gate(ctx context.Context) (probe bool, err error) {
	limit := time.NewTimer(maxWaiting)
	defer limit.Stop()
	for {
		l.mu.Lock()
		if !l.shut {
			l.mu.Unlock()
			return false, nil
		}
		wait := time.Until(l.until)
		if after := time.Until(l.told); wait > 0 && after > 0 {
			l.mu.Unlock()
			return false, &spentError{after}
		}
		if wait <= 0 && !l.probing {
			l.probing = true
			l.mu.Unlock()
			return true, nil
		}
		changed := l.changed
		probing := l.probing
		l.mu.Unlock()

		timer := time.NewTimer(wait)
		due := timer.C
		if probing {
			due = nil // the probe's end decides, not the clock
		}
		select {
		case <-due:
		case <-changed:
		case <-limit.C:
			err = errHeld
		case <-ctx.Done():
			err = ctx.Err()
		}
		timer.Stop()
		if err != nil {
			return false, err
		}
	}
}

// done ends a request. limited means that it was answered with a rate error, answered that it was answered otherwise;
// with neither it was cancelled, and the next one probes in its place. After a wait that nobody sleeps through the next
// one probes early, for a person may have acted; until then all others are told at once.
func (p *pass) done(limited, answered bool, wait time.Duration) {
	l := p.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	<-l.slots
	switch {
	case limited:
		if until := time.Now().Add(min(wait, maxWait)); until.After(l.until) || !l.shut {
			l.until = until
		}
		if l.told = (time.Time{}); wait > maxWait {
			l.told = time.Now().Add(wait)
		}
		l.shut = true
	case answered && p.probe:
		l.shut = false
	}
	if p.probe {
		l.probing = false
	}
	if limited || p.probe {
		close(l.changed)
		l.changed = make(chan struct{})
	}
}
