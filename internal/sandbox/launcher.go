package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/autonomy-team/autonomy/internal/filelock"
	"github.com/autonomy-team/autonomy/internal/machine"
)

// The launcher's inherited descriptors beside stdio.
const (
	orderFD  = 3
	statusFD = 4
)

// sweepEvery is how often descendants are looked for while the launcher kills.
const sweepEvery = 2 * time.Millisecond

// lockWait bounds the wait for the shared exec lock: a daemon that starts holds it exclusively only while it makes sure
// that nothing of its predecessor lives.
const lockWait = 30 * time.Second

// Main is the hidden launcher command. It is called on the main goroutine of a fresh process that Start made, and
// returns the exit status for os.Exit. How the command ended is told on the status pipe, not by that status. ctx bounds
// what comes before the command; once it runs, only the parent's pipe and the deadline end it.
func Main(ctx context.Context) int {
	// The kill signal that the command gets when its parent dies is tied to the thread that created it.
	runtime.LockOSThread()
	if err := closeOnExec(); err != nil {
		fmt.Fprintln(os.Stderr, "launcher:", err)
		return 2
	}
	orders, status := os.NewFile(orderFD, "order"), os.NewFile(statusFD, "status")
	order, err := readOrder(orders)
	if err != nil {
		fmt.Fprintln(os.Stderr, "launcher: this command is started by the program itself:", err)
		return 2
	}
	l := &launcher{order: order, orders: orders, status: json.NewEncoder(status)}
	if err := l.start(ctx); err != nil {
		r := report{Error: err.Error(), Final: true}
		if machine.InTrouble(err) {
			r.Blame = blameMachine
		}
		_ = l.status.Encode(r)
		return 1
	}
	final := l.watch()
	_ = l.status.Encode(final)
	return 0
}

type launcher struct {
	order  Order
	orders *os.File
	status *json.Encoder
	lock   *os.File // kept reachable: collected, it would be closed and the lock lost

	pid   int
	ended ending
	left  int
}

// start brings the process into the state of SECURITY section 6 and starts the command. The lock comes first and the
// look at the pipe second: a daemon that got the lock exclusively after a crash may rely on no launcher of its
// predecessor starting anything afterwards.
func (l *launcher) start(ctx context.Context) error {
	if err := becomeReaper(); err != nil {
		return err
	}
	if l.order.ExecLock != "" {
		ctx, cancel := context.WithTimeout(ctx, lockWait)
		defer cancel()
		go func() {
			if parentSpoke(l.orders, -1) {
				cancel()
			}
		}()
		// The lock is never given back: it ends with this process, when all descendants are gone.
		lock, _, err := filelock.OpenShared(ctx, l.order.ExecLock)
		if err != nil {
			return machine.Trouble(fmt.Errorf("take the lock of running commands: %w", err))
		}
		l.lock = lock
	}
	if parentSpoke(l.orders, 0) {
		return errors.New("the parent has gone or wants it no more")
	}
	if err := applyLimits(l.order.Limits); err != nil {
		return err
	}
	argv, err := commandLine(l.order)
	if err != nil {
		return err
	}
	if err := confine(l.order); err != nil {
		return err
	}
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir:   l.order.Dir,
		Env:   l.order.Env,
		Files: []uintptr{0, 1, 2},
		Sys:   commandAttr(),
	})
	if err != nil {
		return fmt.Errorf("start %s in %s: %w", argv[0], l.order.Dir, err)
	}
	l.pid = pid
	// A parent that can't be told is seen as gone by the end of its pipe.
	_ = l.status.Encode(report{PID: pid})
	return nil
}

// confine is the place of capabilities, no_new_privs, Landlock, seccomp and their self-test. It runs in the launcher
// before the command is forked, because all of them are inherited and none can be undone.
func confine(Order) error { return nil }

func commandLine(o Order) ([]string, error) {
	if o.Script == "" {
		path, err := lookPath(o.Argv[0], o)
		if err != nil {
			return nil, err
		}
		return append([]string{path}, o.Argv[1:]...), nil
	}
	if bash, err := lookPath("bash", o); err == nil {
		return []string{bash, "--noprofile", "--norc", "-c", o.Script}, nil
	}
	sh, err := lookPath("sh", o)
	if err != nil {
		return nil, err
	}
	return []string{sh, "-c", o.Script}, nil
}

