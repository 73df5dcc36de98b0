package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/atomicfile/faultfs"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// only fails the test if dir holds other names than these.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Fatalf("folder holds %q, want %q", got, names)
	}
}

func TestReplaceMakesAndReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.json")
	for _, want := range []string{"one", "two, longer", ""} {
		if err := atomicfile.Replace(atomicfile.OS(), path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != want {
			t.Errorf("holds %q, want %q", got, want)
		}
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v", info.Mode())
	}
	only(t, dir, "f.json")
}

func TestReplaceReplacesALinkNotItsTarget(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, []byte("old"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(atomicfile.OS(), link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if read(t, target) != "old" || read(t, link) != "new" {
		t.Error("the write went through the link")
	}
}

func TestCommitNewNeverReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	var wg sync.WaitGroup
	wins := make(chan int, 20)
	for i := range 20 {
		wg.Go(func() {
			s, err := atomicfile.Stage(atomicfile.OS(), path, []byte{byte('a' + i)}, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			switch err := s.CommitNew(); {
			case err == nil:
				wins <- i
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(wins)
	if len(wins) != 1 {
		t.Fatalf("%d creators won", len(wins))
	}
	if got := read(t, path); got != string(rune('a'+<-wins)) {
		t.Errorf("holds %q, not the winner's", got)
	}
	only(t, dir, "f")
}

// withoutLinks is a file system that has no hard links.
type withoutLinks struct{ atomicfile.FS }

func (withoutLinks) Link(o, n string) error {
	return &os.LinkError{Op: "link", Old: o, New: n, Err: syscall.EPERM}
}

func TestCommitNewWithoutHardLinks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for i, want := range []error{nil, fs.ErrExist} {
		s, err := atomicfile.Stage(withoutLinks{atomicfile.OS()}, path, []byte{byte('0' + i)}, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.CommitNew(); !errors.Is(err, want) {
			t.Errorf("attempt %d: %v, want %v", i, err, want)
		}
	}
	if read(t, path) != "0" {
		t.Error("the first file was replaced")
	}
	only(t, dir, "f")
}

func TestStagedEndsOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	s, err := atomicfile.Stage(atomicfile.OS(), path, nil, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	only(t, dir)
	if err := s.Discard(); err != nil {
		t.Errorf("second Discard: %v", err)
	}
	if err := s.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Commit after Discard: %v", err)
	}
	if err := s.CommitNew(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("CommitNew after Discard: %v", err)
	}
}

// Whatever call fails: the file is the old one or the new one, whole; success means the new one; and unless the disk
// refuses everything from there on, no temporary stays.
func TestReplaceUnderFaults(t *testing.T) {
	faultfs.Each(t, func(fsys *faultfs.FS) error {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := atomicfile.Replace(fsys, path, []byte("the new one"), 0o600)
		switch got := read(t, path); {
		case err == nil && got != "the new one", got != "old" && got != "the new one":
			t.Fatalf("fault %d of %d calls: err %v, file holds %q", fsys.Faults(), fsys.Calls(), err, got)
		case err == nil && fsys.Faults() > 0:
			t.Fatalf("a fault was swallowed")
		}
		if fsys.Faults() < 2 {
			only(t, dir, "f")
		}
		return err
	})
}

func TestCommitNewUnderFaults(t *testing.T) {
	faultfs.Each(t, func(fsys *faultfs.FS) error {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		s, err := atomicfile.Stage(fsys, path, []byte("whole"), 0o600)
		if err == nil {
			err = s.CommitNew()
		}
		switch got, readErr := os.ReadFile(path); {
		case err == nil && string(got) != "whole":
			t.Fatalf("success, but the file holds %q, %v", got, readErr)
		case err != nil && !errors.Is(readErr, fs.ErrNotExist):
			t.Fatalf("failed (%v), but the file is there: %q", err, got)
		}
		return err
	})
}

func TestSyncDirToleratesOnlyMissingSupport(t *testing.T) {
	dir := t.TempDir()
	for errno, tolerated := range map[syscall.Errno]bool{syscall.EINVAL: true, syscall.ENOTSUP: true, syscall.EIO: false} {
		fsys := faultfs.New(atomicfile.OS(), faultfs.Plan{Call: 2, Err: errno}) // 1 open, 2 sync, 3 close
		if err := atomicfile.SyncDir(fsys, dir); (err == nil) != tolerated {
			t.Errorf("%v: %v", errno, err)
		}
	}
	if err := atomicfile.SyncDir(atomicfile.OS(), filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
}

func BenchmarkReplace(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	data := []byte(strings.Repeat("x", 1000))
	for b.Loop() {
		if err := atomicfile.Replace(atomicfile.OS(), path, data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// Errors that repeat are folded by their text.
func TestSameTroubleReadsTheSame(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.json")
	for name, write := range map[string]func(fsys atomicfile.FS) error{
		"replace": func(fsys atomicfile.FS) error { return atomicfile.Replace(fsys, path, []byte("x"), 0o600) },
		"create": func(fsys atomicfile.FS) error {
			s, err := atomicfile.Stage(fsys, filepath.Join(dir, "new"), []byte("x"), 0o600)
			if err == nil {
				err = s.CommitNew()
				_ = os.Remove(filepath.Join(dir, "new"))
			}
			return err
		},
		"discard": func(fsys atomicfile.FS) error {
			s, err := atomicfile.Stage(fsys, path, []byte("x"), 0o600)
			if err == nil {
				err = s.Discard()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			faultfs.Each(t, func(fsys *faultfs.FS) error {
				err := write(fsys)
				if err != nil && (strings.Contains(err.Error(), ".tmp") || !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC)) {
					t.Errorf("error %v", err)
				}
				return err
			})
		})
	}
}
