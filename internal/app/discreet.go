package app

import (
	"context"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/redact"
)

// discreet masks secrets in what of a report goes onto the board, into mail and to people.
func (a *App) discreet(r agent.Report) agent.Report {
	mask := a.redact.String
	r.Summary, r.Text, r.Message = mask(r.Summary), mask(r.Text), mask(r.Message)
	if r.Failure != nil {
		f := *r.Failure
		f.Tail = mask(f.Tail)
		r.Failure = &f
	}
	return r
}

// discreetBoard is the board as members write on it: without secrets.
type discreetBoard struct {
	*board.Dir
	mask *redact.Redactor
}

// Create puts a masked draft on the board.
func (b discreetBoard) Create(ctx context.Context, d board.Draft) (board.Task, error) {
	d.Subject, d.Description, d.Verify = b.mask.String(d.Subject), b.mask.String(d.Description), b.mask.String(d.Verify)
	return b.Dir.Create(ctx, d)
}

// Edit applies a masked patch.
func (b discreetBoard) Edit(ctx context.Context, id autonomy.TaskID, p board.Patch) (board.Task, error) {
	masked := func(s *string) *string {
		if s == nil {
			return nil
		}
		m := b.mask.String(*s)
		return &m
	}
	p.Subject, p.Description = masked(p.Subject), masked(p.Description)
	if p.Metadata != nil {
		p.Metadata, _ = redact.JSON(p.Metadata, b.mask.String)
	}
	return b.Dir.Edit(ctx, id, p)
}
