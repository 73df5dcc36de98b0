package boardtest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// cases is what a board promises.
var cases = [...]struct {
	name string
	run  func(*bench)
}{
	{"ids grow and are never reused", idsGrow},
	{"tasks are taken by priority, then number", order},
	{"one winner, the losers are told who", oneWinner},
	{"a member holds one task", oneTask},
	{"a late end is refused", fencing},
	{"blockers are respected", blockers},
	{"failures count and delay", failures},
	{"held until retried", held},
	{"an assigned task stays assigned", assigned},
	{"role and tools are respected", suitability},
	{"a task taken from a member waits until it has stopped", takenAway},
	{"a dead instance gives back", reap},
	{"an edit is merged", edit},
	{"archived completions count", archive},
}

func idsGrow(b *bench) {
	first := b.create(board.Draft{Subject: "a"})
	second := b.create(board.Draft{Subject: "b"})
	b.ok(b.Archive(b.t.Context(), second))
	if third := b.other().create(board.Draft{Subject: "c"}); first >= second || second >= third {
		b.t.Errorf("ids %d, %d, %d", first, second, third)
	}
	if _, err := b.Get(second); !errors.Is(err, board.ErrNotFound) {
		b.t.Errorf("archived task: %v", err)
	}
}

func order(b *bench) {
	for n := range 11 {
		b.create(board.Draft{Subject: fmt.Sprint(n)})
	}
	urgent := b.create(board.Draft{Subject: "urgent", Priority: 1})
	for n, want := range []autonomy.TaskID{urgent, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11} {
		who := member(fmt.Sprint("m", n))
		if best, ok := b.BestFor(who); !ok || best != want {
			b.t.Errorf("best is %d, want %d", best, want)
		}
		task, err := b.ClaimNext(b.t.Context(), who)
		b.ok(err)
		if task.ID != want {
			b.t.Errorf("claimed %d, want %d", task.ID, want)
		}
	}
	if _, err := b.ClaimNext(b.t.Context(), member("late")); !errors.Is(err, board.ErrNothing) {
		b.t.Errorf("nothing left: %v", err)
	}
}

func oneWinner(b *bench) {
	id := b.create(board.Draft{Subject: "s"})
	var wg sync.WaitGroup
	var winners atomic.Int32
	for v := range 4 {
		view := b.other()
		for m := range 8 {
			who := member(fmt.Sprintf("m%d-%d", v, m))
			who.Instance = autonomy.InstanceID(fmt.Sprint("view", v))
			wg.Go(func() {
				var claimed *board.ClaimedError
				switch _, err := view.Claim(view.t.Context(), id, who); {
				case err == nil:
					winners.Add(1)
				case !errors.As(err, &claimed) || claimed.Owner == "":
					b.t.Errorf("%s lost with %v", who.Name, err)
				}
			})
		}
	}
	wg.Wait()
	if n := winners.Load(); n != 1 {
		b.t.Errorf("%d winners", n)
	}
}

func oneTask(b *bench) {
	first := b.claim(b.create(board.Draft{Subject: "a"}), member("alice"))
	second := b.create(board.Draft{Subject: "b"})
	var holds *board.HoldsError
	if _, err := b.Claim(b.t.Context(), second, member("alice")); !errors.As(err, &holds) || holds.ID != first.ID {
		b.t.Errorf("a second task: %v", err)
	}
	if own, ok := b.Own("alice", "first"); !ok || own.ID != first.ID {
		b.t.Errorf("own: %v %v", own.ID, ok)
	}
	if _, ok := b.Own("alice", "second"); ok {
		b.t.Errorf("another instance owns it too")
	}
	b.finish(first, board.Complete{})
	b.claim(second, member("alice"))
}

func fencing(b *bench) {
	id := b.create(board.Draft{Subject: "s"})
	old := b.claim(id, member("alice"))
	b.finish(old, board.Release{})
	current := b.claim(id, member("alice"))
	for _, end := range []board.End{board.Complete{}, board.Release{}, board.Fail{Code: "x"}, board.Hold{Reason: "x"}} {
		if _, err := b.Finish(b.t.Context(), old.Ref(), end); !errors.Is(err, board.ErrClaimLost) {
			b.t.Errorf("late %T: %v", end, err)
		}
	}
	if err := b.Lost(old.Ref()); !errors.Is(err, board.ErrClaimLost) {
		b.t.Errorf("the old claim: %v", err)
	}
	b.ok(b.Lost(current.Ref()))
	if done := b.finish(current, board.Complete{Result: board.Result{Summary: "done"}}); done.Attempt != 2 || done.Result.Summary != "done" {
		b.t.Errorf("%+v", done)
	}
	b.reason(id, "completed")
}

