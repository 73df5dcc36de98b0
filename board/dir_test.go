package board_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

func TestLifeOfATask(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "first"}`)
	f.drop(2, `{"subject": "second", "blockedBy": [1]}`)
	c := f.refresh()
	if !slices.Equal(c.Ready, []autonomy.TaskID{1}) {
		t.Fatalf("ready: %v", c.Ready)
	}
	f.wantReason(2, "waiting on 1")

	task := must(f.ClaimNext(t.Context(), member("alice")))(t)
	if task.ID != 1 || task.Status != board.InProgress || task.Owner != "alice" || task.Attempt != 1 || task.Claim == nil {
		t.Fatalf("claimed: %+v", task)
	}
	if _, err := f.ClaimNext(t.Context(), member("bob")); !errors.Is(err, board.ErrNothing) {
		t.Fatalf("bob: %v", err)
	}
	var claimed *board.ClaimedError
	if _, err := f.Claim(t.Context(), 1, member("bob")); !errors.As(err, &claimed) || claimed.Owner != "alice" {
		t.Fatalf("bob: %v", err)
	}
	var holds *board.HoldsError
	if _, err := f.ClaimNext(t.Context(), member("alice")); !errors.As(err, &holds) || holds.ID != 1 {
		t.Fatalf("alice again: %v", err)
	}
	if own, ok := f.Own("alice", "one"); !ok || own.ID != 1 {
		t.Fatalf("own: %v %v", own, ok)
	}

	done := f.finish(task, board.Complete{Result: board.Result{Summary: "fine", Verified: true}})
	if done.Status != board.Completed || done.Owner != "alice" || done.Claim != nil || done.Result.Summary != "fine" {
		t.Fatalf("completed: %+v", done)
	}
	if c := must(f.Recheck(t.Context()))(t); !slices.Equal(c.Ready, []autonomy.TaskID{2}) {
		t.Fatalf("ready after completion: %v", c.Ready)
	}
	if _, err := f.Finish(t.Context(), task.Ref(), board.Release{}); !errors.Is(err, board.ErrClaimLost) {
		t.Fatalf("finish twice: %v", err)
	}
}

func TestUnknownFieldsAndStyleSurvive(t *testing.T) {
	f := newFixture(t)
	src := "\ufeff{\r\n\t\"x-note\": {\"a\":1.50,  \"b\":[ ]},\r\n\t\"subject\": \"keep \\u00e9\",\r\n\t\"big\": 12345678901234567890,\r\n\t\"status\": \"pending\"\r\n}\r\n"
	f.drop(1, src)
	task := f.claim(1, member("alice"))
	f.finish(task, board.Release{})
	got := f.read(1)
	for _, part := range []string{
		"\ufeff{\r\n\t\"x-note\": {\"a\":1.50,  \"b\":[ ]},\r\n\t\"subject\": \"keep \\u00e9\",\r\n\t\"big\": 12345678901234567890,\r\n\t\"status\": \"pending\"",
		"\r\n\t\"owner\": \"\"", "\r\n\t\"attempt\": 1",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in %q", part, got)
		}
	}
	if strings.Contains(got, "claim") {
		t.Errorf("a claim is left: %q", got)
	}
}

func TestHandEditOfAnOwnedTaskIsMerged(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "old", "mine": 1}`)
	task := f.claim(1, member("alice"))
	f.edit(1, `"old"`, `"new"`)
	f.edit(1, `"mine": 1`, `"mine": 2`)
	done := f.finish(task, board.Complete{Result: board.Result{Summary: "s"}})
	if done.Subject != "new" || !strings.Contains(f.read(1), `"mine": 2`) {
		t.Errorf("edit is lost: %s", f.read(1))
	}
}

