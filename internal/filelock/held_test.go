package filelock_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/filelock"
)

func TestHoldSaysWhoHolds(t *testing.T) {
	path := lockPath(t)
	if info, held, err := filelock.Holder(path); info != nil || held || err != nil {
		t.Errorf("absent: %q %v %v", info, held, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("looking created the file")
	}
	h, err := filelock.Hold(t.Context(), path, []byte("pid 1 and much more\nrest"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if info, held, err := filelock.Holder(path); string(info) != "pid 1 and much more\nrest" || !held || err != nil {
		t.Errorf("held: %q %v %v", info, held, err)
	}
	_, err = filelock.Hold(t.Context(), path, []byte("pid 2"), 10*time.Millisecond)
	var busy *filelock.BusyError
	if !errors.As(err, &busy) || busy.Holder != "pid 1 and much more" || busy.Waited < 10*time.Millisecond {
		t.Errorf("second holder: %v", err)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	if info, held, _ := filelock.Holder(path); string(info) != "pid 1 and much more\nrest" || held {
		t.Errorf("released: %q %v", info, held)
	}
	h, err = filelock.Hold(t.Context(), path, []byte("pid 3"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	if info, _, _ := filelock.Holder(path); string(info) != "pid 3" {
		t.Errorf("a shorter info left %q", info)
	}
}

func TestHoldEndsWithItsProcess(t *testing.T) {
	path := lockPath(t)
	kill := holder(t, "hold", path, "the other")
	if info, held, err := filelock.Holder(path); string(info) != "the other" || !held || err != nil {
		t.Fatalf("%q %v %v", info, held, err)
	}
	kill()
	h, err := filelock.Hold(t.Context(), path, nil, 0)
	if err != nil {
		t.Fatalf("after kill: %v", err)
	}
	if err := h.Release(); err != nil {
		t.Error(err)
	}
}

func TestHoldWaitsForItsTurn(t *testing.T) {
	path := lockPath(t)
	first, err := filelock.Hold(t.Context(), path, []byte("first"), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		h, err := filelock.Hold(context.Background(), path, []byte("second"), time.Minute)
		if err == nil {
			err = h.Release()
		}
		got <- err
	}()
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestOpenSharedKeepsOthersOutUntilTheProcessEnds(t *testing.T) {
	path := lockPath(t)
	kill := holder(t, "share", path)
	_, release, err := filelock.OpenShared(t.Context(), path)
	if err != nil {
		t.Fatalf("second shared: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	l := filelock.Open(filelock.Config{Path: path, Wait: 10 * time.Millisecond})
	if _, err := l.Acquire(t.Context()); !errors.Is(err, filelock.ErrBusy) {
		t.Errorf("exclusive beside another process: %v", err)
	}
	if _, held, _ := filelock.Holder(path); held {
		t.Error("a shared lock counts as held exclusively")
	}
	kill()
	acquire(t, l)()
}

func TestOpenSharedIsInheritedByAChild(t *testing.T) {
	path := lockPath(t)
	file, release, err := filelock.OpenShared(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("cat")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.ExtraFiles = []*os.File{file}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	l := filelock.Open(filelock.Config{Path: path, Wait: 10 * time.Millisecond})
	if _, err := l.Acquire(t.Context()); !errors.Is(err, filelock.ErrBusy) {
		t.Errorf("the child does not hold the lock: %v", err)
	}
	if err := errors.Join(stdin.Close(), child.Wait()); err != nil {
		t.Fatal(err)
	}
	acquire(t, l)()
}

func TestOpenSharedGivesUp(t *testing.T) {
	path := lockPath(t)
	defer acquire(t, filelock.New(path))()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := filelock.OpenShared(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
