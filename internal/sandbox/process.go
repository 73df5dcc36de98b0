package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/autonomy-team/autonomy/internal/machine"
)

// hardWait is how long the parent waits for a launcher that was told to kill before it kills the launcher.
const hardWait = 15 * time.Second

// Config says how the launcher is started.
type Config struct {
	Self string   // path of this program, as from os.Executable
	Args []string // that make it call Main; nil = __sandbox
}

// Outcome is how a command ended. Nothing of the command lives when there is one.
type Outcome struct {
	Exit       int    // exit status; 128 + number when ended by a signal
	Signal     string // name of that signal, "" else
	TimedOut   bool   // the deadline passed
	Cancelled  bool   // it was stopped: by the context of Run, by Stop or by Kill
	LeftBehind int    // processes that outlived the command and were killed
	Duration   time.Duration
}

// Process is a running command. Its methods may be called from any goroutine.
type Process struct {
	cmd    *exec.Cmd
	orders *os.File // held open while the command may live
	begun  time.Time
	pid    int

	once    sync.Once // closes orders
	done    chan struct{}
	outcome Outcome // valid once done is closed
	err     error
}

// Run runs one command to its end and copies what it writes to out, both streams in one order. When ctx ends the command
// is stopped (SIGTERM, grace, SIGKILL) and Cancelled is set. An error means that the command did not start
// (ErrNotStarted) or that the launcher failed; a command that fails has an Outcome.
func Run(ctx context.Context, cfg Config, order Order, out io.Writer) (Outcome, error) {
	p, err := Start(ctx, cfg, order, out)
	if err != nil {
		return Outcome{}, err
	}
	return p.Wait(ctx)
}

// Start starts a command; ctx bounds the start only. The caller must Wait, or Stop and watch Done: until then two
// goroutines and two processes belong to it. out is written on a goroutine of the Process until Done is closed.
func Start(ctx context.Context, cfg Config, order Order, out io.Writer) (*Process, error) {
	if err := order.validate(); err != nil {
		return nil, err
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, err
	}
	args := cfg.Args
	if args == nil {
		args = []string{"__sandbox"}
	}
	cmd := exec.Command(cfg.Self, args...)
	cmd.Env, cmd.Dir = order.Env, "/"
	cmd.Stdout, cmd.Stderr = pipes.outW, pipes.outW
	cmd.ExtraFiles = []*os.File{pipes.orderR, pipes.statusW}
	// A group of its own keeps the terminal's interrupt away: stopping is the parent's decision.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := &Process{cmd: cmd, orders: pipes.orderW, begun: time.Now(), done: make(chan struct{})}
	err = cmd.Start()
	pipes.closeChildEnds()
	if err != nil {
		pipes.closeOwnEnds()
		return nil, machine.Trouble(fmt.Errorf("%w: start launcher: %w", ErrNotStarted, err))
	}
	started := make(chan error, 1)
	go p.supervise(pipes, out, started)
	if err := writeOrder(p.orders, order); err != nil {
		p.closeOrders()
		<-p.done
		if !errors.Is(err, ErrNotStarted) { // the order was in order, so the launcher is gone
			err = machine.Trouble(err)
		}
		return nil, fmt.Errorf("%w: send order: %w", ErrNotStarted, err)
	}
	select {
	case err = <-started:
	case <-ctx.Done():
		// It may start in this very moment. Then it is a process that is being stopped, for the caller to wait for.
		p.Stop()
		if err = <-started; err != nil {
			err = fmt.Errorf("%w: %w", ErrNotStarted, context.Cause(ctx))
		}
	}
	if err != nil {
		<-p.done
		return nil, err
	}
	return p, nil
}

