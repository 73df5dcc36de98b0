package board_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/atomicfile/faultfs"
)

// TestFaultAtEveryCall fails each disk call of each verb in turn. Whatever fails, each file is whole, an error is told
// and names the folder, success is true on disk, and the same call works once the disk does.
func TestFaultAtEveryCall(t *testing.T) {
	const src = `{"subject": "s", "note": 1}`
	for _, verb := range []struct {
		name string
		run  func(*board.Dir, board.Task) error
		done func(board.Task) bool
	}{
		{"create", func(d *board.Dir, _ board.Task) error {
			_, err := d.Create(background, board.Draft{Subject: "new"})
			return err
		}, nil},
		{"claim", func(d *board.Dir, _ board.Task) error {
			_, err := d.ClaimNext(background, member("bob"))
			return err
		}, nil},
		{"complete", func(d *board.Dir, held board.Task) error {
			_, err := d.Finish(background, held.Ref(), board.Complete{Result: board.Result{Summary: "yes"}})
			return err
		}, func(t board.Task) bool { return t.Status == board.Completed && t.Result.Summary == "yes" }},
		{"release", func(d *board.Dir, held board.Task) error {
			_, err := d.Finish(background, held.Ref(), board.Release{})
			return err
		}, func(t board.Task) bool { return t.Status == board.Pending && t.Claim == nil }},
		{"archive", func(d *board.Dir, _ board.Task) error { return d.Archive(background, 3) }, nil},
	} {
		t.Run(verb.name, func(t *testing.T) {
			faultfs.Each(t, func(fsys *faultfs.FS) error {
				disk := &switched{FS: atomicfile.OS()}
				f := newFixture(t, func(c *board.Config) { c.FS = disk })
				f.drop(1, src)
				f.drop(2, `{"subject": "free", "steps": ["true"]}`)
				f.drop(3, `{"subject": "old", "status": "completed"}`)
				held := f.claim(1, member("alice"))
				disk.FS = fsys
				err := verb.run(f.Dir, held)
				disk.FS = atomicfile.OS()
				f.checkWhole(err)
				if err == nil && fsys.Faults() > 0 {
					f.checkDone(verb.name, verb.done)
				}
				if err != nil && !strings.Contains(err.Error(), f.path) && !errors.Is(err, board.ErrNothing) {
					t.Errorf("the error names no path: %v", err)
				}
				f.advance(3 * time.Second)
				f.refresh()
				if err != nil {
					f.retry(verb.name, verb.run, held)
				}
				f.checkDone(verb.name, verb.done)
				return err
			})
		})
	}
}

// switched is a disk that a test can exchange between two calls.
type switched struct{ atomicfile.FS }

// checkWhole looks at every file of the board as a new process would.
func (f *fixture) checkWhole(cause error) {
	f.t.Helper()
	fresh := f.open()
	if err := fresh.Settle(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	for _, e := range fresh.List() {
		if e.Err != nil {
			f.t.Errorf("after %v: %v", cause, e.Err)
		}
	}
	if e, err := fresh.Get(1); err != nil || !strings.Contains(f.read(1), `"note": 1`) {
		f.t.Errorf("after %v: %+v %v", cause, e, err)
	}
}

// retry repeats a call that failed; that it had its effect already is fine.
func (f *fixture) retry(name string, run func(*board.Dir, board.Task) error, held board.Task) {
	f.t.Helper()
	err := run(f.Dir, held)
	var holds *board.HoldsError
	if err == nil || name == "archive" && errors.Is(err, board.ErrNotFound) || name == "claim" && errors.As(err, &holds) {
		return
	}
	f.t.Errorf("%s does not work again: %v", name, err)
}

// checkDone looks on disk for the effect of a verb.
func (f *fixture) checkDone(name string, done func(board.Task) bool) {
	f.t.Helper()
	fresh := f.open()
	if err := fresh.Settle(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	switch name {
	case "create":
		if names, _ := filepath.Glob(filepath.Join(f.path, "task_[4-9].json")); len(names) == 0 {
			f.t.Error("nothing was created")
		}
	case "claim":
		if _, ok := fresh.Own("bob", "one"); !ok {
			f.t.Error("nothing was claimed")
		}
	case "archive":
		if _, err := os.Stat(filepath.Join(f.path, "archive", "task_3.json")); err != nil {
			f.t.Error(err)
		}
	default:
		if e := must(fresh.Get(1))(f.t); !done(e.Task) {
			f.t.Errorf("not on disk: %+v", e.Task)
		}
	}
}
