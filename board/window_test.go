package board_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// watchful tells a test of calls to the disk, before they are made and after.
type watchful struct {
	atomicfile.FS
	mu     sync.Mutex
	staged func() // a replacement is about to be written
	moved  func() // it has been renamed into place
	calls  []string
}

func (w *watchful) note(call string, hook *func()) {
	w.mu.Lock()
	w.calls = append(w.calls, call)
	var f func()
	if hook != nil {
		f, *hook = *hook, nil // once
	}
	w.mu.Unlock()
	if f != nil {
		f()
	}
}

func (w *watchful) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	switch {
	case flag&os.O_EXCL != 0:
		w.note("stage", &w.staged)
	case flag&syscall.O_DIRECTORY != 0:
		w.note("sync folder", nil)
	}
	return w.FS.OpenFile(name, flag, perm)
}

func (w *watchful) Rename(from, to string) error {
	err := w.FS.Rename(from, to)
	w.note("rename", &w.moved)
	return err
}

func watched(t *testing.T) (*fixture, *watchful) {
	disk := &watchful{FS: atomicfile.OS()}
	return newFixture(t, func(c *board.Config) { c.FS = disk }), disk
}

// TestFileChangesBetweenReadAndRename puts a person's save into the window that the comparison under the lock closes.
func TestFileChangesBetweenReadAndRename(t *testing.T) {
	for _, c := range []struct {
		name, text string
		claimed    bool
	}{
		{"edited", `{"subject": "edited"}`, true},
		{"assigned to another", `{"subject": "s", "owner": "bob"}`, false},
		{"completed", `{"subject": "s", "status": "completed"}`, false},
		{"half-written", `{"subject": `, false},
	} {
		f, disk := watched(t)
		f.drop(1, `{"subject": "s"}`)
		f.refresh()
		disk.staged = func() { f.drop(1, c.text) }
		task, err := f.ClaimNext(t.Context(), member("alice"))
		if (err == nil) != c.claimed || c.claimed && task.Subject != "edited" {
			t.Errorf("%s: %+v %v", c.name, task, err)
		}
		if !c.claimed && f.read(1) != c.text {
			t.Errorf("%s: overwritten by %s", c.name, f.read(1))
		}
	}
}

// TestBlockerChangesBetweenReadAndRename reopens a blocker in that window.
func TestBlockerChangesBetweenReadAndRename(t *testing.T) {
	f, disk := watched(t)
	f.drop(1, `{"subject": "s", "status": "completed"}`)
	f.drop(2, `{"subject": "t", "blockedBy": [1]}`)
	f.refresh()
	disk.staged = func() { f.drop(1, `{"subject": "s, again"}`) }
	var notReady *board.NotReadyError
	if _, err := f.Claim(t.Context(), 2, member("alice")); !errors.As(err, &notReady) || notReady.Reason != "waiting on 1" {
		t.Errorf("%v", err)
	}
	f.drop(1, `{"subject": "s", "status": "completed"}`)
	f.refresh()
	disk.staged = func() { f.remove(1) }
	if _, err := f.Claim(t.Context(), 2, member("alice")); !errors.As(err, &notReady) || notReady.Reason != "missing dependency: 1" {
		t.Errorf("%v", err)
	}
}

// TestOwnWriteIsNoLoss looks at the board, as a file event makes it do, right after the rename that ends an attempt.
func TestOwnWriteIsNoLoss(t *testing.T) {
	for _, end := range []board.End{board.Complete{}, board.Release{}, board.Fail{Code: "x"}, board.Hold{Reason: "r"}} {
		f, disk := watched(t)
		f.drop(1, `{"subject": "s"}`)
		task := f.claim(1, member("alice"))
		var seen board.Changes
		disk.moved = func() { seen = f.refresh("task_1.json") }
		f.finish(task, end)
		if c := f.refresh(); len(seen.Lost)+len(c.Lost) != 0 {
			t.Errorf("%T: %v %v", end, seen.Lost, c.Lost)
		}
	}
}

// TestFolderIsSyncedWhereItIsOwed follows the calls: a completion must survive power loss, a claim need not.
func TestFolderIsSyncedWhereItIsOwed(t *testing.T) {
	f, disk := watched(t)
	f.drop(1, `{"subject": "s"}`)
	calls := func() string {
		defer func() { disk.calls = nil }()
		return strings.Join(disk.calls, ", ")
	}
	task := f.claim(1, member("alice"))
	if got := calls(); strings.Contains(got, "folder") {
		t.Errorf("claim: %s", got)
	}
	f.finish(task, board.Release{})
	if got := calls(); got != "stage, rename" {
		t.Errorf("release: %s", got)
	}
	for _, end := range []board.End{board.Hold{}, board.Fail{}, board.Complete{}} {
		task = f.claim(1, member("alice"))
		calls()
		f.finish(task, end)
		if got := calls(); got != "stage, rename, sync folder" {
			t.Errorf("%T: %s", end, got)
		}
		if _, held := end.(board.Hold); held {
			must(f.Retry(t.Context(), 1))(t)
		}
		f.advance(board.RetryStep)
		f.refresh()
	}
	must(f.Create(t.Context(), board.Draft{Subject: "s"}))(t)
	if got := calls(); !strings.HasSuffix(got, "sync folder") {
		t.Errorf("create: %s", got)
	}
}
