package app

import (
	"context"
	"errors"
	"fmt"
	"os/user"

	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/internal/control"
)

// Approvals lists the requests that wait for a person, oldest first.
func (w *Workshop) Approvals(context.Context) ([]control.Approval, error) {
	var open []control.Approval
	for _, q := range w.requests.List() {
		open = append(open, wireApproval(q))
	}
	return open, nil
}

// Answer answers a request for a person: the control handler has made sure that it is one.
func (w *Workshop) Answer(_ context.Context, answer control.Answer) (control.Approval, error) {
	by := "user"
	if u, err := user.Current(); err == nil && u.Username != "" {
		by = u.Username
	}
	q, err := w.requests.Answer(answer.ID, gateway.Reply{Approve: answer.Approve, By: by, Feedback: answer.Feedback})
	var late *gateway.AnsweredError
	switch {
	case errors.Is(err, gateway.ErrNoRequest):
		return control.Approval{}, control.Errorf(control.CodeNotFound, "no open request %s; an ID is given whole, as approvals shows it", answer.ID)
	case errors.As(err, &late):
		w.app.opts.Report(Notice{Part: "approvals", Text: fmt.Sprintf("a late answer of %s was not taken: %v", by, late)})
		return wireApproval(q), control.Errorf(control.CodeConflict, "%s", late.Error())
	case err != nil:
		return control.Approval{}, fmt.Errorf("answer request %s: %w", answer.ID, err)
	}
	return wireApproval(q), nil
}

func wireApproval(q gateway.Request) control.Approval {
	return control.Approval{
		ID: q.ID, Member: string(q.Actor), Task: int64(q.Task), Kind: q.Kind, Tool: q.Tool, Arguments: q.Arguments, Plan: q.Plan, Dir: q.Dir,
		Purpose: q.Purpose, Risk: string(q.Risk), Effect: q.Effect, Reason: q.Reason, CreatedAt: q.CreatedAt,
		ExpiresAt: q.ExpiresAt, State: string(q.State), By: q.By,
	}
}
