package team

import "time"

const (
	crashLimit   = 5                // panics in crashWindow after which a member stays down
	crashWindow  = 15 * time.Minute // sliding
	crashForgive = 30 * time.Minute // without a panic resets all
	firstWait    = 30 * time.Second // of a back-off; doubles
	longestWait  = 10 * time.Minute
)

// crashes decides after each panic how long a member rests. The zero value has seen none.
type crashes struct {
	times []time.Time // within crashWindow
	wait  time.Duration
	last  time.Time
}

// add notes a panic. first says that it is the first since the last reset, dead that it was one too many.
func (c *crashes) add(now time.Time) (wait time.Duration, first, dead bool) {
	if !c.last.IsZero() && now.Sub(c.last) >= c.wait+crashForgive {
		*c = crashes{}
	}
	first = c.last.IsZero()
	c.last = now
	kept := c.times[:0]
	for _, t := range c.times {
		if now.Sub(t) < crashWindow {
			kept = append(kept, t)
		}
	}
	c.times = append(kept, now)
	c.wait = doubled(c.wait)
	return c.wait, first, len(c.times) >= crashLimit
}

// doubled is the next wait of a back-off.
func doubled(wait time.Duration) time.Duration {
	if wait == 0 {
		return firstWait
	}
	return min(2*wait, longestWait)
}
