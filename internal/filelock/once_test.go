package filelock

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
)

// Between opening the file and locking it someone may replace it. The lock that is then held excludes nobody who comes
// later, so it must not count.
func TestLockOnAReplacedFileDoesNotCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".lock")
	l := New(path)
	for name, meanwhile := range map[string]func() error{
		"removed":  func() error { return os.Remove(path) },
		"replaced": func() error { return os.Rename(path+".new", path) },
	} {
		if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		held, err := l.once(func(f *flock.Flock) (bool, error) {
			ok, err := f.TryLock()
			if err == nil {
				err = meanwhile()
			}
			return ok, err
		})
		if err != nil || held != nil {
			t.Errorf("%s: held %v, error %v", name, held != nil, err)
		}
	}
	held, err := l.once((*flock.Flock).TryLock)
	if err != nil || held == nil {
		t.Fatalf("left alone: %v", err)
	}
	if err := held.Unlock(); err != nil {
		t.Error(err)
	}
}
