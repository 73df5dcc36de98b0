package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/team"
)

// serveSocket answers calls until ctx ends.
func (d *daemon) serveSocket(ctx context.Context, sock *socket) {
	stop := context.AfterFunc(ctx, func() { _ = d.server.Close() })
	defer stop()
	err := d.server.Serve(sock)
	if !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		d.log.fault("control", "serve the control socket", err)
		d.problem(control.Problem{Reason: "the control socket is closed: " + err.Error()})
	}
}

// watchFiles turns file events into hints for the team, until ctx ends. The team polls by itself; this poll only brings
// back watches that were lost.
func (d *daemon) watchFiles(ctx context.Context) {
	d.watcher.Add(d.opts.Workspace.Tasks())
	d.watcher.Add(d.opts.Workspace.Inbox())
	poll := time.NewTicker(d.set.Poll)
	defer poll.Stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = d.watcher.Serve(ctx) // ends with ctx, and says so
	}()
	for {
		select {
		case <-poll.C:
			d.watcher.Poll()
		case <-done:
			return
		}
	}
}

// fileChanged is called by the watcher for a name in one of its folders; "" means that anything may have changed.
func (d *daemon) fileChanged(dir, name string) {
	switch dir {
	case d.opts.Workspace.Tasks():
		if name == "" {
			d.sup.BoardHint()
			return
		}
		d.sup.BoardHint(name)
	case d.opts.Workspace.Inbox():
		if box, ok := strings.CutSuffix(name, ".jsonl"); ok && !strings.Contains(box, ".") {
			d.sup.MailHint(autonomy.AgentName(box))
		} else if name == "" {
			d.sup.MailHint("")
		}
	}
}

// notice logs what a part found.
func (d *daemon) notice(n app.Notice) {
	place := filepath.Base(n.File)
	if n.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, n.Line)
	}
	d.log.fault(n.Part, place, errors.New(n.Text))
}

// maxFaults is how many faults of its own the daemon shows in its status.
const maxFaults = 20

func (d *daemon) problem(p control.Problem) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, known := range d.faults {
		if known == p {
			return
		}
	}
	if len(d.faults) < maxFaults {
		d.faults = append(d.faults, p)
	}
}

func (d *daemon) problems() []control.Problem {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append(Unwritten(d.opts.Workspace, d.opts.Getenv), d.faults...)
}

// spawnAll starts the members of the command line. One that can't be started is a fault, not the end of the others.
func (d *daemon) spawnAll(ctx context.Context) {
	for _, s := range d.opts.Spawn {
		spec, err := d.shop.Resolve(ctx, team.Spec{Name: s.Name, Role: s.Role})
		if err == nil {
			_, err = d.sup.Spawn(ctx, spec, true)
		}
		if live := (*team.LiveError)(nil); err == nil || errors.As(err, &live) {
			continue // a member that the roster brought back
		}
		d.log.fault("team", "spawn "+string(s.Name), err)
		d.problem(control.Problem{Reason: fmt.Sprintf("spawn %s: %v", s.Name, err)})
		if d.opts.Foreground && d.opts.Err != nil {
			fmt.Fprintf(d.opts.Err, "spawn %s: %v\n", s.Name, err)
		}
	}
}

// goDown ends the daemon for a person.
func (d *daemon) goDown(now bool) {
	if now {
		d.sup.Hurry()
	}
	d.cancel(errDown)
}

func (d *daemon) service() *service {
	return &service{
		crew: d.sup, desk: d.shop, events: d.events, info: d.info, root: d.opts.Workspace.Root, team: d.shop.Team(),
		mode: d.shop.Mode(), poll: d.set.Poll, now: d.now, watch: d.watcher.State, trust: d.app.TrustState,
		entries: d.board.List, problems: d.problems, usage: d.shop.Usage, tasks: d.shop.TaskUsage, spec: d.spec, line: d.follow,
		down: d.goDown, stopping: d.down.Load,
	}
}

// spec is a spawn request as the team takes it, with the role's file and the settings worked in.
func (d *daemon) spec(ctx context.Context, req control.SpawnRequest) (team.Spec, error) {
	return d.shop.Resolve(ctx, team.Spec{
		Name: autonomy.AgentName(req.Name), Role: autonomy.Role(req.Role), Prompt: req.Prompt, Provider: req.Provider,
		Model: req.Model, BaseURL: req.BaseURL, Toolsets: req.Toolsets, Mode: req.Mode, RequirePlan: req.RequirePlan,
		Worktree: req.Worktree, SpawnedBy: team.User,
	})
}

// follow passes the lead's events and text on while a line is run.
func (d *daemon) follow(_ context.Context, yield func(control.LineEvent)) (stop func()) {
	return d.shop.Follow(team.Lead, app.Listener{
		Delta: func(text string) { yield(control.LineEvent{Kind: control.LineDelta, Text: text}) },
		Event: func(e agent.Event) {
			if raw, err := encodeRunEvent(e); err == nil {
				yield(control.LineEvent{Kind: control.LineAction, Event: raw})
			}
		},
	})
}
