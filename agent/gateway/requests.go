package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/ulid"
)

// State is where a request stands.
type State string

// The states. Every state but Open is final.
const (
	Open      State = "open"
	Approved  State = "approved"
	Denied    State = "denied"
	Expired   State = "expired"
	Withdrawn State = "withdrawn"
)

// Abandoned is how long a request outlives the wait for it, while the daemon lives on: long enough for a member that was
// released to claim the task and ask again, short enough that people are not asked in vain.
const Abandoned = time.Minute

// Expiry is how long a request waits for an answer; then it counts as denied.
const Expiry = 10 * time.Minute

// ErrNoRequest says that there is no request of that id.
var ErrNoRequest = errors.New("no such request")

// ErrPersonOnly says that somebody else than a person tried to answer a question about a tool.
var ErrPersonOnly = errors.New("only a person answers this")

// AnsweredError says that an answer came too late.
type AnsweredError struct {
	ID    string
	State State
	By    string
}

func (e *AnsweredError) Error() string {
	if e.By == "" {
		return fmt.Sprintf("request %s is already %s", e.ID, e.State)
	}
	return fmt.Sprintf("request %s is already %s by %s", e.ID, e.State, e.By)
}

// RequestsConfig says where requests are kept. Path is required.
type RequestsConfig struct {
	Path    string // .team/requests
	FS      atomicfile.FS
	Now     func() time.Time
	Expiry  time.Duration // 0 = the constant Expiry
	Changed func(Request) // when one is opened and after each change of its state; must not call back; nil drops it
}

// Requests is the daemon's Approver: questions wait in memory and, as files that people may read, on disk. The files have
// no authority. They are read once, at the start, to show again what was open; an answer exists only as a call of Answer.
// Any goroutine may use it.
type Requests struct {
	cfg RequestsConfig

	mu      sync.Mutex
	entries map[string]*entry
}

// entry is one request of this life of the daemon, or an open one of the life before. answered is closed when its state
// becomes final.
type entry struct {
	Request
	waiters  int
	leftAt   time.Time // when the last one stopped waiting; zero as long as nobody has
	used     bool      // a final state that was handed to whoever asked
	answered chan struct{}
}

