package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/eventlog"
)

// DecodeTeamEvent reads one record of the team log.
func DecodeTeamEvent(r eventlog.Record) (control.Event, error) {
	var e control.Event
	if err := json.Unmarshal(r.Data, &e); err != nil {
		return e, fmt.Errorf("understand record %d of the team log: %w", r.Seq, err)
	}
	e.Seq, e.Time = r.Seq, r.Time
	return e, nil
}

// TeamEvents yields the records of the team log, oldest first; with follow it then waits for more until ctx ends. No
// daemon is needed. A log that does not exist is empty.
func (a *App) TeamEvents(ctx context.Context, follow bool, yield func(control.Event) error) error {
	source := eventlog.Read(a.ws.Events())
	if follow {
		source = eventlog.Follow(ctx, a.ws.Events(), 0)
	}
	for r, err := range source {
		switch {
		case errors.Is(err, eventlog.ErrTorn), errors.Is(err, fs.ErrNotExist):
			return nil // a daemon is in the middle of the next record, or none has run yet
		case err != nil:
			return fmt.Errorf("read the team log: %w", err)
		}
		e, err := DecodeTeamEvent(r)
		if err != nil {
			return err
		}
		if err := yield(e); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// CountTasks fills in the numbers of tasks by status and the files of the board that can't be used.
func CountTasks(st *control.Status, entries []board.Entry) {
	if st.Tasks == nil {
		st.Tasks = map[string]int{}
	}
	for _, e := range entries {
		if e.Err != nil {
			st.Tasks["invalid"]++
			st.Problems = append(st.Problems, control.Problem{File: e.Path, Line: e.Err.Line, Reason: e.Err.Reason})
			continue
		}
		if e.Stale {
			st.Problems = append(st.Problems, control.Problem{File: e.Path, Reason: "can't be read; shown as it was"})
		}
		st.Tasks[string(e.Task.Status)]++
		switch {
		case e.Readiness.Ready:
			st.Tasks["ready"]++
		case e.Readiness.Kind == board.KindHeld:
			st.Tasks["held"]++
		}
	}
}
