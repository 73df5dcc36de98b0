package app

import (
	"context"
	"fmt"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/team"
)

// registry is the tools a member has at work, with a table of processes of its own.
func (w *Workshop) registry(m team.Spec, s *shift) (*tool.Registry, error) {
	shared, err := w.teamTools(m, s)
	if err != nil {
		return nil, err
	}
	all, err := tool.New(append(w.box.tools(s.processes), shared...)...)
	if err != nil {
		return nil, err
	}
	return all.Available(m.Toolsets), nil
}

// gate is the only way in which a job can act: the member's tools behind policy and approval.
func (w *Workshop) gate(s *shift) (*gateway.Gateway, error) {
	m := s.job.Member
	registry, err := w.registry(m, s)
	if err != nil {
		return nil, err
	}
	mode, err := gateway.ParseMode(w.modeOf(m))
	if err != nil {
		return nil, err
	}
	env := tool.Env{Workspace: w.app.ws.Root, Actor: m.Name, Role: m.Role, Run: s.log.id}
	if t := s.job.Task; t != nil {
		env.Task, env.Person = t.ID, t.CreatedBy == "" // the board's gate has seen to it that the workspace is trusted
		if t.Claim != nil {
			env.Claim = t.Claim.ID
		}
	}
	policy := gateway.Modes(mode, false)
	if m.RequirePlan {
		policy = planFirst{policy, w.plans}
	}
	return gateway.New(gateway.Config{
		Registry: registry, Policy: policy, Approver: asking{s}, Env: env, Redact: w.app.redact.String,
		Results: w.app.ws.Results(),
		Report: func(t gateway.Trouble) {
			w.app.opts.Report(Notice{Part: "tool", File: t.Tool, Text: t.Text})
		},
	})
}

// asking puts a member's questions to the people and shows meanwhile that it waits. A stop ends the wait at once: a
// member that waits is at a safe point.
type asking struct{ s *shift }

var errStopped = fmt.Errorf("the member waited for an answer: %w", agent.ErrStopped)

// Approve is part of gateway.Approver.
func (a asking) Approve(ctx context.Context, q gateway.Request) (gateway.Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-a.s.job.Stop:
			cancel(errStopped)
		case <-done:
		}
	}()
	what := q.Tool
	if q.Kind == gateway.KindPlan {
		what = "its plan"
	}
	if q.Purpose != "" {
		what += ": " + q.Purpose
	}
	a.s.job.Progress(team.Progress{Approval: what})
	defer a.s.job.Progress(team.Progress{Answered: true})
	return a.s.shop.requests.Approve(ctx, q)
}
