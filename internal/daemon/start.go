package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/filelock"
	"github.com/autonomy-team/autonomy/internal/watch"
	"github.com/autonomy-team/autonomy/team"
)

// daemon is everything that lives between start and the end of serve.
type daemon struct {
	opts    Options
	now     func() time.Time
	info    lockInfo
	log     *logger
	logFile *rotatingFile
	set     config.Settings
	app     *app.App
	shop    *app.Workshop
	board   *board.Dir
	events  *teamLog
	began   int64 // number of the last event before this life
	sup     *team.Supervisor
	watcher *watch.Watcher
	held    *filelock.Held
	sock    *socket // its goroutines are serve's; keepPlace may put another in its place
	server  *http.Server
	down    atomic.Bool
	cancel  context.CancelCauseFunc
	closers []func() error // run last to first

	mu     sync.Mutex
	faults []control.Problem // shown in status
}

// start takes the lock and opens every part, in the order in which they need one another. After an error everything
// that was opened is closed again.
func start(ctx context.Context, opts Options, cancel context.CancelCauseFunc) (*daemon, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	d := &daemon{opts: opts, now: time.Now, cancel: cancel}
	steps := []func(context.Context) error{
		d.takeLock, d.openLog, d.openParts, d.openTeam, d.settle, d.openSocket,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, d.close())
		}
	}
	return d, nil
}

func (d *daemon) onClose(f func() error) { d.closers = append(d.closers, f) }

// close undoes start, the lock last.
func (d *daemon) close() error {
	var errs []error
	for _, f := range slices.Backward(d.closers) {
		errs = append(errs, f())
	}
	d.closers = nil
	return errors.Join(errs...)
}

func (d *daemon) takeLock(ctx context.Context) error {
	if err := prepareFolders(d.opts.Workspace); err != nil {
		return err
	}
	held, info, err := holdInstance(ctx, d.opts.Workspace, d.now())
	if err != nil {
		return err
	}
	d.held, d.info = held, info
	d.onClose(held.Release)
	d.onClose(func() error {
		if d.sock == nil {
			return nil
		}
		return d.sock.remove()
	})
	return nil
}

func (d *daemon) openLog(context.Context) error {
	file, err := openRotating(d.opts.Workspace.DaemonLog(), logSize, logKeep)
	if err != nil {
		return err
	}
	d.onClose(file.Close)
	d.logFile, d.log = file, newLogger(file, d.now)
	if err := hardenProcess(); err != nil {
		d.log.fault("daemon", "keep other processes from looking into this one", err)
	}
	return nil
}

// openParts opens what the team works with, after the commands of an earlier daemon are gone.
func (d *daemon) openParts(ctx context.Context) (err error) {
	say := func(text string) {
		d.log.Info().Msg(text)
		if d.opts.Foreground && d.opts.Err != nil {
			fmt.Fprintln(d.opts.Err, text)
		}
	}
	if err := awaitCommands(ctx, d.opts.Workspace, say); err != nil {
		return err
	}
	d.watcher = watch.New(watch.Config{Changed: d.fileChanged, State: func(s watch.State) {
		d.log.Info().Bool("events", s.Events).Str("reason", s.Reason).Msg("watching")
	}})
	d.app, err = app.Open(context.WithoutCancel(ctx), app.Options{
		Workspace: d.opts.Workspace, Getenv: d.opts.Getenv, UserDir: d.opts.UserDir, Program: d.opts.Program, Report: d.notice,
		Watched: func() bool { return d.watcher.State().Events },
		Flags:   d.opts.flags(),
	})
	if err != nil {
		return err
	}
	d.log.hide(d.app.Mask)
	if d.board, err = d.app.Board(); err != nil {
		return err
	}
	d.events, err = openTeamLog(d.opts.Workspace.Events(), d.now, d.app.Mask, func(what string, err error) {
		d.log.fault("events", what, err)
		d.problem(control.Problem{File: d.opts.Workspace.Events(), Reason: what})
	})
	if err != nil {
		return err
	}
	d.began = d.events.seq
	d.onClose(d.events.Close)
	return nil
}

func (d *daemon) openTeam(context.Context) (err error) {
	if d.set, err = d.app.Settings(); err != nil {
		return err
	}
	for _, warning := range d.set.Warnings {
		d.log.Warn().Msg(warning)
		d.problem(control.Problem{Reason: warning})
	}
	d.shop, err = d.app.Workshop(d.set)
	if err != nil {
		return err
	}
	d.onClose(d.shop.Close)
	mail, err := d.app.Inbox()
	if err != nil {
		return err
	}
	d.sup, err = team.New(team.Config{
		Team: d.shop.Team(), Instance: d.info.Instance, Board: d.board, Mail: mail, Worker: d.shop,
		Transcripts: d.shop, Roster: team.NewRosterFile(d.opts.Workspace.TeamConfig()), Events: d.events,
		Tools: d.app.ToolNames, Key: d.shop.Key,
		Poll: d.set.Poll, IdleTimeout: d.set.IdleTimeout, MaxTeammates: d.set.MaxTeammates,
		NoRevive: !d.set.Revive, ExitWhenIdle: d.opts.ExitWhenIdle,
	})
	if err != nil {
		return err
	}
	d.shop.Attach(d.sup)
	return nil
}

// settle brings the log in line with the board and the roster back to life.
func (d *daemon) settle(ctx context.Context) error {
	past := readHistory(d.opts.Workspace.Events())
	if _, err := d.board.Refresh(ctx); err != nil {
		d.log.fault("board", "read the board", err) // shown by status; the poll goes on trying
	}
	tasks := map[autonomy.TaskID]board.Task{}
	for _, e := range d.board.List() {
		if e.Err == nil {
			tasks[e.ID] = e.Task
		}
	}
	for _, e := range corrections(past, tasks) {
		d.events.Emit(e)
	}
	if d.opts.Resume || !past.orderly {
		return d.sup.Recover(ctx)
	}
	return d.sup.Enroll(ctx)
}

// openSocket makes the control socket; calls are served once serve runs.
func (d *daemon) openSocket(ctx context.Context) (err error) {
	if d.sock, err = listen(d.opts.Workspace); err != nil {
		return err
	}
	base := context.WithoutCancel(ctx) // calls may come while the team is ending
	d.server = newServer(base, control.HandlerConfig{
		Service: d.service(), UID: os.Getuid(), Descendant: isDescendant,
		Hello: control.Hello{
			Version: d.info.Version, Protocol: control.Protocol, PID: d.info.PID, Instance: string(d.info.Instance),
		},
	})
	return nil
}