func TestTaskIsTakenAway(t *testing.T) {
	for _, c := range []struct {
		name   string
		edit   func(*fixture)
		reason string
		status board.Status // after Stopped
		owner  autonomy.AgentName
	}{
		{"owner changed", func(f *fixture) { f.edit(1, `"owner": "alice"`, `"owner": "bob"`) }, "owner was changed to bob", board.Pending, "bob"},
		{"owner cleared", func(f *fixture) { f.edit(1, `"owner": "alice"`, `"owner": null`) }, "owner was cleared", board.Pending, ""},
		{"completed", func(f *fixture) { f.edit(1, "in_progress", "completed") }, "status was set to completed", board.Completed, "alice"},
		{"claim removed", func(f *fixture) { f.edit(1, `"claim"`, `"was"`) }, "the claim was removed", board.InProgress, "alice"},
		{"verb release", func(f *fixture) { must(f.open().Release(background, 1))(f.t) }, "status was set to pending", board.Pending, ""},
		{"verb cancel", func(f *fixture) { must(f.open().Cancel(background, 1))(f.t) }, "status was set to cancelled", board.Cancelled, "alice"},
		{"verb assign", func(f *fixture) { must(f.open().Assign(background, 1, "bob"))(f.t) }, "status was set to pending", board.Pending, "bob"},
		{"verb complete", func(f *fixture) { must(f.open().Complete(background, 1, board.Result{}))(f.t) }, "status was set to completed", board.Completed, "alice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			f.drop(1, `{"subject": "s"}`)
			task := f.claim(1, member("alice"))
			if err := f.Lost(task.Ref()); err != nil {
				t.Fatal(err)
			}
			c.edit(f)
			changes := f.refresh()
			if len(changes.Lost) != 1 || changes.Lost[0].Reason != c.reason || changes.Lost[0].Ref != task.Ref() {
				t.Fatalf("lost: %v", changes.Lost)
			}
			if err := f.Lost(task.Ref()); !errors.Is(err, board.ErrClaimLost) {
				t.Errorf("Lost: %v", err)
			}
			if _, err := f.Finish(t.Context(), task.Ref(), board.Complete{}); !errors.Is(err, board.ErrClaimLost) {
				t.Errorf("Finish: %v", err)
			}
			if f.entry(1).Readiness.Ready {
				t.Error("offered before the attempt has stopped")
			}
			if _, err := f.ClaimNext(t.Context(), member("bob")); !errors.Is(err, board.ErrNothing) {
				t.Errorf("bob got it before alice stopped: %v", err)
			}
			if err := f.Stopped(t.Context(), task.Ref()); err != nil {
				t.Fatal(err)
			}
			e := f.entry(1)
			if e.Task.Status != c.status || e.Task.Owner != c.owner || e.Task.Claim != nil {
				t.Errorf("after Stopped: %+v", e.Task)
			}
			if e.Readiness.Ready != (c.status == board.Pending) {
				t.Errorf("readiness after Stopped: %+v", e.Readiness)
			}
		})
	}
}

func TestFileIsRemovedAndDroppedAgainWhileItsMemberWorks(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	task := f.claim(1, member("alice"))
	f.remove(1)
	if c := f.refresh(); len(c.Lost) != 0 || c.Next.IsZero() {
		t.Fatalf("not given the time of an editor's save: %+v", c)
	}
	f.advance(100 * time.Millisecond)
	c := must(f.Recheck(t.Context()))(t)
	if len(c.Lost) != 1 || c.Lost[0].Reason != "file was removed" {
		t.Fatalf("lost: %v", c.Lost)
	}
	f.drop(1, `{"subject": "s again"}`)
	f.wantReason(1, "alice is stopping")
	if err := f.Stopped(t.Context(), task.Ref()); err != nil {
		t.Fatal(err)
	}
	f.wantReason(1, "ready")
}

