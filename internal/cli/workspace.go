package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// path makes a path of the command line absolute, seen from the working directory or -C.
func (s *Streams) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(s.Dir, name)
}

// workspace finds the workspace of the working directory.
func (s *Streams) workspace() (config.Workspace, error) { return config.FindWorkspace(s.Dir) }

// lockWait is longer than a daemon's: nobody looks again for a person or a script, and many at once on a busy disk are
// no fault.
const lockWait = 10 * time.Second

// app opens the workspace for a command that works in process.
func (s *Streams) app(ctx context.Context) (*app.App, error) {
	ws, err := s.workspace()
	if err != nil {
		return nil, err
	}
	return app.Open(ctx, app.Options{Workspace: ws, Getenv: s.Getenv, LockWait: lockWait})
}

// board opens the workspace and reads its board once.
func (s *Streams) board(ctx context.Context) (*board.Dir, *app.App, error) {
	a, err := s.app(ctx)
	if err != nil {
		return nil, nil, err
	}
	b, err := settled(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	return b, a, nil
}

// settled reads the board once, and a second time what looks half-written.
func settled(ctx context.Context, a *app.App) (*board.Dir, error) {
	b, err := a.Board()
	if err != nil {
		return nil, err
	}
	if err := b.Settle(ctx); err != nil {
		return nil, fmt.Errorf("read the board: %w", err)
	}
	return b, nil
}

// daemon returns a client of the running daemon, or control.ErrNotRunning.
func (s *Streams) daemon(ctx context.Context) (*control.Client, error) {
	ws, err := s.workspace()
	if err != nil {
		return nil, err
	}
	return control.Dial(ctx, ws)
}

// ensureDaemon is daemon, but starts one when none runs, after asking for trust where it is missing.
func (s *Streams) ensureDaemon(ctx context.Context, noStart bool) (*control.Client, error) {
	ws, err := s.workspace()
	if err != nil {
		return nil, err
	}
	if err := s.consent(ctx); err != nil {
		return nil, err
	}
	if noStart {
		return control.Dial(ctx, ws)
	}
	client, _, err := control.Ensure(ctx, ws, control.StartOptions{Say: func(text string) { s.say("autonomy: %s", visible.Line(text)) }})
	return client, err
}

const nobodyWorks = "daemon not running: nobody works; start it with 'autonomy up'"

// team is the roster: with live states from the daemon, else from the file, where nobody is alive.
func (s *Streams) team(ctx context.Context) (control.Team, error) {
	client, err := s.daemon(ctx)
	if err == nil {
		defer client.Close()
		return client.Team(ctx)
	}
	if !errors.Is(err, control.ErrNotRunning) {
		return control.Team{}, err
	}
	a, err := s.app(ctx)
	if err != nil {
		return control.Team{}, err
	}
	team, err := a.Roster(ctx)
	if err == nil && len(team.Members) > 0 {
		s.say(nobodyWorks)
	}
	return team, err
}

// send delivers mail through the daemon, or puts it into the mailbox when none runs.
func (s *Streams) send(ctx context.Context, req control.SendRequest) (control.SendReply, error) {
	client, err := s.daemon(ctx)
	if err == nil {
		defer client.Close()
		var reply control.SendReply
		if reply, err = client.Send(ctx, req); err == nil {
			return reply, nil
		}
	} // a daemon that ended in between took nothing
	if !errors.Is(err, control.ErrNotRunning) {
		return control.SendReply{}, err
	}
	a, err := s.app(ctx)
	if err != nil {
		return control.SendReply{}, err
	}
	return a.SendOffline(ctx, req)
}
