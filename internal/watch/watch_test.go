package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a real hint may take on a loaded machine.
const patience = 30 * time.Second

// listener runs a watcher and collects what it says.
type listener struct {
	*Watcher
	t      *testing.T
	hints  chan place
	states chan State
}

// listen makes a watcher, lets prepare change it, and serves it until the test ends.
func listen(t *testing.T, prepare func(*Watcher), dirs ...string) *listener {
	t.Helper()
	l := &listener{t: t, hints: make(chan place, 100_000), states: make(chan State, 100)}
	l.Watcher = New(Config{
		Changed: func(dir, name string) { l.hints <- place{dir, name} },
		State:   func(s State) { l.states <- s },
	})
	if prepare != nil {
		prepare(l.Watcher)
	}
	for _, dir := range dirs {
		l.Add(dir)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- l.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
	})
	return l
}

// expect waits for a hint, ignoring others.
func (l *listener) expect(dir, name string) {
	l.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case got := <-l.hints:
			if got == (place{dir, name}) {
				return
			}
		case <-deadline:
			l.t.Fatalf("no hint for %q in %s", name, dir)
		}
	}
}

func (l *listener) expectState(events bool, reason string) {
	l.t.Helper()
	select {
	case got := <-l.states:
		if got.Events != events || !strings.Contains(got.Reason, reason) {
			l.t.Fatalf("state %+v, want events %v and reason %q", got, events, reason)
		}
	case <-time.After(patience):
		l.t.Fatalf("no change of state, it is %+v", l.State())
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFileMadeChangedRemoved(t *testing.T) {
	dir := t.TempDir()
	l := listen(t, nil, dir)
	l.expectState(true, "")
	l.expect(dir, "")
	path := filepath.Join(dir, "task_1.json")
	write(t, path)
	l.expect(dir, "task_1.json")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	l.expect(dir, "task_1.json")
}

func TestAtomicReplaceNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "task_1.json"), filepath.Join(dir, ".temp")
	write(t, path)
	l := listen(t, nil, dir)
	l.expect(dir, "")
	for range 3 { // a watch on the file itself would be deaf after the first
		write(t, temp)
		if err := os.Rename(temp, path); err != nil {
			t.Fatal(err)
		}
		l.expect(dir, "task_1.json")
	}
}

func TestPermissionsAloneAreNoChange(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"))
	l := listen(t, nil, dir)
	l.expect(dir, "")
	if err := os.Chmod(filepath.Join(dir, "a"), 0o640); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "b"))
	if got := <-l.hints; got.name != "b" {
		t.Errorf("hint for %q", got.name)
	}
}

func TestFolderThatComesLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	l := listen(t, nil, dir)
	l.expectState(true, "")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.Poll()
	l.expect(dir, "")
	write(t, filepath.Join(dir, "a"))
	l.expect(dir, "a")
}

func TestFolderRemovedAndMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tasks")
	for name, away := range map[string]func() error{
		"removed": func() error { return os.RemoveAll(dir) },
		"moved":   func() error { return os.Rename(dir, fmt.Sprintf("%s.%d", dir, time.Now().UnixNano())) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			l := listen(t, nil, dir)
			for range 3 {
				l.expect(dir, "")
				if err := away(); err != nil {
					t.Fatal(err)
				}
				l.expect(dir, "")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				l.Poll()
				l.expect(dir, "")
				write(t, filepath.Join(dir, "a"))
				l.expect(dir, "a")
				l.rescan()
			}
		})
	}
}

// The watch stays with the folder that was moved away; the one that took its place has none until the poll.
func TestFolderReplacedByAnother(t *testing.T) {
	base := t.TempDir()
	dir, other := filepath.Join(base, "tasks"), filepath.Join(base, "other")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(other, 0o700)); err != nil {
		t.Fatal(err)
	}
	l := listen(t, nil, dir)
	l.expect(dir, "")
	if err := errors.Join(os.Rename(dir, dir+".old"), os.Rename(other, dir)); err != nil {
		t.Fatal(err)
	}
	l.Poll()
	l.expect(dir, "")
	write(t, filepath.Join(dir, "a"))
	l.expect(dir, "a")
	write(t, filepath.Join(dir+".old", "ghost"))
	write(t, filepath.Join(dir, "b"))
	for got := range l.hints {
		if got.name == "ghost" {
			t.Error("the folder that went away is still heard")
		}
		if got.name == "b" {
			return
		}
	}
}

func TestFolderWithinAWatchedFolder(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "inner")
	l := listen(t, nil, base, dir)
	l.expect(base, "")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.expect(dir, "") // without a poll: its parent tells
	write(t, filepath.Join(dir, "a"))
	l.expect(dir, "a")
}

func TestWhatIsNoFolderIsPolled(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	write(t, file)
	l := listen(t, nil, file)
	l.expectState(false, "not a directory")
	l.Poll()
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	l.Poll()
	l.expectState(true, "")
	l.expect(file, "")
}

// The listener sleeps while files are made, until the queue of the kernel is full and drops what follows.
func TestOverflowOfTheKernelsQueue(t *testing.T) {
	data, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip("no inotify here")
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || limit > 20_000 {
		t.Skipf("the queue takes %q events, too many to fill", data)
	}
	dir := t.TempDir()
	l := listen(t, nil, dir)
	l.expect(dir, "")
	l.mu.Lock() // Serve waits for it
	for i := range limit + 5000 {
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			l.mu.Unlock()
			t.Fatal(err)
		}
		f.Close()
	}
	l.mu.Unlock()
	l.expect(dir, "")
	write(t, filepath.Join(dir, "after"))
	l.expect(dir, "after")
}

func TestBurstIsNotMissed(t *testing.T) {
	dir := t.TempDir()
	l := listen(t, nil, dir)
	l.expect(dir, "")
	const files = 2000
	for i := range files {
		write(t, filepath.Join(dir, fmt.Sprint(i)))
	}
	seen := map[string]bool{}
	deadline := time.After(patience)
	for len(seen) < files {
		select {
		case got := <-l.hints:
			if got.name == "" {
				return // told to scan: nothing can be missed
			}
			seen[got.name] = true
		case <-deadline:
			t.Fatalf("%d of %d files were told", len(seen), files)
		}
	}
}