func TestEditorThatMovesTheFileAwayTakesNothing(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	task := f.claim(1, member("alice"))
	src := f.read(1)
	f.remove(1)
	f.refresh()
	f.drop(1, strings.Replace(src, `"s"`, `"edited"`, 1))
	f.advance(time.Second)
	if c := f.refresh(); len(c.Lost) != 0 || f.entry(1).Task.Subject != "edited" {
		t.Fatalf("%+v", c)
	}
	f.finish(task, board.Complete{})
}

func TestFailuresAreCountedWithBackOff(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s", "steps": ["false"]}`)
	for n := 1; n <= 3; n++ {
		task := f.claim(1, member("alice"))
		got := f.finish(task, board.Fail{Code: "exit 1", Message: "last lines"})
		if got.Failure.Count != n || got.Failure.Message != "last lines" {
			t.Fatalf("failure %d: %+v", n, got.Failure)
		}
		if n == 3 {
			break
		}
		wait := time.Duration(n) * 30 * time.Second
		if !got.NotBefore.Equal(f.clock().UTC().Truncate(time.Millisecond).Add(wait)) || got.Owner != "" {
			t.Fatalf("after failure %d: %+v", n, got)
		}
		f.wantReason(1, fmt.Sprintf("retry in %d s", 30*n))
		f.advance(wait)
		if c := must(f.Recheck(t.Context()))(t); !slices.Equal(c.Ready, []autonomy.TaskID{1}) {
			t.Fatalf("not ready after the wait: %+v", c)
		}
	}
	f.wantReason(1, "failed: exit 1")
	got := must(f.Retry(t.Context(), 1))(t)
	if got.Status != board.Pending || got.Failure.Count != 0 || !got.NotBefore.IsZero() {
		t.Errorf("retried: %+v", got)
	}
	f.wantReason(1, "ready")
}

func TestHoldWaitsForAPerson(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	f.finish(f.claim(1, member("alice")), board.Hold{Reason: "approval denied"})
	f.wantReason(1, "held: approval denied")
	must(f.Retry(t.Context(), 1))(t)
	f.wantReason(1, "ready")
}

func TestAssignedTaskStaysAssignedWhenReleased(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s", "owner": "alice"}`)
	if _, err := f.ClaimNext(t.Context(), member("bob")); !errors.Is(err, board.ErrNothing) {
		t.Fatalf("bob: %v", err)
	}
	if ok, why := f.Eligible(1, member("bob")); ok || why != "assigned to alice" {
		t.Errorf("%v %q", ok, why)
	}
	got := f.finish(f.claim(1, member("alice")), board.Release{})
	if got.Owner != "alice" || got.Status != board.Pending {
		t.Errorf("released: %+v", got)
	}
}

func TestR05_DeadOwnerGivesTheTaskBack(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	task := f.claim(1, member("alice"))
	f.reopen() // a new daemon
	for deaths := 1; deaths <= board.DeathLimit; deaths++ {
		f.kill(task.Claim.Instance)
		reaped := must(f.Reap(t.Context()))(t)
		if len(reaped) != 1 || reaped[0].Ref != task.Ref() || reaped[0].By != "alice" || reaped[0].Leftover {
			t.Fatalf("reaped: %+v", reaped)
		}
		e := f.entry(1)
		if e.Task.Status != board.Pending || e.Task.Owner != "" || e.Task.Failure.Deaths != deaths || e.Task.Failure.Count != 0 {
			t.Fatalf("after death %d: %+v", deaths, e.Task)
		}
		if deaths == board.DeathLimit {
			f.wantReason(1, "held: its owner died too often")
			break
		}
		who := member("alice") // the same name, in another life
		who.Instance = autonomy.InstanceID(strings.Repeat("x", deaths))
		late := task.Ref()
		task = f.claim(1, who)
		if _, err := f.Finish(t.Context(), late, board.Complete{}); !errors.Is(err, board.ErrClaimLost) {
			t.Fatalf("late completion under the old claim: %v", err)
		}
		f.reopen()
	}
}