// lookPath finds a program on the PATH of the order, not on the launcher's. Relative entries are passed over: they would
// let the folder of the command choose the program.
func lookPath(name string, o Order) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.Contains(name, "/") {
		return filepath.Join(o.Dir, name), nil
	}
	search := "/usr/local/bin:/usr/bin:/bin"
	for _, item := range o.Env {
		if value, ok := strings.CutPrefix(item, "PATH="); ok {
			search = value
		}
	}
	for _, dir := range filepath.SplitList(search) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w on PATH", name, exec.ErrNotFound)
}

type death struct {
	pid    int
	status unix.WaitStatus
}

// watch ends when the command and every descendant are gone and reaped. All decisions are taken here, on one goroutine;
// the two others only report deaths and control bytes and live as long as the process.
func (l *launcher) watch() report {
	deaths, controls, signals := make(chan death), make(chan byte), make(chan os.Signal, 1)
	go reap(deaths)
	go readControls(l.orders, controls)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	final := report{Final: true}
	deadline := timer(l.order.Timeout)
	var grace, sweep <-chan time.Time
	mainGone := false
	kill := func() {
		_ = unix.Kill(-l.pid, unix.SIGKILL)
		killChildren()
		if sweep == nil {
			sweep = time.NewTicker(sweepEvery).C
		}
	}
	terminate := func(why ending) {
		if l.ended == endedItself && !mainGone {
			l.ended = why
		}
		_ = unix.Kill(-l.pid, unix.SIGTERM)
		_ = unix.Kill(-l.pid, unix.SIGCONT)
		grace = timer(graceOf(l.order))
	}
	for {
		select {
		case d, more := <-deaths:
			if !more {
				final.Ended, final.Left = l.ended, l.left
				return final
			}
			if d.pid == l.pid {
				final.Exit, final.Signal = exitOf(d.status)
				mainGone = true
				kill()
			} else if mainGone && d.status.Signaled() && d.status.Signal() == unix.SIGKILL {
				l.left++
			}
		case c := <-controls:
			if c == controlTerm {
				terminate(endedByStop)
				continue
			}
			if l.ended == endedItself && !mainGone {
				l.ended = endedByStop
			}
			kill()
		case <-signals:
			terminate(endedByStop)
		case <-deadline:
			terminate(endedByTime)
		case <-grace:
			kill()
		case <-sweep:
			killChildren()
		}
	}
}

// killChildren kills every child of the launcher. Descendants deeper down become children when their parents die, so
// that repeating it reaches all of them, also those that left the command's process group.
func killChildren() {
	for _, pid := range children() {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// reap collects the dead until there is no child left: as all orphans of the tree become children, none is left alive.
func reap(deaths chan<- death) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			close(deaths)
			return
		default:
			deaths <- death{pid, status}
		}
	}
}

// readControls passes the parent's bytes on. The end of the pipe, which is also how a killed parent looks, is the order
// to kill.
func readControls(orders io.Reader, controls chan<- byte) {
	var b [1]byte
	for {
		if _, err := io.ReadFull(orders, b[:]); err != nil {
			controls <- controlKill
			return
		}
		controls <- b[0]
	}
}

func exitOf(status unix.WaitStatus) (int, string) {
	if status.Signaled() {
		return 128 + int(status.Signal()), unix.SignalName(status.Signal())
	}
	return status.ExitStatus(), ""
}

func graceOf(o Order) time.Duration {
	if o.Grace > 0 {
		return o.Grace
	}
	return Grace
}

// timer is a channel that fires once, or never for 0.
func timer(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.NewTimer(d).C
}

// parentSpoke reports whether the parent's end of the order pipe is closed or a control byte came after the order, which
// before the start can only mean that it is not wanted any more. It waits at most wait milliseconds, for ever with -1.
func parentSpoke(orders *os.File, wait int) bool {
	fds := []unix.PollFd{{Fd: int32(orders.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, wait)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err != nil || fds[0].Revents != 0
	}
}

func applyLimits(l Limits) error {
	for _, limit := range []struct {
		resource int
		value    uint64
		set      bool
		name     string
	}{
		{unix.RLIMIT_CORE, 0, true, "core dumps"},
		{unix.RLIMIT_NOFILE, l.OpenFiles, l.OpenFiles > 0, "open files"},
		{unix.RLIMIT_FSIZE, l.FileSize, l.FileSize > 0, "file size"},
		{unix.RLIMIT_CPU, l.CPU, l.CPU > 0, "CPU time"},
	} {
		if !limit.set {
			continue
		}
		rlimit := unix.Rlimit{Cur: limit.value, Max: limit.value}
		if err := unix.Setrlimit(limit.resource, &rlimit); err != nil {
			return fmt.Errorf("limit %s to %d: %w", limit.name, limit.value, err)
		}
	}
	return nil
}
