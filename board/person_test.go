package board_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

func TestCreate(t *testing.T) {
	f := newFixture(t)
	exit := 3
	draft := board.Draft{
		Subject: "Write <it>", Description: "# Why\n", ActiveForm: "Writing", Owner: "bob", Priority: 2, Role: "writer",
		Requires: []string{"file"}, Verify: "true", CreatedBy: "alice", Metadata: []byte(`{"k": 1.0}`),
		NotBefore: f.clock().UTC().Truncate(time.Second),
		Steps: []board.Step{
			{Run: "a && b > c"},
			{Name: "n", Run: "x", Timeout: 90 * time.Second, Expect: &board.Expect{Exit: &exit, Contains: "c", File: "f"}},
			{Tool: "read_file", Arguments: []byte(`{"path":"p"}`)},
		},
	}
	task := must(f.Create(t.Context(), draft))(t)
	draft.Subject, draft.BlockedBy = "Second", []autonomy.TaskID{task.ID}
	second := must(f.Create(t.Context(), draft))(t)
	if task.ID != 1 || second.ID != 2 || second.BlockedBy[0] != 1 {
		t.Fatalf("%+v %+v", task, second)
	}
	if task.Subject != "Write <it>" || task.Owner != "bob" || task.CreatedBy != "alice" || len(task.Steps) != 3 ||
		*task.Steps[1].Expect.Exit != 3 || task.Steps[1].Timeout != 90*time.Second || string(task.Metadata) != `{"k": 1.0}` {
		t.Errorf("%+v", task)
	}
	if src := f.read(1); !strings.HasPrefix(src, "{\n  \"id\": 1,\n  \"subject\": \"Write <it>\",\n") || !strings.Contains(src, `"a && b > c"`) {
		t.Error(src)
	}
	f.reopen()
	f.wantReason(2, "waiting on 1")
}

