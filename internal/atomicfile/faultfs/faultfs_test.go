package faultfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/atomicfile/faultfs"
)

// script makes eight calls and returns which of them failed.
func script(t *testing.T, plan faultfs.Plan) (failed []int, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "f")
	fsys := faultfs.New(atomicfile.OS(), plan)
	note := func(err error) {
		if err != nil {
			if !errors.Is(err, plan.Err) {
				t.Fatalf("call %d: %v", fsys.Calls(), err)
			}
			failed = append(failed, fsys.Calls())
		}
	}
	note(fsys.MkdirAll(filepath.Dir(path), 0o700))
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if note(err); err != nil {
		return failed, path
	}
	_, err = f.Write([]byte("12345678"))
	note(err)
	note(f.Sync())
	note(f.Truncate(8))
	note(f.Close())
	_, err = fsys.Lstat(path)
	note(err)
	_, err = fsys.ReadDir(filepath.Dir(path))
	note(err)
	if fsys.Calls() != 8 || fsys.Faults() != len(failed) {
		t.Errorf("%d calls, %d faults of %d", fsys.Calls(), fsys.Faults(), len(failed))
	}
	return failed, path
}

func TestPlan(t *testing.T) {
	if failed, _ := script(t, faultfs.Plan{}); failed != nil {
		t.Errorf("no plan: %v failed", failed)
	}
	if failed, _ := script(t, faultfs.Plan{Call: 4, Err: syscall.EIO}); len(failed) != 1 || failed[0] != 4 {
		t.Errorf("once: %v failed", failed)
	}
	if failed, _ := script(t, faultfs.Plan{Call: 6, On: true, Err: syscall.EROFS}); len(failed) != 3 || failed[0] != 6 {
		t.Errorf("from 6 on: %v failed", failed)
	}
	_, path := script(t, faultfs.Plan{Call: 3, Short: true, Err: syscall.ENOSPC})
	if data, _ := os.ReadFile(path); string(data) != "1234\x00\x00\x00\x00" {
		t.Errorf("short write left %q", data)
	}
}

// recorder stands for a *testing.T whose test fails.
type recorder struct{ failed bool }

func (*recorder) Helper()                 {}
func (r *recorder) Fatalf(string, ...any) { r.failed = true; panic(r) }

func TestEachFailsARunThatFailsByItself(t *testing.T) {
	r := &recorder{}
	func() {
		defer func() { _ = recover() }()
		faultfs.Each(r, func(*faultfs.FS) error { return errors.New("always") })
	}()
	if !r.failed {
		t.Error("an error without a fault passed")
	}
}

func TestEachFailsEveryCallOnceAndFromThereOn(t *testing.T) {
	faults := map[int]int{} // how many runs met that many faults
	faultfs.Each(t, func(fsys *faultfs.FS) error {
		for range 3 {
			_, _ = fsys.Lstat(t.TempDir())
		}
		faults[fsys.Faults()]++
		return nil
	})
	// Two errors, each: three single faults, then 3, 2 and 1 of them, and two clean runs.
	if faults[0] != 4 || faults[1] != 8 || faults[2] != 2 || faults[3] != 2 {
		t.Errorf("runs by number of faults: %v", faults)
	}
}
