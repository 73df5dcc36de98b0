package filelock_test

import (
	"os"
	"testing"

	"github.com/gofrs/flock"
)

// These show what the library does that this package works around. One that fails after an update tells that a
// workaround may go.

func try(t *testing.T, f *flock.Flock) bool {
	t.Helper()
	ok, err := f.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Unlock() })
	return ok
}

func TestTrapOneObjectLocksTwice(t *testing.T) {
	f := flock.New(lockPath(t))
	first, second := try(t, f), try(t, f)
	if !first || !second {
		t.Error("the same object no longer says yes twice")
	}
}

func TestTrapTwoObjectsExcludeEachOther(t *testing.T) {
	path := lockPath(t)
	if !try(t, flock.New(path)) || try(t, flock.New(path)) {
		t.Error("two objects of one process do not exclude each other")
	}
}

func TestTrapRemovedFileGivesTwoHolders(t *testing.T) {
	path := lockPath(t)
	first := try(t, flock.New(path))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if second := try(t, flock.New(path)); !first || !second {
		t.Error("removing a lock file no longer gives two holders")
	}
}
