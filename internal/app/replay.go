package app

import (
	"context"
	"errors"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/internal/eventlog"
)

// Replayed says whether a run, decided anew from its log, went the same way.
type Replayed struct {
	Run         autonomy.RunID    `json:"run_id"`
	Same        bool              `json:"same"`
	Recorded    agent.Termination `json:"recorded,omitempty"`
	Termination agent.Termination `json:"termination"`
	Code        agent.Code        `json:"code,omitempty"`
	Divergence  string            `json:"divergence,omitempty"`
	Events      int               `json:"events"`
}

// Replay decides a run anew from its log and executes nothing. The error is ErrNoRun, or says where the log was
// altered.
func (a *App) Replay(ctx context.Context, id autonomy.RunID) (Replayed, error) {
	events := func(yield func(agent.Event, error) bool) {
		for e, err := range a.Run(id) {
			if errors.Is(err, eventlog.ErrTorn) {
				return // a run that never ended: what is whole can be decided anew
			}
			if !yield(e.Event, err) || err != nil {
				return
			}
		}
	}
	r, err := agent.Replay(ctx, events)
	if err != nil {
		return Replayed{}, err
	}
	return Replayed{
		Run: id, Same: r.Same, Recorded: r.Recorded, Termination: r.Termination, Code: r.Code, Divergence: r.Divergence,
		Events: r.Events,
	}, nil
}
