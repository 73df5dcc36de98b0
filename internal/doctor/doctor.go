// Package doctor looks whether everything that a team needs works here: files, locks, programs, and the model. Each check
// gives a row that says what was seen and, unless all is well, how to put it right. It repairs nothing.
package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// State is how a check ended.
type State string

// The states. Only a failure of a required check makes the whole fail.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failure State = "failure"
	Skipped State = "skipped"
)

// Row is one line of the report. Fix is set on every row that is not ok.
type Row struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	State    State  `json:"state"`
	Seen     string `json:"seen"`
	Fix      string `json:"fix,omitempty"`
}

// Finding is what a check saw.
type Finding struct {
	State State
	Seen  string
	Fix   string
}

// Check looks at one thing.
type Check struct {
	Name     string
	Required bool
	Network  bool                          // skipped when offline
	Within   time.Duration                 // 0 = 10 s
	Run      func(context.Context) Finding // called once; it should heed the context, but need not be able to
}

// Chain is checks that build on one another: they run in order, on one goroutine.
type Chain []Check

// Options say how Run works.
type Options struct {
	Offline bool
	// Progress is told after each check how many are done. It is called from several goroutines, one at a time.
	Progress func(done, total int)
}

const (
	defaultWithin = 10 * time.Second
	goOnline      = "run doctor without --offline"
)

// Run makes all checks, the chains side by side, and returns their rows in the order given. It ends in bounded time, also
// when a disk does not answer.
func Run(ctx context.Context, chains []Chain, o Options) []Row {
	p := progress{tell: o.Progress}
	rows := make([][]Row, len(chains))
	var running sync.WaitGroup
	for _, chain := range chains {
		p.total += len(chain)
	}
	for i, chain := range chains {
		running.Go(func() {
			for _, c := range chain {
				rows[i] = append(rows[i], c.row(ctx, o.Offline))
				p.step()
			}
		})
	}
	running.Wait()
	var all []Row
	for _, r := range rows {
		all = append(all, r...)
	}
	return all
}

// Failed reports whether a required check failed.
func Failed(rows []Row) bool {
	for _, r := range rows {
		if r.Required && r.State == Failure {
			return true
		}
	}
	return false
}

func (c Check) row(ctx context.Context, offline bool) Row {
	r := Row{Name: c.Name, Required: c.Required}
	f := Finding{State: Skipped, Seen: "offline", Fix: goOnline}
	if !offline || !c.Network {
		f = c.bounded(ctx)
	}
	r.State, r.Seen, r.Fix = f.State, f.Seen, f.Fix
	if r.State == OK {
		r.Fix = ""
	}
	return r
}

// bounded runs the check, and gives it up when its time is over. A call into a file system that hangs cannot be
// cancelled; its goroutine then ends with the process, which is about to end.
func (c Check) bounded(ctx context.Context) Finding {
	within := c.Within
	if within == 0 {
		within = defaultWithin
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	found := make(chan Finding, 1)
	go func() { found <- c.Run(ctx) }()
	select {
	case f := <-found:
		return f
	case <-ctx.Done():
	}
	grace := time.NewTimer(time.Second) // for a check that heeds the context to say what it has seen
	defer grace.Stop()
	select {
	case f := <-found:
		return f
	case <-grace.C:
		return Finding{Failure, fmt.Sprintf("no answer within %s", within), "see whether the disk or the network hangs"}
	}
}

type progress struct {
	tell func(done, total int)

	mu          sync.Mutex
	done, total int
}

func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.tell != nil {
		p.tell(p.done, p.total)
	}
}

func ok(format string, args ...any) Finding {
	return Finding{State: OK, Seen: fmt.Sprintf(format, args...)}
}

func warning(fix, format string, args ...any) Finding {
	return Finding{Warning, fmt.Sprintf(format, args...), fix}
}

func failure(fix, format string, args ...any) Finding {
	return Finding{Failure, fmt.Sprintf(format, args...), fix}
}

func skipped(fix, format string, args ...any) Finding {
	return Finding{Skipped, fmt.Sprintf(format, args...), fix}
}
