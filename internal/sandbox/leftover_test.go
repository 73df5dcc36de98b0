package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/filelock"
)

// stayBehind are scripts that try to leave something alive.
var stayBehind = map[string]string{
	"background":          `sleep 1000 & echo up`,
	"nohup":               `nohup sleep 1000 >/dev/null 2>&1 & echo up`,
	"new session":         `setsid sleep 1000 & sleep 0.05; echo up`,
	"double fork":         `(setsid sh -c 'sleep 1000 & sleep 1000' >/dev/null 2>&1 &); sleep 0.05; echo up`,
	"ignores all signals": `(trap '' TERM HUP INT; setsid sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' &) ; sleep 0.05; echo up`,
	"closed stdio":        `(setsid sh -c 'exec <&- >&- 2>&-; sleep 1000' &); sleep 0.05; echo up`,
	"forks in a loop":     `f() { (setsid sh -c 'while :; do (sleep 0.01 &); done' &); }; f; f; sleep 0.2; echo up`,
	"many":                `for i in $(seq 50); do (setsid sleep 1000 &); done; sleep 0.2; echo up`,
}

func TestR08_ChildrenAreGoneWhenTheCommandEnds(t *testing.T) {
	for name, text := range stayBehind {
		t.Run(name, func(t *testing.T) {
			mark := t.Name() + strconv.Itoa(os.Getpid())
			order := script(t, text)
			order.Env = append(order.Env, "MARK="+mark)
			got, out := run(t, order)
			if out != "up\n" || got.Exit != 0 {
				t.Errorf("got %+v, %q", got, out)
			}
			if got.LeftBehind == 0 {
				t.Error("the outcome does not say that something was left behind")
			}
			if left := alive(t, mark); len(left) > 0 {
				t.Errorf("still alive: %q", left)
			}
		})
	}
}

func TestR08_ChildrenAreGoneWhenTheParentIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills many processes")
	}
	for i := range 20 {
		// From the very start, when the launcher may not even run yet, to the middle of the command's work.
		delay := time.Duration(rand.IntN(8+i*4)) * time.Millisecond
		names := slices.Sorted(maps.Keys(stayBehind))
		for _, name := range []string{names[i%len(names)], "double fork"} {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) { killParent(t, stayBehind[name]+"; sleep 1000", delay) })
		}
	}
}

// killParent kills -9 a parent some time after it was started. The exec lock must become free, and then nothing of the
// command may be alive nor start later.
func killParent(t *testing.T, text string, delay time.Duration) {
	mark := strings.ReplaceAll(t.Name(), " ", "_") + strconv.Itoa(os.Getpid())
	lock := filepath.Join(t.TempDir(), "exec.lock")
	parent := exec.Command(testConfig().Self)
	parent.Env = append(os.Environ(), parentEnv+"="+text, "MARK="+mark, "EXEC_LOCK="+lock)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(delay)
	_ = parent.Process.Signal(syscall.SIGKILL)
	_ = parent.Wait()
	eventually(t, "everything is gone", func() bool { return len(alive(t, mark)) == 0 })
	unlock, err := filelock.New(lock).Acquire(t.Context())
	if err != nil {
		t.Fatalf("the exec lock is not free: %v", err)
	}
	defer unlock()
	if left := alive(t, mark); len(left) > 0 {
		t.Errorf("alive while the exec lock is free: %q", left)
	}
}

func TestR08_ExecLockIsHeldWhileAnythingLives(t *testing.T) {
	mark := t.Name() + strconv.Itoa(os.Getpid())
	lock := filepath.Join(t.TempDir(), "exec.lock")
	parent := exec.Command(testConfig().Self)
	parent.Env = append(os.Environ(), parentEnv+"="+stayBehind["double fork"]+"; sleep 1000", "MARK="+mark, "EXEC_LOCK="+lock)
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "started\n" {
		t.Fatalf("parent says %q, %v", line, err)
	}
	if unlock, err := filelock.New(lock).Acquire(t.Context()); err == nil {
		unlock()
		t.Error("the lock is free while the command runs")
	}
	_ = parent.Process.Signal(syscall.SIGKILL)
	_ = parent.Wait()
	eventually(t, "everything is gone", func() bool { return len(alive(t, mark)) == 0 })
}

func TestKilledLauncherTakesTheCommandAlong(t *testing.T) {
	p, err := Start(t.Context(), testConfig(), script(t, `sleep 1000`), NewOutput(100, nil))
	if err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	if got, err := p.Wait(t.Context()); err == nil {
		t.Errorf("got %+v and no error", got)
	}
	eventually(t, "the command is gone", func() bool { return syscall.Kill(p.PID(), 0) == syscall.ESRCH })
}

func TestCancelWhileWaitingForTheExecLock(t *testing.T) {
	order := script(t, `echo ran`)
	order.ExecLock = filepath.Join(t.TempDir(), "exec.lock")
	unlock, err := filelock.New(order.ExecLock).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	out := NewOutput(100, nil)
	begun := time.Now()
	if _, err := Run(ctx, testConfig(), order, out); !errors.Is(err, ErrNotStarted) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if out.Total() > 0 || time.Since(begun) > lockWait/2 {
		t.Errorf("it ran (%d bytes) or waited %s", out.Total(), time.Since(begun))
	}
}
