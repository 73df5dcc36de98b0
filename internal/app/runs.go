package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/internal/eventlog"
	"github.com/autonomy-team/autonomy/internal/ulid"
)

// RunEvent is one record of a run with its place in the log.
type RunEvent struct {
	eventlog.Record
	Event agent.Event
}

// JSON is the event as the log has it, with its number and time and without the checksum.
func (e RunEvent) JSON() []byte {
	head := fmt.Sprintf(`{"seq":%d,"ts":%q,`, e.Seq, e.Time.UTC().Format(time.RFC3339Nano))
	return append([]byte(head), e.Data[1:]...)
}

// Runs lists the runs, the newest first, at most limit of them (0 = all). A log that is damaged or belongs to a run that
// never ended is listed with what can be said of it.
func (a *App) Runs(ctx context.Context, limit int) ([]RunInfo, error) {
	return a.runs(ctx, limit, func(RunInfo) bool { return true })
}

// RunsOf is Runs of one task.
func (a *App) RunsOf(ctx context.Context, task autonomy.TaskID, limit int) ([]RunInfo, error) {
	return a.runs(ctx, limit, func(r RunInfo) bool { return r.Task == task })
}

func (a *App) runs(ctx context.Context, limit int, wanted func(RunInfo) bool) ([]RunInfo, error) {
	ids, err := a.runIDs()
	if err != nil {
		return nil, err
	}
	infos := []RunInfo{}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return infos, err
		}
		if limit > 0 && len(infos) == limit {
			break
		}
		info, err := a.RunInfo(id)
		switch {
		case errors.Is(err, ErrNoRun): // removed since the folder was read
		case err != nil:
			return infos, err
		case wanted(info):
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// runIDs are the ids of all run logs, newest first: they are ULIDs, so their order is that of time.
func (a *App) runIDs() ([]autonomy.RunID, error) {
	entries, err := os.ReadDir(a.ws.Runs())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	var ids []autonomy.RunID
	for _, e := range slices.Backward(entries) {
		if id, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok && ulid.Valid(id) {
			ids = append(ids, autonomy.RunID(id))
		}
	}
	return ids, nil
}

// FindRun completes the beginning of a run id. The error is ErrNoRun, or says that several begin so.
func (a *App) FindRun(prefix string) (autonomy.RunID, error) {
	ids, err := a.runIDs()
	if err != nil {
		return "", err
	}
	var found []autonomy.RunID
	for _, id := range ids {
		if strings.HasPrefix(string(id), strings.ToUpper(prefix)) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("run %q: %w", prefix, ErrNoRun)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("run %q: %d runs begin so, among them %s and %s", prefix, len(found), found[0], found[1])
}

// Run yields the events of a run in order. It ends after an error: ErrNoRun, an *eventlog.DamagedError, or an
// *eventlog.TornError after all whole records of a run that is being written or whose process died.
func (a *App) Run(id autonomy.RunID) iter.Seq2[RunEvent, error] {
	return func(yield func(RunEvent, error) bool) {
		if !ulid.Valid(string(id)) {
			yield(RunEvent{}, fmt.Errorf("run %q: %w", id, ErrNoRun))
			return
		}
		for record, err := range eventlog.Read(a.ws.Run(string(id))) {
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("run %q: %w", id, ErrNoRun)
			}
			e := RunEvent{Record: record}
			if err == nil {
				if e.Event, err = agent.DecodeEvent(record.Data); err != nil {
					err = fmt.Errorf("run %s, record %d: %w", id, record.Seq, err)
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// RunInfo sums up one run. The error is ErrNoRun or the disk's; damage is in the result.
func (a *App) RunInfo(id autonomy.RunID) (RunInfo, error) {
	info := RunInfo{ID: id}
	for e, err := range a.Run(id) {
		var torn *eventlog.TornError
		var damaged *eventlog.DamagedError
		switch {
		case errors.As(err, &torn):
		case errors.As(err, &damaged):
			info.Damaged = damaged.Error()
		case err != nil:
			return info, err
		}
		if err == nil {
			info.take(e)
		}
	}
	return info, nil
}

func (i *RunInfo) take(e RunEvent) {
	switch d := e.Event.Data.(type) {
	case agent.RunStarted:
		i.Actor, i.Task, i.Started = e.Event.Actor, e.Event.Task, e.Time
		i.Goal, i.Interface = d.Subject, d.Interface
	case agent.RunFinished:
		i.Finished, i.Termination, i.Code, i.Turns = e.Time, string(d.Termination), string(d.Code), d.Turns
		i.Usage = d.Usage
	}
}
