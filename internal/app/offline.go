package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/watch"
	"github.com/autonomy-team/autonomy/team"
)

// What commands ask of a workspace without a daemon.

// Claimants is the roster as the board judges it: who could take which task once the team runs. A stopped or failed
// member is not among them, since only a person brings it back.
func (a *App) Claimants(ctx context.Context) ([]board.Claimant, error) {
	members, err := a.Enrolled(ctx)
	if err != nil {
		return nil, err
	}
	var claimants []board.Claimant
	for _, m := range members {
		if m.Desired == team.Running && m.Name != team.Lead {
			claimants = append(claimants, board.Claimant{Name: m.Name, Role: m.Role, Tools: a.ToolNames(m.Spec), Model: m.HasModel()})
		}
	}
	for i := range claimants {
		claimants[i].Peers = slices.Concat(claimants[:i], claimants[i+1:])
	}
	return claimants, nil
}

// Remark says why a ready task is not taken by anybody on the roster: "needs a model", or "ready; no member may take
// it". With an empty roster only what no member could work without a model, or not at all, is remarked.
func (a *App) Remark(ctx context.Context, b *board.Dir) func(board.Entry) string {
	members, err := a.Claimants(ctx)
	return func(e board.Entry) string {
		if err != nil {
			return ""
		}
		if len(members) == 0 {
			t := e.Task // whoever joins could have this name and role and these tools
			_, reason := b.Eligible(e.ID, board.Claimant{Name: t.Owner, Role: t.Role, Tools: t.Requires})
			return reason
		}
		reasons := map[string]bool{}
		for _, who := range members {
			ok, reason := b.Eligible(e.ID, who)
			if ok {
				return ""
			}
			reasons[reason] = true
		}
		if len(reasons) == 1 {
			for reason := range reasons {
				return reason
			}
		}
		if reasons["needs a model"] {
			return "needs a model"
		}
		return "ready; no member may take it"
	}
}

// Archived reports whether a task lies in the archive.
func (a *App) Archived(id autonomy.TaskID) bool {
	_, err := os.Lstat(filepath.Join(a.ws.Tasks(), "archive", fmt.Sprintf("task_%d.json", id)))
	return err == nil
}

// Mailbox lists the newest messages of a mailbox, oldest first, and consumes nothing. A name that neither is on the
// roster nor has a mailbox is a *team.UnknownNameError.
func (a *App) Mailbox(ctx context.Context, name autonomy.AgentName, limit int, unread bool) ([]inbox.Listed, error) {
	if err := a.knownName(ctx, name); err != nil {
		return nil, err
	}
	box, err := a.Inbox()
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = 1 << 30
	}
	mail, err := box.Peek(ctx, name, limit)
	if unread {
		mail = slices.DeleteFunc(mail, func(m inbox.Listed) bool { return m.Read })
	}
	return mail, err
}

func (a *App) knownName(ctx context.Context, name autonomy.AgentName) error {
	names, err := a.receivers(ctx)
	if err != nil || slices.Contains(names, name) {
		return err
	}
	if team.CheckName(name) == nil {
		_, err := os.Lstat(filepath.Join(a.ws.Inbox(), string(name)+".jsonl"))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return &team.UnknownNameError{Name: name, Valid: names}
}

// receivers are all who have a mailbox.
func (a *App) receivers(ctx context.Context) ([]autonomy.AgentName, error) {
	members, err := a.Enrolled(ctx)
	if err != nil {
		return nil, err
	}
	names := []autonomy.AgentName{team.Lead, team.User}
	for _, m := range members {
		if m.Name != team.Lead {
			names = append(names, m.Name)
		}
	}
	return names, nil
}

// WatchBoard tells, until ctx ends or stop is called, that the board may have changed: the names of files, or none for a
// look at everything, at the latest after every interval.
func (a *App) WatchBoard(ctx context.Context, interval time.Duration) (changes <-chan []string, stop func()) {
	out := make(chan []string)
	tell := func(names ...string) {
		select {
		case out <- names:
		case <-ctx.Done():
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	w := watch.New(watch.Config{Changed: func(_, name string) {
		if name == "" {
			tell()
			return
		}
		tell(name)
	}})
	w.Add(a.ws.Tasks())
	done := make(chan struct{}, 2)
	go func() { _ = w.Serve(ctx); done <- struct{}{} }() // ends with ctx; without events there is the interval
	go func() {
		defer func() { done <- struct{}{} }()
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.Poll()
				tell()
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, func() {
		cancel()
		<-done
		<-done
	}
}
