package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/internal/filelock"
	"github.com/autonomy-team/autonomy/internal/sandbox"
	"github.com/autonomy-team/autonomy/internal/watch"
)

// scratch begins the names of the files that checks make and remove. The board and the mailboxes ignore it.
const scratch = ".doctor-"

// Writable checks that files can be made in a folder. One that does not exist yet is judged by the nearest above it.
func Writable(name, dir string) Check {
	return Check{Name: name, Required: true, Run: func(context.Context) Finding {
		at, err := nearest(dir)
		if err != nil {
			return failure("see what is in the place of "+dir, "%v", err)
		}
		f, err := os.CreateTemp(at, scratch)
		if err != nil {
			return failure("make "+at+" writable for you: check owner, mode and free space", "%v", err)
		}
		_, err = f.WriteString("doctor\n")
		err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
		if err != nil {
			return failure("check the free space and the health of the disk under "+at, "%v", err)
		}
		if at != dir {
			return ok("%s is made when needed", dir)
		}
		return ok("%s", dir)
	}}
}

// nearest is dir, or the first folder above it that exists.
func nearest(dir string) (string, error) {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return "", &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a folder")}
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
			return "", err
		}
		dir = filepath.Dir(dir)
	}
}

// Locks checks in dir that a lock excludes a second descriptor of this process and another process. tryLock is the
// command line to which a path is added; the process must exit with 0 when it got the lock and 1 when it did not.
func Locks(dir string, tryLock []string) Check {
	return Check{Name: "locks", Required: true, Run: func(ctx context.Context) Finding {
		const fix = "move the workspace to a local disk: without locks two members can take one task"
		at, err := nearest(dir)
		if err != nil {
			return failure(fix, "%v", err)
		}
		f, err := os.CreateTemp(at, scratch+"lock-")
		if err != nil {
			return failure("make "+at+" writable for you", "%v", err)
		}
		path := f.Name()
		defer os.Remove(path)
		_ = f.Close()
		held, err := filelock.Hold(ctx, path, []byte("doctor\n"), 0)
		if err != nil {
			return failure(fix, "cannot lock: %v", err)
		}
		defer held.Release()
		if second, err := filelock.Hold(ctx, path, nil, 0); err == nil {
			_ = second.Release()
			return failure(fix, "two descriptors of one process hold one lock")
		} else if !errors.Is(err, filelock.ErrBusy) {
			return failure(fix, "%v", err)
		}
		return otherProcess(ctx, tryLock, path, fix)
	}}
}

func otherProcess(ctx context.Context, tryLock []string, path, fix string) Finding {
	cmd := exec.CommandContext(ctx, tryLock[0], append(tryLock[1:len(tryLock):len(tryLock)], path)...)
	cmd.Env = sandbox.Environ(os.Environ())
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return failure(fix, "two processes hold one lock")
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return ok("exclude between descriptors and between processes")
	}
	return failure("see whether "+tryLock[0]+" can be started", "the second process: %v", err)
}

// TryLock is what the second process of Locks does: it reports whether it got the lock.
func TryLock(ctx context.Context, path string) (bool, error) {
	held, err := filelock.Hold(ctx, path, nil, 0)
	if errors.Is(err, filelock.ErrBusy) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, held.Release()
}

// eventWithin is how long a file event may take.
const eventWithin = time.Second

// Events checks that a new file in dir is noticed at once. Without events the team polls, so this is never required.
func Events(dir string, poll time.Duration) Check {
	return Check{Name: "file events", Run: func(ctx context.Context) Finding {
		fix := fmt.Sprintf("nothing is lost: the board is looked at every %s; poll in the settings changes that", poll)
		at, err := nearest(dir)
		if err != nil {
			return warning(fix, "%v", err)
		}
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		heard, begun := make(chan time.Time, 1), make(chan struct{}, 1)
		w := watch.New(watch.Config{Changed: func(_, name string) {
			switch {
			case name == "":
				notify(begun, struct{}{})
			case strings.HasPrefix(name, scratch+"event-"):
				notify(heard, time.Now())
			}
		}})
		w.Add(at)
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = w.Serve(ctx) // ends with ctx
		}()
		defer func() {
			cancel()
			<-served
		}()
		select {
		case <-begun:
		case <-ctx.Done():
			return warning(fix, "watching %s did not begin: %s", at, w.State().Reason)
		}
		return hear(ctx, at, heard, fix)
	}}
}

func hear(ctx context.Context, dir string, heard <-chan time.Time, fix string) Finding {
	begin := time.Now()
	f, err := os.CreateTemp(dir, scratch+"event-")
	if err != nil {
		return warning("make "+dir+" writable for you", "%v", err)
	}
	defer os.Remove(f.Name())
	_ = f.Close()
	late := time.NewTimer(eventWithin)
	defer late.Stop()
	select {
	case at := <-heard:
		return ok("arrive after %s", max(at.Sub(begin), time.Millisecond).Round(time.Millisecond))
	case <-late.C:
	case <-ctx.Done():
	}
	return warning(fix, "a new file in %s was not noticed within %s", dir, eventWithin)
}

func notify[T any](c chan<- T, v T) {
	select {
	case c <- v:
	default:
	}
}

// FileSystem warns of network file systems, where locks may be local or absent and events silent.
func FileSystem(dir string) Check {
	return Check{Name: "file system", Run: func(context.Context) Finding {
		at, err := nearest(dir)
		if err != nil {
			return warning("see what is in the place of "+dir, "%v", err)
		}
		if name := watch.Remote(at); name != "" {
			return warning("run one daemon for this workspace, on one machine, or move it to a local disk", "%s is on %s", at, name)
		}
		return ok("local")
	}}
}