func TestDeathsAreResetByAnyOtherEnd(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s", "failure": {"code": "died", "message": "", "count": 1, "deaths": 4}}`)
	got := f.finish(f.claim(1, member("alice")), board.Release{})
	if got.Failure.Deaths != 0 || got.Failure.Count != 1 {
		t.Errorf("%+v", got.Failure)
	}
}

func TestReapSparesTheLivingAndPeople(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "a"}`)
	f.drop(2, `{"subject": "b"}`)
	f.claim(1, member("alice"))
	must(f.ClaimByPerson(t.Context(), 2, "zoe"))(t)
	f.reopen()
	if reaped := must(f.Reap(t.Context()))(t); len(reaped) != 0 {
		t.Errorf("reaped: %+v", reaped)
	}
}

func TestReapOfATaskThatAPersonHadTakenCountsNoDeath(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	f.claim(1, member("alice"))
	f.reopen()
	must(f.Release(t.Context(), 1))(t)
	f.wantReason(1, "alice is stopping")
	f.kill("one")
	reaped := must(f.Reap(t.Context()))(t)
	if len(reaped) != 1 || !reaped[0].Leftover || f.entry(1).Task.Failure != nil {
		t.Errorf("reaped: %+v, task: %+v", reaped, f.entry(1).Task)
	}
	f.wantReason(1, "ready")
}

func TestOwnerOtherThanTheHolderIsAnAssignment(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	must(f.ClaimByPerson(t.Context(), 1, "zoe"))(t)
	f.edit(1, `"owner": "zoe"`, `"owner": "bob"`)
	f.refresh()
	must(f.Reap(t.Context()))(t)
	e := f.entry(1)
	if e.Task.Status != board.Pending || e.Task.Owner != "bob" || !e.Readiness.Ready {
		t.Errorf("%+v", e)
	}
}

func TestFolderThatGoesAwayPausesTheBoard(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	f.drop(2, `{"subject": "t"}`)
	task := f.claim(1, member("alice"))
	aside := f.path + ".aside"
	if err := os.Rename(f.path, aside); err != nil {
		t.Fatal(err)
	}
	var folder *board.FolderError
	if _, err := f.Refresh(t.Context()); !errors.As(err, &folder) || !strings.Contains(err.Error(), "does not exist") {
		t.Fatalf("refresh: %v", err)
	}
	if _, err := f.ClaimNext(t.Context(), member("bob")); err == nil {
		t.Error("claimed without a folder")
	}
	if err := f.Lost(task.Ref()); err != nil {
		t.Errorf("the claim is lost: %v", err)
	}
	if err := os.Symlink(aside, f.path); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Fatalf("refresh of a link: %v", err)
	}
	must(0, errors.Join(os.Remove(f.path), os.Rename(aside, f.path)))(t)
	f.refresh()
	f.finish(task, board.Complete{})
	if c := f.claim(2, member("bob")); c.ID != 2 {
		t.Error("the board did not come back")
	}
}

func TestArchive(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "a", "status": "completed"}`)
	f.drop(2, `{"subject": "b", "status": "cancelled"}`)
	f.drop(3, `{"subject": "c", "blockedBy": [1]}`)
	f.drop(4, `{"subject": "d", "blockedBy": [2]}`)
	if err := f.Archive(t.Context(), 1, 2); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		f.wantReason(3, "ready")
		f.wantReason(4, "dead dependency: 2 cancelled")
		if _, err := f.Get(1); !errors.Is(err, board.ErrNotFound) {
			t.Errorf("still there: %v", err)
		}
	}
	check()
	f.reopen()
	check()
	f.claim(3, member("alice"))
	if err := f.Archive(t.Context(), 3); err == nil {
		t.Error("archived a task that is being worked")
	}
	if err := os.Remove(filepath.Join(f.path, "archive", "task_1.json")); err != nil {
		t.Fatal(err)
	}
	f.drop(5, `{"subject": "e", "blockedBy": [1]}`)
	f.wantReason(5, "missing dependency: 1")
}