// supervise owns the launcher: it copies output, reads the reports, reaps the launcher and settles the outcome.
func (p *Process) supervise(pipes pipes, out io.Writer, started chan<- error) {
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(out, pipes.outR)
	}()
	final, err := p.readReports(pipes.statusR, started)
	waitErr := p.cmd.Wait()
	if err != nil {
		p.err = fmt.Errorf("%w (launcher: %w)", err, orNone(waitErr))
		// Without its final word the launcher may have been killed and its command with it or not.
		p.signalGroup(syscall.SIGKILL)
	}
	// All writers are dead, so the end of the output is near. Were something alive after all it must not hold us up.
	_ = pipes.outR.SetReadDeadline(time.Now().Add(2 * time.Second))
	<-copied
	pipes.outR.Close()
	pipes.statusR.Close()
	p.closeOrders()
	p.outcome = Outcome{
		Exit: final.Exit, Signal: final.Signal, LeftBehind: final.Left, Duration: time.Since(p.begun),
		TimedOut: final.Ended == endedByTime, Cancelled: final.Ended == endedByStop,
	}
	close(p.done)
}

var errNoReport = errors.New("launcher ended without a report")

func (p *Process) readReports(status io.Reader, started chan<- error) (report, error) {
	lines := bufio.NewScanner(status)
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			continue
		}
		switch {
		case r.Error != "":
			err := fmt.Errorf("%w: %s", ErrNotStarted, r.Error)
			if r.Blame == blameMachine {
				err = machine.Trouble(err)
			}
			started <- err
			return r, nil
		case r.Final:
			return r, nil
		default:
			p.pid = r.PID
			started <- nil
		}
	}
	if p.pid == 0 {
		// Nothing of the order had its turn: the launcher was killed, or had no memory or thread to begin with.
		started <- machine.Trouble(fmt.Errorf("%w: %w", ErrNotStarted, errNoReport))
	}
	return report{Exit: -1}, errNoReport
}

// PID is the process id of the command, which is also its process group.
func (p *Process) PID() int { return p.pid }

// Done is closed when the command and every process it started are gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Outcome is how the command ended; it may be called once Done is closed.
func (p *Process) Outcome() (Outcome, error) { return p.outcome, p.err }

// Wait returns the outcome. When ctx ends first the command is stopped; Wait still returns only when it is gone.
func (p *Process) Wait(ctx context.Context) (Outcome, error) {
	select {
	case <-p.done:
		return p.outcome, p.err
	case <-ctx.Done():
	}
	p.Stop()
	hard := time.NewTimer(hardWait)
	defer hard.Stop()
	select {
	case <-p.done:
	case <-hard.C:
		p.Kill()
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	return p.outcome, p.err
}

// Stop asks the command to end: SIGTERM, and after the grace SIGKILL. It does not wait.
func (p *Process) Stop() { _, _ = p.orders.Write([]byte{controlTerm}) }

// Kill ends the command at once. It does not wait.
func (p *Process) Kill() { p.closeOrders() }

func (p *Process) closeOrders() { p.once.Do(func() { p.orders.Close() }) }

func (p *Process) signalGroup(signal syscall.Signal) {
	if p.pid > 1 {
		_ = syscall.Kill(-p.pid, signal)
	}
}

func orNone(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

type pipes struct {
	orderR, orderW, statusR, statusW, outR, outW *os.File
}

func openPipes() (p pipes, err error) {
	for _, ends := range [][2]**os.File{{&p.orderR, &p.orderW}, {&p.statusR, &p.statusW}, {&p.outR, &p.outW}} {
		if *ends[0], *ends[1], err = os.Pipe(); err != nil {
			p.closeChildEnds()
			p.closeOwnEnds()
			return pipes{}, machine.Trouble(fmt.Errorf("%w: open pipes of launcher: %w", ErrNotStarted, err))
		}
	}
	return p, nil
}

func (p pipes) closeChildEnds() { closeAll(p.orderR, p.statusW, p.outW) }
func (p pipes) closeOwnEnds()   { closeAll(p.orderW, p.statusR, p.outR) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
