package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/team"
)

// errDown is why the daemon's context ends when a person asked for it.
var errDown = errors.New("asked to go down")

// errNobody is why a daemon ends that is to end when its members are idle and got none: it would wait for ever.
var errNobody = errors.New("no member could be spawned")

// Run is the life of a daemon, from the lock to the last record of its log. It returns the exit status of the process
// and, when that is not explained by what was printed, an error. It ends when ctx ends, at SIGTERM, SIGINT or SIGHUP,
// when `down` asks, or with ExitWhenIdle when nothing is left to do. A second signal ends the process at once.
func Run(ctx context.Context, opts Options) (int, error) {
	starter := control.NewAnnouncer()
	if starter.Awaited() {
		opts.Foreground = false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	listener := heedSignals(cancel)
	defer listener()

	d, err := start(ctx, opts, cancel)
	if err != nil {
		starter.Ready(startError(err))
		if running := (*AlreadyRunningError)(nil); errors.As(err, &running) {
			return ExitRunning, err
		}
		return ExitFailed, err
	}
	return d.serve(ctx, starter)
}

// startError is a failed start as the starter is told it.
func startError(err error) error {
	var running *AlreadyRunningError
	var folder *FolderError
	var name *team.NameError
	var roster *team.RosterError
	switch {
	case errors.As(err, &roster):
		return &control.Error{
			Code: control.CodeInvalid, Message: err.Error(), Hint: "correct the file, or move it away: the roster then starts empty",
		}
	case errors.As(err, &name):
		return control.Errorf(control.CodeInvalid, "%s", err.Error())
	case errors.As(err, &running):
		return control.Errorf(control.CodeRunning, "%s", err.Error())
	case errors.As(err, &folder):
		return &control.Error{Code: control.CodeInvalid, Message: err.Error(), Hint: folder.Fix}
	}
	return wireError(err)
}

// heedSignals cancels at the first signal and ends the process at the second. The returned function stops listening
// and waits for the listener.
func heedSignals(cancel context.CancelCauseFunc) (stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	var wg sync.WaitGroup
	wg.Go(func() {
		first := true
		for s := range signals {
			if !first {
				os.Exit(ExitFailed) // running commands end with this process: their launchers see its pipes close
			}
			first = false
			cancel(fmt.Errorf("%w: %s", errDown, s))
		}
	})
	return func() {
		signal.Stop(signals)
		close(signals)
		wg.Wait()
	}
}

// serve runs the team, the watcher and the socket until the context ends or the team has nothing left to do, then ends
// them in that order and closes what start opened.
func (d *daemon) serve(ctx context.Context, starter *control.Announcer) (int, error) {
	work, cancel := context.WithCancelCause(ctx)
	side, stopSide := context.WithCancel(context.WithoutCancel(ctx)) // the socket and the narrator outlive the team
	d.spawnAll(work)
	if d.opts.ExitWhenIdle && len(d.opts.Spawn) > 0 && len(d.sup.Members()) == 0 {
		d.cancel(errNobody)
	}
	var others sync.WaitGroup
	sock := d.sock
	others.Go(func() { d.serveSocket(side, sock) })
	others.Go(func() { d.watchFiles(side) })
	if d.opts.Foreground && d.opts.Err != nil {
		others.Go(func() { narrate(side, d.events, d.began, d.opts.Err) })
	}
	starter.Ready(nil)
	d.log.Info().Int("pid", d.info.PID).Str("version", d.info.Version).Str("socket", d.sock.path).Msg("up")
	others.Go(func() { d.keepPlace(side) })
	err := d.sup.Serve(work)
	cancel(nil)
	d.down.Store(true)
	d.events.Emit(downEvent())
	d.drain()
	stopSide()
	others.Wait()
	code, err := d.verdict(errors.Join(err, d.saveUnwritten()), context.Cause(ctx))
	d.log.Info().Int("exit", code).AnErr("reason", err).Msg("down")
	return code, errors.Join(err, d.close())
}

// drain gives calls in progress, among them the `down` that is being answered, a moment to end.
func (d *daemon) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_ = d.server.Shutdown(ctx) // streams never end by themselves; their context does
}

// verdict is the exit status for the way in which the team ended, and for what ended it.
func (d *daemon) verdict(err, cause error) (int, error) {
	var idle *team.IdleError
	var displaced *DisplacedError
	var owed *team.UnwrittenError
	switch {
	case errors.As(cause, &displaced):
		return ExitFailed, errors.Join(err, displaced)
	case errors.Is(cause, errNobody):
		return ExitFailed, errors.Join(err, errNobody)
	case errors.As(err, &owed):
		return ExitFailed, err
	case errors.As(err, &idle) && idle.Done():
		return ExitOK, nil
	case errors.As(err, &idle):
		return ExitUnfinished, nil
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, errDown):
		return ExitOK, nil
	}
	return ExitFailed, err
}