func blockers(b *bench) {
	first := b.create(board.Draft{Subject: "a"})
	second := b.create(board.Draft{Subject: "b", BlockedBy: []autonomy.TaskID{first}})
	b.reason(second, fmt.Sprintf("waiting on %d", first))
	if _, err := b.Claim(b.t.Context(), second, member("alice")); !errors.Is(err, board.ErrNotReady) {
		b.t.Errorf("claim of a blocked task: %v", err)
	}
	if _, err := b.Complete(b.t.Context(), second, board.Result{}); !errors.Is(err, board.ErrNotReady) {
		b.t.Errorf("completion of a blocked task: %v", err)
	}
	for _, bad := range []struct{ id, blocker autonomy.TaskID }{{first, first}, {first, second}, {second, 999}} {
		var refused *board.BlockerError
		list := []autonomy.TaskID{bad.blocker}
		if _, err := b.Edit(b.t.Context(), bad.id, board.Patch{BlockedBy: &list}); !errors.As(err, &refused) {
			b.t.Errorf("%d may wait for %d: %v", bad.id, bad.blocker, err)
		}
	}
	b.finish(b.claim(first, member("alice")), board.Complete{})
	c, err := b.Recheck(b.t.Context())
	b.ok(err)
	if len(c.Ready) != 1 || c.Ready[0] != second {
		b.t.Errorf("ready after completion: %v", c.Ready)
	}
	_, err = b.Cancel(b.t.Context(), second)
	b.ok(err)
	third := b.create(board.Draft{Subject: "c", BlockedBy: []autonomy.TaskID{second}})
	b.reason(third, fmt.Sprintf("dead dependency: %d cancelled", second))
}

func failures(b *bench) {
	id := b.create(board.Draft{Subject: "s"})
	for n := 1; n <= board.FailureLimit; n++ {
		got := b.finish(b.claim(id, member("alice")), board.Fail{Code: "exit", Message: "why"})
		if got.Failure.Count != n || got.Failure.Code != "exit" || got.Failure.Message != "why" {
			b.t.Errorf("failure %d: %+v", n, got.Failure)
		}
		if n < board.FailureLimit {
			b.reason(id, fmt.Sprintf("retry in %d s", 30*n))
			b.Advance(time.Duration(n) * board.RetryStep)
		}
	}
	b.reason(id, "failed: exit")
	_, err := b.Retry(b.t.Context(), id)
	b.ok(err)
	b.reason(id, "")
	b.finish(b.claim(id, member("alice")), board.Fail{Code: "exit", Message: "exit status 1"})
	b.reason(id, "retry in 30 s")
	_, err = b.Retry(b.t.Context(), id) // a person who has mended it need not wait
	b.ok(err)
	b.reason(id, "")
}

func held(b *bench) {
	id := b.create(board.Draft{Subject: "s"})
	b.finish(b.claim(id, member("alice")), board.Hold{Reason: "look"})
	b.reason(id, "held: look")
	_, err := b.Retry(b.t.Context(), id)
	b.ok(err)
	b.reason(id, "")
	if _, err := b.Retry(b.t.Context(), id); err == nil {
		b.t.Errorf("retried what stands in nobody's way")
	}
}

func assigned(b *bench) {
	id := b.create(board.Draft{Subject: "s", Owner: "bob"})
	if ok, why := b.Eligible(id, member("alice")); ok || why != "assigned to bob" {
		b.t.Errorf("%v %q", ok, why)
	}
	if _, err := b.ClaimNext(b.t.Context(), member("alice")); !errors.Is(err, board.ErrNothing) {
		b.t.Errorf("alice: %v", err)
	}
	if got := b.finish(b.claim(id, member("bob")), board.Release{}); got.Owner != "bob" {
		b.t.Errorf("owner after release: %q", got.Owner)
	}
	_, err := b.Assign(b.t.Context(), id, "")
	b.ok(err)
	if got := b.finish(b.claim(id, member("alice")), board.Release{}); got.Owner != "" {
		b.t.Errorf("owner after release: %q", got.Owner)
	}
}

func suitability(b *bench) {
	id := b.create(board.Draft{Subject: "s", Role: "tester", Requires: []string{"browser"}, Steps: []board.Step{{Run: "true"}}})
	who := board.Claimant{Name: "alice", Instance: "first"}
	var ineligible *board.IneligibleError
	for _, why := range []string{"wants role tester", "requires browser, which alice lacks"} {
		if _, err := b.Claim(b.t.Context(), id, who); !errors.As(err, &ineligible) || ineligible.Reason != why {
			b.t.Errorf("%v, want %q", err, why)
		}
		who.Role = "tester"
	}
	who.Tools = []string{"browser"}
	b.claim(id, who)
}
