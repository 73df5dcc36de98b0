package app

import (
	"context"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/tool"
	teamtool "github.com/autonomy-team/autonomy/agent/tool/team"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/team"
)

// teamTools are the tools with which a member works with the others. The lead has those for the crew as well.
func (w *Workshop) teamTools(m team.Spec, s *shift) ([]tool.Tool, error) {
	dir, err := w.app.Board()
	if err != nil {
		return nil, err
	}
	mail, err := w.app.Inbox()
	if err != nil {
		return nil, err
	}
	cfg := teamtool.Config{
		Board: discreetBoard{dir, w.app.redact},
		Claim: func(ctx context.Context, who autonomy.AgentName, id autonomy.TaskID) (board.Task, error) {
			return w.supervisor().Claim(ctx, who, id)
		},
		Send: func(ctx context.Context, m inbox.Message) (string, error) {
			m.Content = w.app.redact.String(m.Content)
			receipt, err := w.supervisor().Send(ctx, m)
			return receipt.Note, err
		},
		Unread: mail.Unread,
	}
	if m.Name == team.Lead {
		cfg.Crew, cfg.Review = crew{w, m}, w.review
	}
	if m.RequirePlan {
		cfg.Submit = w.submit(s)
	}
	return teamtool.New(cfg)
}

// supervisor is the team; it is attached before any job begins.
func (w *Workshop) supervisor() *team.Supervisor {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.crew
}

// crew is what the lead may do with the members.
type crew struct {
	shop *Workshop
	lead team.Spec
}

// Spawn starts a member with the lead's own model and a clean conversation, as a person's spawn does.
func (c crew) Spawn(ctx context.Context, by, name autonomy.AgentName, role autonomy.Role, prompt string) error {
	spec, err := c.shop.Resolve(ctx, team.Spec{
		Name: name, Role: role, Prompt: prompt, Provider: c.lead.Provider, Model: c.lead.Model, BaseURL: c.lead.BaseURL,
		SpawnedBy: by,
	})
	if err != nil {
		return err
	}
	_, err = c.shop.supervisor().Spawn(ctx, spec, false)
	return err
}

// Members lists the team without the lead.
func (c crew) Members() []teamtool.Member {
	var members []teamtool.Member
	for _, s := range c.shop.supervisor().Members() {
		if s.Name != team.Lead {
			members = append(members, teamtool.Member{Name: s.Name, Role: s.Role, State: string(s.Phase), Task: s.Task, Reason: s.Reason})
		}
	}
	return members
}

// Stop ends a member at its next safe point.
func (c crew) Stop(ctx context.Context, name autonomy.AgentName) error {
	return c.shop.supervisor().Stop(ctx, name, false)
}
