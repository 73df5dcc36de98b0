package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/filelock"
	"github.com/autonomy-team/autonomy/team"
)

// Enrolled reads the roster; none yet is an empty one.
func (a *App) Enrolled(ctx context.Context) ([]team.Enrolled, error) {
	members, err := team.NewRosterFile(a.ws.TeamConfig()).Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the roster: %w", err)
	}
	return members, nil
}

// Roster is the team as it stands while no daemon runs: nobody is alive. Who was wanted is shown as shutdown, since the
// next daemon brings it back when there is work.
func (a *App) Roster(ctx context.Context) (control.Team, error) {
	members, err := a.Enrolled(ctx)
	if err != nil {
		return control.Team{}, err
	}
	name, err := team.NewRosterFile(a.ws.TeamConfig()).TeamName(ctx)
	if err != nil {
		return control.Team{}, err
	}
	box, err := a.Inbox()
	if err != nil {
		return control.Team{}, err
	}
	t := control.Team{Name: string(name), Members: []control.Member{}, Trust: a.TrustState(ctx)}
	for _, m := range members {
		phase := team.Shutdown
		if m.Desired != team.Running {
			phase = team.Stopped
		}
		unread, err := box.Unread(ctx, m.Name)
		if err != nil {
			return control.Team{}, err
		}
		t.Members = append(t.Members, control.Member{
			Name: string(m.Name), Role: string(m.Role), State: string(phase), Desired: string(m.Desired), Unread: unread,
			Provider: m.Provider, Model: m.Model, SpawnedBy: string(m.SpawnedBy),
		})
	}
	return t, nil
}

// RemoveMember takes a member off the roster. It holds the daemon's lock meanwhile, so that no daemon starts on the old
// roster.
func (a *App) RemoveMember(ctx context.Context, name autonomy.AgentName) error {
	held, err := filelock.Hold(ctx, a.ws.DaemonLock(), nil, time.Second)
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return errors.Join(a.removeMember(ctx, name), held.Release())
}

func (a *App) removeMember(ctx context.Context, name autonomy.AgentName) error {
	members, err := a.Enrolled(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(members, func(m team.Enrolled) bool { return m.Name == name })
	if at < 0 {
		return &team.UnknownNameError{Name: name, Valid: names(members)}
	}
	file := team.NewRosterFile(a.ws.TeamConfig())
	teamName, err := file.TeamName(ctx)
	if err != nil {
		return err
	}
	return file.Save(ctx, teamName, slices.Delete(members, at, at+1))
}

func names(members []team.Enrolled) []autonomy.AgentName {
	list := make([]autonomy.AgentName, len(members))
	for i, m := range members {
		list[i] = m.Name
	}
	return list
}

// SendOffline puts mail into mailboxes while no daemon runs. The receivers find it when the team starts.
func (a *App) SendOffline(ctx context.Context, req control.SendRequest) (control.SendReply, error) {
	members, err := a.Enrolled(ctx)
	if err != nil {
		return control.SendReply{}, err
	}
	m := inbox.Message{
		From: autonomy.AgentName(req.From), To: autonomy.AgentName(req.To), Content: req.Content,
		ReplyTo: autonomy.MessageID(req.ReplyTo), Interrupt: req.Interrupt,
	}
	to, err := team.Route(&m, names(members))
	if err != nil {
		return control.SendReply{}, err
	}
	box, err := a.Inbox()
	if err != nil {
		return control.SendReply{}, err
	}
	reply := control.SendReply{IDs: []string{}, Queued: len(to) > 0, Note: "queued; no daemon"}
	if len(to) == 0 {
		reply.Note = "there is nobody else"
	}
	for _, name := range to {
		m.To = name
		sent, err := box.Send(ctx, m)
		if err != nil {
			return reply, fmt.Errorf("send to %s: %w", name, err)
		}
		reply.IDs = append(reply.IDs, string(sent.ID))
	}
	return reply, nil
}
