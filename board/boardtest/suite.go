// Package boardtest is the suite that every store of tasks must pass.
//
// It speaks of what a board promises to those who use it: who may claim what, what a claim is worth, what people's
// verbs do to it. How a store keeps its tasks is its own affair and is tested where it lives.
package boardtest

import (
	"context"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// Store is a board as its users see it.
type Store interface {
	Refresh(ctx context.Context, names ...string) (board.Changes, error)
	Recheck(ctx context.Context) (board.Changes, error)
	List() []board.Entry
	Get(id autonomy.TaskID) (board.Entry, error)
	Create(ctx context.Context, draft board.Draft) (board.Task, error)

	BestFor(who board.Claimant) (autonomy.TaskID, bool)
	Eligible(id autonomy.TaskID, who board.Claimant) (bool, string)
	Claim(ctx context.Context, id autonomy.TaskID, who board.Claimant) (board.Task, error)
	ClaimNext(ctx context.Context, who board.Claimant) (board.Task, error)
	Own(name autonomy.AgentName, instance autonomy.InstanceID) (board.Task, bool)
	Lost(ref board.Ref) error
	Finish(ctx context.Context, ref board.Ref, end board.End) (board.Task, error)
	Stopped(ctx context.Context, ref board.Ref) error
	Reap(ctx context.Context) ([]board.Reaped, error)

	ClaimByPerson(ctx context.Context, id autonomy.TaskID, name autonomy.AgentName) (board.Task, error)
	Complete(ctx context.Context, id autonomy.TaskID, result board.Result) (board.Task, error)
	Release(ctx context.Context, id autonomy.TaskID) (board.Task, error)
	Retry(ctx context.Context, id autonomy.TaskID) (board.Task, error)
	Cancel(ctx context.Context, id autonomy.TaskID) (board.Task, error)
	Assign(ctx context.Context, id autonomy.TaskID, name autonomy.AgentName) (board.Task, error)
	Edit(ctx context.Context, id autonomy.TaskID, patch board.Patch) (board.Task, error)
	Archive(ctx context.Context, ids ...autonomy.TaskID) error
}

var _ Store = (*board.Dir)(nil)

// Harness is an empty board made for one case.
type Harness struct {
	// Open returns a view of the board as another process would have it.
	Open func() Store
	// Advance moves the clock of all views.
	Advance func(time.Duration)
	// Kill ends the life of an instance. All others live.
	Kill func(autonomy.InstanceID)
}

// T is what the suite needs of a *testing.T.
type T[Self any] interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
	Run(name string, f func(Self)) bool
}

// Run runs every case against a board of its own.
func Run[Self T[Self]](t Self, factory func(Self) Harness) {
	for _, c := range cases {
		t.Run(c.name, func(t Self) {
			h := factory(t)
			b := &bench{Harness: h, Store: h.Open(), t: t}
			b.refresh()
			c.run(b)
		})
	}
}

// tester is T without the part that only Run needs.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

// bench is one case's board with the words in which the cases are written.
type bench struct {
	Harness
	Store
	t tester
}

// other returns another process's view.
func (b *bench) other() *bench {
	o := &bench{Harness: b.Harness, Store: b.Open(), t: b.t}
	o.refresh()
	return o
}

func (b *bench) refresh() board.Changes {
	b.t.Helper()
	c, err := b.Store.Refresh(b.t.Context())
	b.ok(err)
	return c
}

func (b *bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("unexpected error: %v", err)
	}
}

func (b *bench) create(draft board.Draft) autonomy.TaskID {
	b.t.Helper()
	task, err := b.Create(b.t.Context(), draft)
	b.ok(err)
	return task.ID
}

func (b *bench) claim(id autonomy.TaskID, who board.Claimant) board.Task {
	b.t.Helper()
	task, err := b.Claim(b.t.Context(), id, who)
	b.ok(err)
	return task
}

func (b *bench) finish(t board.Task, end board.End) board.Task {
	b.t.Helper()
	task, err := b.Finish(b.t.Context(), t.Ref(), end)
	b.ok(err)
	return task
}

func (b *bench) reason(id autonomy.TaskID, want string) {
	b.t.Helper()
	b.refresh()
	e, err := b.Get(id)
	b.ok(err)
	if got := e.Readiness.Reason; got != want || e.Readiness.Ready != (want == "") {
		b.t.Errorf("task %d: %q, want %q", id, got, want)
	}
}

// member is a claimant whom everything suits.
func member(name string) board.Claimant {
	return board.Claimant{Name: autonomy.AgentName(name), Instance: "first", Model: true}
}
