package board_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// inPlace writes as echo > does, so that a reader may see half of it.
func (f *fixture) inPlace(id autonomy.TaskID, text string) {
	f.t.Helper()
	if err := os.WriteFile(f.file(id), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func TestHalfWrittenFileIsReportedOnlyWhenItStaysSo(t *testing.T) {
	f := newFixture(t)
	f.inPlace(1, `{"subject": "ha`)
	c := f.refresh()
	if got := f.entry(1); len(f.told(board.NoticeInvalid)) != 0 || got.Readiness.Kind != board.KindUnsettled || got.Err != nil {
		t.Fatalf("reported at once: %+v", got)
	}
	if !c.Next.Equal(f.clock().Add(100 * time.Millisecond)) {
		t.Fatalf("no second look: %+v", c)
	}
	f.advance(100 * time.Millisecond)
	must(f.Recheck(t.Context()))(t)
	for range 10 {
		f.refresh("task_1.json") // hints alone never prove it
	}
	f.refresh()
	if len(f.told(board.NoticeInvalid)) != 0 {
		t.Fatal("reported before the second poll")
	}
	for range 3 {
		f.refresh()
	}
	told := f.told(board.NoticeInvalid)
	if len(told) != 1 || told[0].Path != f.file(1) || !strings.HasPrefix(told[0].Text, "line 1: ") {
		t.Fatalf("told: %+v", told)
	}
	if e := f.entry(1); e.Err == nil || e.Err.Line != 1 || e.Readiness.Kind != board.KindInvalid {
		t.Errorf("%+v", e)
	}
	f.inPlace(1, `{"subject": "half no more"}`)
	f.wantReason(1, "ready")
}

func TestHalfWrittenFileThatBecomesWholeIsNeverReported(t *testing.T) {
	f := newFixture(t)
	text := `{"subject": "` + strings.Repeat("long ", 20) + `"}`
	for n := 1; n < len(text); n += 9 {
		f.inPlace(1, text[:n])
		f.refresh()
		f.advance(time.Second)
	}
	f.inPlace(1, text)
	f.wantReason(1, "ready")
	if told := f.told(board.NoticeInvalid); len(told) != 0 {
		t.Errorf("%+v", told)
	}
}

func TestOwnedTaskThatIsHalfWrittenIsNotLost(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	f.drop(2, `{"subject": "waits", "blockedBy": [1]}`)
	task := f.claim(1, member("alice"))
	whole := f.read(1)
	f.inPlace(1, whole[:20])
	for range 6 {
		f.refresh()
		f.advance(time.Second)
	}
	if err := f.Lost(task.Ref()); err != nil {
		t.Error(err)
	}
	f.wantReason(2, "dead dependency: 1 invalid")
	f.inPlace(1, whole)
	f.refresh()
	f.finish(task, board.Complete{})
	f.wantReason(2, "ready")
}

// What a lost claim left in the file is put in order when the file is whole again.
func TestStoppedWaitsForAHalfWrittenFile(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	task := f.claim(1, member("alice"))
	f.edit(1, `"owner": "alice"`, `"owner": "bob"`)
	f.refresh()
	whole := f.read(1)
	f.inPlace(1, whole[:20])
	var invalid *board.InvalidError
	if err := f.Stopped(t.Context(), task.Ref()); !errors.As(err, &invalid) {
		t.Fatalf("half-written: %v", err)
	}
	f.inPlace(1, whole)
	if err := f.Stopped(t.Context(), task.Ref()); err != nil {
		t.Fatal(err)
	}
	if got := f.entry(1); got.Task.Status != board.Pending || got.Task.Owner != "bob" || got.Task.Claim != nil {
		t.Errorf("%+v", got.Task)
	}
}

func TestOddFiles(t *testing.T) {
	f := newFixture(t)
	f.drop(9, `{"subject": "s"}`)
	must(0, errors.Join(
		os.Symlink(f.file(9), f.file(1)),
		os.Mkdir(f.file(2), 0o755),
		syscall.Mkfifo(f.file(3), 0o644),
		os.WriteFile(f.file(4), make([]byte, board.MaxFile+1), 0o644),
	))(t)
	f.write("task_007.json", `{"subject": "s"}`)
	f.write("README", "x")
	f.refresh()
	for id, want := range map[autonomy.TaskID]string{
		1: "invalid: is a symbolic link, not a regular file",
		2: "invalid: is a directory, not a regular file",
		3: "invalid: is a named pipe, not a regular file",
		4: "invalid: larger than 256 KiB",
		9: "ready",
	} {
		f.wantReason(id, want)
	}
	list := f.List()
	if len(list) != 6 || list[0].Path != filepath.Join(f.path, "task_007.json") || list[0].Err == nil {
		t.Errorf("%+v", list)
	}
	if told := f.told(board.NoticeInvalid); len(told) != 5 {
		t.Errorf("not once each: %+v", told)
	}
	if info, err := os.Lstat(f.file(1)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was touched")
	}
}

// refusing fails the opening of one file.
type refusing struct {
	atomicfile.FS
	mu   sync.Mutex
	path string
	err  error
}

func (r *refusing) set(path string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.path, r.err = path, err
}

func (r *refusing) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	r.mu.Lock()
	path, err := r.path, r.err
	r.mu.Unlock()
	if name == path && err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return r.FS.OpenFile(name, flag, perm)
}

func TestUnreadableFileKeepsItsLastContent(t *testing.T) {
	disk := &refusing{FS: atomicfile.OS()}
	f := newFixture(t, func(c *board.Config) { c.FS = disk })
	f.drop(1, `{"subject": "s", "status": "completed"}`)
	f.drop(2, `{"subject": "t", "blockedBy": [1]}`)
	f.refresh()
	disk.set(f.file(1), syscall.EACCES)
	f.drop(1, `{"subject": "unseen"}`)
	for range 3 {
		f.refresh()
	}
	e := f.entry(1)
	if !e.Stale || e.Task.Subject != "s" || e.Readiness.Reason != "unreadable: permission denied" {
		t.Errorf("%+v", e)
	}
	f.wantReason(2, "ready")
	if told := f.told(board.NoticeStale); len(told) != 1 || told[0].ID != 1 {
		t.Errorf("not once: %+v", told)
	}
	disk.set("", nil)
	f.wantReason(2, "waiting on 1")
}

func TestEditInPlaceIsSeenWithin30SecondsWhileEventsArrive(t *testing.T) {
	f := newFixture(t, func(c *board.Config) { c.Watched = func() bool { return true } })
	old := f.clock().Add(-time.Hour)
	write := func(id int, text string) {
		f.inPlace(autonomy.TaskID(id), text)
		must(0, os.Chtimes(f.file(autonomy.TaskID(id)), old, old))(t)
	}
	for id := 1; id <= 50; id++ {
		write(id, `{"subject": "s"}`)
	}
	f.refresh()
	old = old.Add(time.Minute)
	for id := 1; id <= 50; id++ {
		write(id, `{"subject": "t"}`)
	}
	must(0, os.Chtimes(f.path, old, old))(t)
	f.advance(time.Hour) // nothing is young any more
	seen := map[autonomy.TaskID]bool{}
	for range 6 {
		changed := f.refresh().Changed
		if len(changed) > 20 {
			t.Fatalf("one poll looked at %d files", len(changed))
		}
		for _, id := range changed {
			seen[id] = true
		}
		f.advance(5 * time.Second)
	}
	if len(seen) != 50 {
		t.Errorf("%d of 50 edits were seen in 30 s", len(seen))
	}
}

func TestTwoEditsWithOneStamp(t *testing.T) {
	f := newFixture(t)
	stamp := f.clock()
	write := func(text string) {
		f.inPlace(1, text)
		must(0, os.Chtimes(f.file(1), stamp, stamp))(t)
	}
	write(`{"subject": "a"}`)
	f.refresh()
	write(`{"subject": "b"}`)
	f.refresh()
	if got := f.entry(1).Task.Subject; got != "b" {
		t.Errorf("the second edit was not seen: %s", got)
	}
}

// TestR22_NeverTorn reads while every task is rewritten again and again.
func TestR22_NeverTorn(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s", "x-unknown": [1.0, {"k": null}]}`)
	f.refresh()
	writes := 2000 // each is synced, which a busy disk makes slow
	if testing.Short() {
		writes = 500
	}
	done := make(chan error, 1)
	go func() {
		for n := range writes / 2 {
			who := member(fmt.Sprint("m", n))
			task, err := f.Claim(background, 1, who)
			if err == nil {
				_, err = f.Finish(background, task.Ref(), board.Release{})
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	reader := f.open()
	for reading := true; reading; {
		select {
		case err := <-done:
			must(0, err)(t)
			reading = false
		default:
		}
		must(reader.Refresh(t.Context()))(t)
		if e := must(reader.Get(1))(t); e.Err != nil || e.Readiness.Kind == board.KindUnsettled || e.Task.Subject != "s" {
			t.Fatalf("torn: %+v", e)
		}
	}
	if src := f.read(1); !strings.Contains(src, `"x-unknown": [1.0, {"k": null}]`) {
		t.Errorf("unknown field: %s", src)
	}
	if told := f.told(board.NoticeInvalid); len(told) != 0 {
		t.Errorf("%+v", told)
	}
}

func TestCheck(t *testing.T) {
	f := newFixture(t)
	f.drop(2, `{"subject": "fine"}`)
	f.drop(10, `{"subject": "waits", "blockedBy": [2]}`)
	f.drop(3, "{\n \"subject\": 1}")
	f.write("task_04.json", `{}`)
	f.write("notes.txt", "x")
	before := must(os.ReadDir(f.path))(t)
	list := must(f.Check(t.Context()))(t)
	var lines []string
	for _, c := range list {
		line := fmt.Sprintf("%s %s %d %v %s", c.File, c.State, c.ID, c.Ready, c.Reason)
		if c.Error != nil {
			line += fmt.Sprintf(" [%d:%d %s]", c.Error.Line, c.Error.Column, c.Error.Message)
		}
		lines = append(lines, line)
	}
	want := []string{
		"task_04.json invalid 0 false invalid: the number in the name has leading zeros; rename the file to task_4.json [0:0 the number in the name has leading zeros; rename the file to task_4.json]",
		"task_2.json accepted 2 true ",
		"task_3.json invalid 3 false invalid: line 2: subject must be a string, not a number [2:13 subject must be a string, not a number]",
		"task_10.json accepted 10 false waiting on 2",
		"notes.txt ignored 0 false not the name of a task file (task_N.json)",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if after := must(os.ReadDir(f.path))(t); len(after) != len(before) {
		t.Errorf("the folder has changed: %v", after)
	}
}

// TestFirstHintTellsWhatIsReady makes the folder only after the first look: what a hint then loads must be told.
func TestFirstHintTellsWhatIsReady(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".tasks")
	d, err := board.Open(board.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	var folder *board.FolderError
	if _, err := d.Refresh(t.Context()); !errors.As(err, &folder) {
		t.Fatalf("without a folder: %v", err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "task_1.json"), []byte(`{"subject": "x"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := d.Refresh(t.Context(), "task_1.json")
	if err != nil || !slices.Equal(c.Ready, []autonomy.TaskID{1}) {
		t.Errorf("Ready is %v, %v", c.Ready, err)
	}
}
