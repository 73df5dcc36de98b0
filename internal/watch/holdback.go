package watch

import "time"

// place is what a hint is about.
type place struct{ dir, name string }

// holdback passes the first hint for a place on at once and keeps repeats back for a window, at whose end they are told
// as one. All windows are equally long, so those open are a queue in order of their end. It belongs to one goroutine.
type holdback struct {
	changed func(dir, name string)
	timer   *time.Timer // fires at the end of the first window
	queue   []ending
	repeats map[place]bool // for each open window, whether there was a repeat
}

type ending struct {
	place place
	at    time.Time
}

func newHoldback(changed func(dir, name string)) *holdback {
	timer := time.NewTimer(window)
	timer.Stop()
	return &holdback{changed: changed, timer: timer, repeats: map[place]bool{}}
}

// change takes a hint.
func (h *holdback) change(dir, name string, now time.Time) {
	p := place{dir, name}
	if _, open := h.repeats[p]; open {
		h.repeats[p] = true
		return
	}
	h.pass(p, now)
}

// pass tells a hint and opens its window.
func (h *holdback) pass(p place, now time.Time) {
	h.repeats[p] = false
	h.queue = append(h.queue, ending{p, now.Add(window)})
	if len(h.queue) == 1 {
		h.timer.Reset(window)
	}
	h.changed(p.dir, p.name)
}

// release closes the windows that have ended. One with a repeat tells it and opens anew.
func (h *holdback) release(now time.Time) {
	for len(h.queue) > 0 && !h.queue[0].at.After(now) {
		p := h.queue[0].place
		h.queue = h.queue[1:]
		repeat := h.repeats[p]
		delete(h.repeats, p)
		if repeat {
			h.pass(p, now)
		}
	}
	if len(h.queue) > 0 {
		h.timer.Reset(h.queue[0].at.Sub(now))
	}
}