// OpenRequests reads what was open. Files in other states are removed; those that can't be read are left alone and
// returned as errors beside the Requests, which works all the same.
func OpenRequests(c RequestsConfig) (*Requests, error) {
	if c.Path == "" {
		return nil, errors.New("requests config: Path is required")
	}
	if c.FS == nil {
		c.FS = atomicfile.OS()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Expiry <= 0 {
		c.Expiry = Expiry
	}
	if c.Changed == nil {
		c.Changed = func(Request) {}
	}
	r := &Requests{cfg: c, entries: map[string]*entry{}}
	return r, r.load()
}

// Approve opens a request, or takes over an equal one that is still open or was answered before anybody waited, and waits
// for the answer. When ctx ends the request stays open, on disk too, because the next life of the member or the daemon asks
// it again; if nobody does it counts as withdrawn after the time Abandoned. Use Withdraw when nobody will.
func (r *Requests) Approve(ctx context.Context, q Request) (Answer, error) {
	e, err := r.open(q)
	if err != nil {
		return Answer{}, err
	}
	defer r.leave(e)
	timer := time.NewTimer(e.ExpiresAt.Sub(r.cfg.Now()))
	defer timer.Stop()
	select {
	case <-e.answered:
	case <-timer.C:
		if err := r.settle(e, Expired, "", ""); err != nil {
			return Answer{}, err
		}
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
	return r.take(e), nil
}

func (r *Requests) open(q Request) (*entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.cfg.Now()
	r.sweep(now)
	r.prune(now)
	q.Arguments = canonical(q.Arguments)
	if q.Kind == "" {
		q.Kind = KindTool
	}
	e := r.equal(q, now)
	if e == nil {
		q.ID, q.CreatedAt, q.State = ulid.New(), now.UTC(), Open
		e = &entry{Request: q, answered: make(chan struct{})}
	}
	if e.State == Open {
		e.Run = q.Run
		e.ExpiresAt = now.Add(r.cfg.Expiry).UTC()
		if err := r.save(e.Request); err != nil {
			return nil, err
		}
		r.cfg.Changed(e.Request)
	}
	e.waiters++
	r.entries[e.ID] = e
	return e, nil
}

// equal finds a request that asks the very same and waits for nobody: the digest, which binds what is not shown, and all
// that was shown must agree, so that a file that somebody altered can't lend its answer to another action.
func (r *Requests) equal(q Request, now time.Time) *entry {
	for _, e := range r.entries {
		same := e.Digest == q.Digest && e.Kind == q.Kind && e.Actor == q.Actor && e.Task == q.Task && e.Tool == q.Tool &&
			string(e.Arguments) == string(q.Arguments) && e.Plan == q.Plan && e.Dir == q.Dir
		fresh := e.State == Open || e.State == Approved && !e.used
		if same && fresh && e.waiters == 0 && now.Before(e.ExpiresAt) {
			return e
		}
	}
	return nil
}

func (r *Requests) leave(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.waiters--
	e.leftAt = r.cfg.Now()
}

// sweep withdraws what was abandoned. The caller holds the lock. A file that can't be written is tried again later.
func (r *Requests) sweep(now time.Time) {
	for _, e := range r.entries {
		if e.State == Open && e.waiters == 0 && !e.leftAt.IsZero() && now.Sub(e.leftAt) > Abandoned {
			_ = r.settleLocked(e, Withdrawn, "", "")
		}
	}
}

// take hands the final state out, once.
func (r *Requests) take(e *entry) Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.used = true
	a := Answer{Decision: action.Deny, By: e.By, Request: e.ID, Reason: e.Feedback}
	switch e.State {
	case Approved:
		a.Decision = action.Allow
		a.Reason = strings.TrimSuffix("approved by "+e.By+": "+e.Feedback, ": ")
	case Expired:
		a.Decision, a.By, a.Reason = action.Expired, "nobody", "nobody answered within "+r.cfg.Expiry.String()
	case Withdrawn:
		a.Reason = "the question was withdrawn"
	default:
		a.Reason = strings.TrimSuffix("denied by "+e.By+": "+e.Feedback, ": ")
	}
	return a
}

// Reply is an answer of somebody.
type Reply struct {
	Approve  bool
	By       string // a person's name, for the log
	Feedback string
}

// Answer answers a request for a person. It is called by the control handler that knows the caller to be one, and by
// nothing else. The first answer counts: a later one gets an *AnsweredError. An approval that nobody waits for is kept
// until the same is asked again, or lost with the process.
func (r *Requests) Answer(id string, reply Reply) (Request, error) { return r.answer(id, reply, false) }

// Review answers a plan for the lead. For every other kind it returns ErrPersonOnly.
func (r *Requests) Review(id string, reply Reply) (Request, error) { return r.answer(id, reply, true) }

func (r *Requests) answer(id string, reply Reply, planOnly bool) (Request, error) {
	r.mu.Lock()
	r.sweep(r.cfg.Now())
	e, ok := r.entries[id]
	r.mu.Unlock()
	if !ok {
		return Request{}, fmt.Errorf("%w: %s", ErrNoRequest, id)
	}
	if planOnly && e.Kind != KindPlan {
		return Request{}, fmt.Errorf("answer request %s: %w", id, ErrPersonOnly)
	}
	state := Denied
	if reply.Approve {
		state = Approved
	}
	err := r.settle(e, state, reply.By, reply.Feedback)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		return e.Request, err
	}
	if e.State != state || e.By != reply.By {
		return e.Request, &AnsweredError{ID: id, State: e.State, By: e.By}
	}
	return e.Request, nil
}

// settle makes an open request final and wakes whoever waits. It is on disk before anybody acts on it. A request that is
// final already stays as it is, which for an expiry that lost a race is no error.
func (r *Requests) settle(e *entry, state State, by, feedback string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settleLocked(e, state, by, feedback)
}

func (r *Requests) settleLocked(e *entry, state State, by, feedback string) error {
	if e.State == Open && state != Withdrawn && !r.cfg.Now().Before(e.ExpiresAt) {
		state, by, feedback = Expired, "", ""
	}
	if e.State != Open {
		if state == Expired || state == Withdrawn {
			return nil
		}
		return &AnsweredError{ID: e.ID, State: e.State, By: e.By}
	}
	final := e.Request
	final.State, final.By, final.Feedback = state, by, feedback
	if err := r.save(final); err != nil {
		return err
	}
	e.Request = final
	close(e.answered)
	r.cfg.Changed(final)
	return nil
}

// List is the open requests, oldest first.
func (r *Requests) List() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.cfg.Now()
	r.sweep(now)
	var open []Request
	for _, e := range r.entries {
		if e.State == Open && now.Before(e.ExpiresAt) {
			open = append(open, e.Request)
		}
	}
	slices.SortFunc(open, func(a, b Request) int { return strings.Compare(a.ID, b.ID) })
	return open
}

// Withdraw ends the open requests of a member for a task: the task went to another, was finished or removed. Task 0 means
// those of every task.
func (r *Requests) Withdraw(actor autonomy.AgentName, task autonomy.TaskID) error {
	r.mu.Lock()
	var gone []*entry
	for _, e := range r.entries {
		if e.State == Open && e.Actor == actor && (task == 0 || e.Task == task) {
			gone = append(gone, e)
		}
	}
	r.mu.Unlock()
	var errs []error
	for _, e := range gone {
		errs = append(errs, r.settle(e, Withdrawn, "", ""))
	}
	return errors.Join(errs...)
}
