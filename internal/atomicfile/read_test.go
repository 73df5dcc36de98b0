package atomicfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/atomicfile/faultfs"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	want := bytes.Repeat([]byte("0123456789"), 1000)
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{0, -1, int64(len(want)), 1 << 30} {
		got, info, err := atomicfile.ReadFile(atomicfile.OS(), path, limit)
		if err != nil || !bytes.Equal(got, want) || info.Size() != int64(len(want)) {
			t.Errorf("limit %d: %d bytes, %v", limit, len(got), err)
		}
	}
	_, _, err := atomicfile.ReadFile(atomicfile.OS(), path, int64(len(want))-1)
	var large *atomicfile.TooLargeError
	if !errors.As(err, &large) || large.Path != path || large.Limit != int64(len(want))-1 {
		t.Errorf("over the limit: %v", err)
	}
	if _, _, err := atomicfile.ReadFile(atomicfile.OS(), path+"x", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

func TestReadFileRefusesWhatIsNotAFile(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "af") // short: a socket path has about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := errors.Join(
		os.WriteFile(at("file"), nil, 0o600),
		os.Symlink(at("file"), at("symbolic link")),
		os.Symlink(at("nowhere"), at("dangling")),
		os.Mkdir(at("directory"), 0o700),
		syscall.Mkfifo(at("named pipe"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{
		at("symbolic link"): "symbolic link",
		at("dangling"):      "symbolic link",
		at("directory"):     "directory",
		at("named pipe"):    "named pipe",
		at("socket"):        "socket",
		"/dev/null":         "device",
	} {
		_, _, err := atomicfile.ReadFile(atomicfile.OS(), path, 100)
		var not *atomicfile.NotRegularError
		if !errors.As(err, &not) || not.Kind != kind || not.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestReadFileUnderFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("whole"), 0o600); err != nil {
		t.Fatal(err)
	}
	faultfs.Each(t, func(fsys *faultfs.FS) error {
		got, _, err := atomicfile.ReadFile(fsys, path, 100)
		if err == nil && string(got) != "whole" || err != nil && got != nil {
			t.Fatalf("read %q, %v", got, err)
		}
		return err
	})
}

func TestIsTemporary(t *testing.T) {
	for name, want := range map[string]bool{
		".task_1.json.0123456789abcdef.tmp":  true,
		".a.0123456789abcdef.tmp":            true,
		"task_1.json":                        false,
		".task_1.json.swp":                   false,
		".0123456789abcdef.tmp":              false,
		"..0123456789abcdef.tmp":             false,
		".a.0123456789ABCDEF.tmp":            false,
		".a.0123456789abcde.tmp":             false,
		"task_1.json.0123456789abcdef.tmp":   false,
		".task_1.json.0123456789abcdef.tmp~": false,
		".tmp":                               false,
		"":                                   false,
	} {
		if got := atomicfile.IsTemporary(name); got != want {
			t.Errorf("IsTemporary(%q) = %v", name, got)
		}
	}
}

func TestSweepTakesOnlyOldTemporariesOfOurs(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{
		".old.0123456789abcdef.tmp": 61 * time.Minute,
		".new.0123456789abcdef.tmp": 59 * time.Minute,
		".task_1.json.swp":          100 * time.Hour,
		"task_1.json":               100 * time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".x.0123456789abcdef.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Sweep(atomicfile.OS(), dir, time.Hour, now.Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	only(t, dir, ".new.0123456789abcdef.tmp", ".task_1.json.swp", ".x.0123456789abcdef.tmp", "task_1.json")
}

func TestStageLeavesATemporaryThatSweepKnows(t *testing.T) {
	dir := t.TempDir()
	if _, err := atomicfile.Stage(atomicfile.OS(), filepath.Join(dir, "task_1.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Sweep(atomicfile.OS(), dir, time.Hour, time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	only(t, dir)
}