func TestCreateRefuses(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s", "blockedBy": [2]}`)
	for _, c := range []struct {
		draft board.Draft
		want  string
	}{
		{board.Draft{}, "new task: subject must not be blank"},
		{board.Draft{Subject: "a\nb"}, "new task: subject must be one line"},
		{board.Draft{Subject: "s", Steps: []board.Step{{}}}, "new task: step 1: the command is blank"},
		{board.Draft{Subject: "s", BlockedBy: []autonomy.TaskID{9}}, "blocked by 9: there is no such task"},
		{board.Draft{Subject: "s", BlockedBy: []autonomy.TaskID{2}}, "blocked by 2: a task cannot wait for itself"},
		{board.Draft{Subject: "s", BlockedBy: []autonomy.TaskID{1}}, "blocked by 1: that would make a cycle: 2 → 1 → 2"},
		{board.Draft{Subject: "s", BlockedBy: []autonomy.TaskID{-1}}, "new task: blockedBy: every entry must be 1 or more, not -1"},
		{board.Draft{Subject: strings.Repeat("x", 201)}, "new task: subject must have at most 200 characters, not 201"},
		{board.Draft{Subject: "s", Description: strings.Repeat("x", board.MaxFile)}, "new task: larger than 256 KiB"},
	} {
		if _, err := f.Create(t.Context(), c.draft); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if names := must(os.ReadDir(f.path))(t); len(names) != 2 { // the task and the lock
		t.Errorf("something was left: %v", names)
	}
}

func TestR21_IDsAreNeverReused(t *testing.T) {
	f := newFixture(t)
	f.drop(7, `{"subject": "dropped"}`)
	f.claim(7, member("alice")) // the board writes, which raises the mark
	f.remove(7)
	f.reopen()
	create := func() autonomy.TaskID { return must(f.Create(t.Context(), board.Draft{Subject: "s"}))(t).ID }
	if id := create(); id != 8 {
		t.Errorf("got %d", id)
	}
	if err := f.Archive(t.Context(), 8); err != nil {
		t.Fatal(err)
	}
	must(0, os.Remove(filepath.Join(f.path, ".highwater")))(t)
	f.reopen()
	if id := create(); id != 9 {
		t.Errorf("after archiving and loss of the mark: %d", id)
	}
	f.write(".highwater", "\x00\x00")
	f.drop(20, `{"subject":`)
	if id := create(); id != 21 || len(f.told(board.NoticeMark)) != 1 {
		t.Errorf("with a bad mark: %d, told %v", id, f.told(board.NoticeMark))
	}
	f.drop(9223372036854775807, `{"subject": "last"}`)
	if _, err := f.Create(t.Context(), board.Draft{Subject: "s"}); err == nil || !strings.Contains(err.Error(), "task_9223372036854775807.json") {
		t.Errorf("beyond the greatest id: %v", err)
	}
}

func TestVerbsCheckTheStatus(t *testing.T) {
	verbs := map[string]func(*fixture) error{
		"claim":    func(f *fixture) error { _, err := f.ClaimByPerson(background, 1, "zoe"); return err },
		"complete": func(f *fixture) error { _, err := f.Complete(background, 1, board.Result{}); return err },
		"release":  func(f *fixture) error { _, err := f.Release(background, 1); return err },
		"retry":    func(f *fixture) error { _, err := f.Retry(background, 1); return err },
		"cancel":   func(f *fixture) error { _, err := f.Cancel(background, 1); return err },
		"assign":   func(f *fixture) error { _, err := f.Assign(background, 1, "bob"); return err },
		"archive":  func(f *fixture) error { return f.Archive(background, 1) },
	}
	allowed := map[string]string{
		`"status": "pending"`:                          "claim complete cancel assign archive",
		`"status": "in_progress"`:                      "complete release cancel assign",
		`"status": "completed"`:                        "archive",
		`"status": "failed"`:                           "retry cancel archive",
		`"status": "cancelled"`:                        "archive",
		`"status": "pending", "held": {"reason": "r"}`: "complete retry cancel assign archive",
		`"status": "gone"`:                             "",
	}
	for state, verbsAllowed := range allowed {
		for name, verb := range verbs {
			f := newFixture(t)
			src := fmt.Sprintf(`{"subject": "s", %s}`, state)
			f.drop(1, src)
			err := verb(f)
			if want := strings.Contains(verbsAllowed, name); (err == nil) != want {
				t.Errorf("%s of a task with %s: %v", name, state, err)
			}
			if err != nil && f.read(1) != src {
				t.Errorf("%s was refused and wrote %s", name, f.read(1))
			}
		}
	}
}

func TestPeopleOwnManyAndFinishByHand(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "a", "role": "tester", "requires": ["browser"]}`)
	f.drop(2, `{"subject": "b", "owner": "zoe"}`)
	for id := autonomy.TaskID(1); id <= 2; id++ {
		task := must(f.ClaimByPerson(t.Context(), id, "zoe"))(t)
		if task.Owner != "zoe" || task.Claim.Instance != "" {
			t.Errorf("%+v", task)
		}
	}
	done := must(f.Complete(t.Context(), 1, board.Result{Summary: "by hand"}))(t)
	if done.Status != board.Completed || done.Claim != nil || done.Owner != "zoe" || done.Result.Summary != "by hand" {
		t.Errorf("%+v", done)
	}
	if released := must(f.Release(t.Context(), 2))(t); released.Owner != "zoe" || released.Claim != nil {
		t.Errorf("%+v", released)
	}
	f.wantReason(2, "ready")
}

func TestClaimByPersonWaitsForALiveMember(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	f.claim(1, member("alice"))
	cli := f.open()
	must(cli.Release(t.Context(), 1))(t)
	var notReady *board.NotReadyError
	if _, err := cli.ClaimByPerson(t.Context(), 1, "zoe"); !errors.As(err, &notReady) || notReady.Reason != "alice is stopping" {
		t.Errorf("%v", err)
	}
	f.kill("one")
	must(cli.ClaimByPerson(t.Context(), 1, "zoe"))(t)
}

func TestEdit(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "a"}`)
	f.drop(2, `{"subject": "b", "note": 1}`)
	task := f.claim(2, member("alice"))
	subject, priority, blockers := "c", int64(4), []autonomy.TaskID{1}
	got := must(f.Edit(t.Context(), 2, board.Patch{Subject: &subject, Priority: &priority, BlockedBy: &blockers, Metadata: []byte(`{"x":1}`)}))(t)
	if got.Subject != "c" || got.Priority != 4 || got.BlockedBy[0] != 1 || got.Claim == nil || !strings.Contains(f.read(2), `"note": 1`) {
		t.Errorf("%+v %s", got, f.read(2))
	}
	if err := f.Lost(task.Ref()); err != nil {
		t.Error(err)
	}
	blockers = []autonomy.TaskID{2}
	var blocker *board.BlockerError
	for _, id := range []autonomy.TaskID{1, 2} {
		if _, err := f.Edit(t.Context(), id, board.Patch{BlockedBy: &blockers}); !errors.As(err, &blocker) {
			t.Errorf("task %d may wait for 2: %v", id, err)
		}
	}
	before := f.read(2)
	must(f.Edit(t.Context(), 2, board.Patch{Subject: &subject}))(t)
	if f.read(2) != before {
		t.Error("an edit without a change wrote")
	}
	bad := "two\nlines"
	if _, err := f.Edit(t.Context(), 2, board.Patch{Subject: &bad}); err == nil || f.read(2) != before {
		t.Errorf("%v", err)
	}
}

func TestLongTextsAreCutNotRefused(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s", "description": "`+strings.Repeat("x", board.MaxFile-600)+`"}`)
	done := f.finish(f.claim(1, member("alice")), board.Complete{Result: board.Result{Summary: strings.Repeat("é", 20000)}})
	if done.Status != board.Completed || !strings.HasSuffix(done.Result.Summary, "…") || len(done.Result.Summary) > 100 {
		t.Errorf("summary of %d bytes", len(done.Result.Summary))
	}
	f.drop(2, `{"subject": "s"}`)
	got := f.finish(f.claim(2, member("bob")), board.Fail{Code: "exit 1", Message: strings.Repeat("x\n", 20000) + "the end"})
	if !strings.HasSuffix(got.Failure.Message, "the end") || len(got.Failure.Message) > 20000 {
		t.Errorf("message of %d bytes", len(got.Failure.Message))
	}
}
