package team

import (
	"sync"
	"time"
)

// accounts lets the members who share a key back off together: when the wait is over one of them tries first, and the
// others go on or wait again by how that went. The zero value is ready.
type accounts struct {
	mu    sync.Mutex
	byKey map[string]*account
}

// account is the state of one key that is in trouble.
type account struct {
	until   time.Time
	wait    time.Duration
	prober  *Teammate     // tries now
	changed chan struct{} // closed and replaced at every change
}

func (a *account) announce() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// fail notes that a run of t ended in trouble. It returns until when to wait, and whether this is news: the failures of
// members who started before the key was known to be in trouble neither lengthen the wait nor are told again.
func (as *accounts) fail(key string, t *Teammate, now time.Time, asked time.Duration) (until time.Time, news bool) {
	as.mu.Lock()
	defer as.mu.Unlock()
	a, ok := as.byKey[key]
	if !ok {
		a = &account{changed: make(chan struct{})}
		if as.byKey == nil {
			as.byKey = map[string]*account{}
		}
		as.byKey[key] = a
	}
	switch until := now.Add(asked); {
	case a.prober == t || !now.Before(a.until):
		a.wait = doubled(a.wait)
		a.until = now.Add(a.wait)
		if asked > 0 {
			a.until = until
		}
	case asked > 0 && until.After(a.until):
		a.until = until
	}
	if a.prober == t {
		a.prober = nil
	}
	a.announce()
	return a.until, !ok
}

// succeed notes that the key works.
func (as *accounts) succeed(key string) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if a, ok := as.byKey[key]; ok {
		delete(as.byKey, key)
		a.announce()
	}
}

// yield gives up being the one who tries, without having tried.
func (as *accounts) yield(key string, t *Teammate) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if a, ok := as.byKey[key]; ok && a.prober == t {
		a.prober = nil
		a.announce()
	}
}

// turn asks whether t may go on. If not, it says until when to wait (zero = for the one who tries) and what announces a
// change.
func (as *accounts) turn(key string, t *Teammate, now time.Time) (ok bool, until time.Time, changed <-chan struct{}) {
	as.mu.Lock()
	defer as.mu.Unlock()
	a, trouble := as.byKey[key]
	switch {
	case !trouble:
		return true, time.Time{}, nil
	case now.Before(a.until):
		return false, a.until, a.changed
	case a.prober != nil && a.prober != t:
		return false, time.Time{}, a.changed
	}
	a.prober = t
	return true, time.Time{}, nil
}
