package boardtest

import (
	"errors"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// The cases in which somebody else has a say about a member's task.

func takenAway(b *bench) {
	id := b.create(board.Draft{Subject: "s"})
	task := b.claim(id, member("alice"))
	_, err := b.other().Assign(b.t.Context(), id, "bob")
	b.ok(err)
	c := b.refresh()
	if len(c.Lost) != 1 || c.Lost[0].Ref != task.Ref() || c.Lost[0].Reason == "" {
		b.t.Fatalf("lost: %v", c.Lost)
	}
	if c := b.refresh(); len(c.Lost) != 0 {
		b.t.Errorf("told twice: %v", c.Lost)
	}
	b.reason(id, "alice is stopping")
	b.other().reason(id, "alice is stopping")
	if _, err := b.Claim(b.t.Context(), id, member("bob")); !errors.Is(err, board.ErrNotReady) {
		b.t.Errorf("bob before alice has stopped: %v", err)
	}
	if _, err := b.Finish(b.t.Context(), task.Ref(), board.Complete{}); !errors.Is(err, board.ErrClaimLost) {
		b.t.Errorf("alice completes all the same: %v", err)
	}
	b.ok(b.Stopped(b.t.Context(), task.Ref()))
	if got := b.claim(id, member("bob")); got.Owner != "bob" {
		b.t.Errorf("%+v", got)
	}
}

func reap(b *bench) {
	id := b.create(board.Draft{Subject: "s"})
	byHand := b.create(board.Draft{Subject: "t"})
	_, err := b.ClaimByPerson(b.t.Context(), byHand, "zoe")
	b.ok(err)
	for deaths := 1; deaths <= board.DeathLimit; deaths++ {
		who := member("alice")
		who.Instance = autonomy.InstanceID("life" + string(rune('0'+deaths)))
		late := b.claim(id, who)
		b.Store = b.other().Store // the next daemon
		if reaped, err := b.Reap(b.t.Context()); err != nil || len(reaped) != 0 {
			b.t.Fatalf("reaped the living: %v %v", reaped, err)
		}
		b.Kill(who.Instance)
		reaped, err := b.Reap(b.t.Context())
		b.ok(err)
		if len(reaped) != 1 || reaped[0].Ref != late.Ref() || reaped[0].Held != (deaths == board.DeathLimit) {
			b.t.Fatalf("death %d: %+v", deaths, reaped)
		}
		if _, err := b.Finish(b.t.Context(), late.Ref(), board.Complete{}); !errors.Is(err, board.ErrClaimLost) {
			b.t.Errorf("late completion: %v", err)
		}
	}
	b.reason(id, "held: its owner died too often")
	b.reason(byHand, "in progress: zoe")
}

func edit(b *bench) {
	id := b.create(board.Draft{Subject: "old", Metadata: []byte(`{"k":1}`)})
	task := b.claim(id, member("alice"))
	subject, priority := "new", int64(3)
	_, err := b.other().Edit(b.t.Context(), id, board.Patch{Subject: &subject, Priority: &priority})
	b.ok(err)
	b.Advance(time.Second)
	b.refresh()
	b.ok(b.Lost(task.Ref()))
	got := b.finish(task, board.Complete{Result: board.Result{Summary: "s"}})
	if got.Subject != "new" || got.Priority != 3 || got.Status != board.Completed || string(got.Metadata) != `{"k":1}` {
		b.t.Errorf("%+v", got)
	}
}

func archive(b *bench) {
	id := b.create(board.Draft{Subject: "s"})
	next := b.create(board.Draft{Subject: "t", BlockedBy: []autonomy.TaskID{id}})
	task := b.claim(id, member("alice"))
	if err := b.Archive(b.t.Context(), id); err == nil {
		b.t.Errorf("archived a task that is being worked")
	}
	b.finish(task, board.Complete{})
	b.ok(b.Archive(b.t.Context(), id))
	b.reason(next, "")
	b.other().reason(next, "")
}
