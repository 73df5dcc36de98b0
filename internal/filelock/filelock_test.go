package filelock_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/filelock"
)

func lockPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), ".lock")
}

func acquire(t *testing.T, l *filelock.Lock) (unlock func()) {
	t.Helper()
	u, err := l.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := u(); err != nil {
			t.Error(err)
		}
	}
}

func TestGoroutinesExcludeEachOther(t *testing.T) {
	path := lockPath(t)
	one := filelock.Open(filelock.Config{Path: path, Wait: time.Minute})
	for name, lockOf := range map[string]func() *filelock.Lock{
		"one object":   func() *filelock.Lock { return one },
		"many objects": func() *filelock.Lock { return filelock.Open(filelock.Config{Path: path, Wait: time.Minute}) },
	} {
		t.Run(name, func(t *testing.T) {
			var inside, most atomic.Int32
			var wg sync.WaitGroup
			for range 50 {
				l := lockOf()
				wg.Go(func() {
					for range 5 {
						unlock, err := l.Acquire(context.Background())
						if err != nil {
							t.Error(err)
							return
						}
						most.Store(max(most.Load(), inside.Add(1)))
						inside.Add(-1)
						if err := unlock(); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if most.Load() != 1 {
				t.Errorf("%d goroutines were inside at once", most.Load())
			}
		})
	}
}

func TestProcessesExcludeEachOther(t *testing.T) {
	dir := t.TempDir()
	path, counter := filepath.Join(dir, ".lock"), filepath.Join(dir, "counter")
	if err := os.WriteFile(counter, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	const processes, rounds = 4, 200
	var wg sync.WaitGroup
	for range processes {
		cmd := process(t, "count", path, counter, strconv.Itoa(rounds))
		wg.Go(func() {
			if out, err := cmd.Output(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	l := filelock.Open(filelock.Config{Path: path, Wait: time.Minute})
	for range rounds {
		if err := increment(t.Context(), l, counter); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if got, _ := os.ReadFile(counter); string(got) != strconv.Itoa((processes+1)*rounds) {
		t.Errorf("counted %s of %d", got, (processes+1)*rounds)
	}
}

func TestWaitIsBounded(t *testing.T) {
	path := lockPath(t)
	if err := os.WriteFile(path, []byte("pid 7 on host\nmore"), 0o600); err != nil {
		t.Fatal(err)
	}
	short := filelock.Open(filelock.Config{Path: path, Wait: 20 * time.Millisecond})
	defer acquire(t, short)()
	for name, l := range map[string]*filelock.Lock{
		"same object":  short,
		"other object": filelock.Open(filelock.Config{Path: path, Wait: 20 * time.Millisecond}),
	} {
		_, err := l.Acquire(t.Context())
		var busy *filelock.BusyError
		if !errors.As(err, &busy) || !errors.Is(err, filelock.ErrBusy) {
			t.Fatalf("%s: %v", name, err)
		}
		if busy.Path != path || busy.Holder != "pid 7 on host" || busy.Waited < 20*time.Millisecond {
			t.Errorf("%s: %+v", name, busy)
		}
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	path := lockPath(t)
	l := filelock.Open(filelock.Config{Path: path, Wait: time.Minute})
	defer acquire(t, l)()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for name, l := range map[string]*filelock.Lock{"same object": l, "other object": filelock.New(path)} {
		if _, err := l.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, filelock.ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSharedLocksExcludeOnlyExclusiveOnes(t *testing.T) {
	path := lockPath(t)
	l := filelock.Open(filelock.Config{Path: path, Wait: 20 * time.Millisecond})
	first, err := l.AcquireShared(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.AcquireShared(t.Context())
	if err != nil {
		t.Fatalf("second shared: %v", err)
	}
	if err := first(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Acquire(t.Context()); !errors.Is(err, filelock.ErrBusy) {
		t.Errorf("exclusive beside shared: %v", err)
	}
	if err := second(); err != nil {
		t.Fatal(err)
	}
	unlock := acquire(t, l)
	if _, err := l.AcquireShared(t.Context()); !errors.Is(err, filelock.ErrBusy) {
		t.Errorf("shared beside exclusive: %v", err)
	}
	unlock()
}

// Whoever waited for a file that someone replaced must end up on the one that newcomers lock.
func TestLockFileReplacedWhileWaiting(t *testing.T) {
	path := lockPath(t)
	old := acquire(t, filelock.New(path))
	waiting := make(chan func() error)
	go func() {
		unlock, err := filelock.Open(filelock.Config{Path: path, Wait: time.Minute}).Acquire(context.Background())
		if err != nil {
			t.Error(err)
		}
		waiting <- unlock
	}()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	unlock := <-waiting // it gets the new file though the old one is still locked
	if _, err := filelock.Open(filelock.Config{Path: path, Wait: time.Millisecond}).Acquire(t.Context()); !errors.Is(err, filelock.ErrBusy) {
		t.Errorf("two holders: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	old()
}

// A lock file that is removed gives two holders at once.
func TestUnlockKeepsTheFile(t *testing.T) {
	path := lockPath(t)
	l := filelock.New(path)
	acquire(t, l)()
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	acquire(t, l)()
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was replaced: %v", err)
	}
	if after.Mode().Perm() != 0o600 || after.Size() != 0 {
		t.Errorf("file is %v, %d bytes", after.Mode(), after.Size())
	}
}

func TestAcquireRefusesOddFiles(t *testing.T) {
	dir := t.TempDir()
	link, fifo := filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	if err := errors.Join(os.Symlink(filepath.Join(dir, "target"), link), syscall.Mkfifo(fifo, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.New(link).Acquire(t.Context()); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("symbolic link: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "target")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the link was followed")
	}
	if _, err := filelock.New(filepath.Join(dir, "no", "lock")).Acquire(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if unlock, err := filelock.New(fifo).Acquire(ctx); err == nil { // it must not hang; that it locks is harmless
		_ = unlock()
	}
}

func BenchmarkAcquire(b *testing.B) {
	l := filelock.New(filepath.Join(b.TempDir(), ".lock"))
	for b.Loop() {
		unlock, err := l.Acquire(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := unlock(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTurnsArePassedOn lets many goroutines come and go, some of which give up while they wait, on two locks of one
// path: none may be inside with another, and the lock must be free in the end.
func TestTurnsArePassedOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	locks := []*filelock.Lock{filelock.New(path), filelock.New(path)}
	var inside, entered, left atomic.Int32
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			l := locks[i%2]
			for round := range 20 {
				ctx, cancel := context.WithCancel(t.Context())
				if (i+round)%5 == 0 { // gives up, perhaps in the very moment of its turn
					time.AfterFunc(time.Duration(round)*50*time.Microsecond, cancel)
				}
				unlock, err := l.Acquire(ctx)
				if err != nil {
					left.Add(1)
					cancel()
					continue
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d are inside", n)
				}
				entered.Add(1)
				inside.Add(-1)
				if err := unlock(); err != nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if entered.Load()+left.Load() != 64*20 {
		t.Errorf("%d entered and %d left, of %d", entered.Load(), left.Load(), 64*20)
	}
	if _, held, err := filelock.Holder(path); held || err != nil {
		t.Errorf("the lock is left held: %v, %v", held, err)
	}
}
