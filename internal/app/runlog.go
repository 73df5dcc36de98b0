package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/internal/eventlog"
	"github.com/autonomy-team/autonomy/internal/redact"
	"github.com/autonomy-team/autonomy/internal/ulid"
)

// runLog records one run in .autonomy/runs/RUN.jsonl. It is an agent.Recorder.
type runLog struct {
	id     autonomy.RunID
	log    *eventlog.Log
	listen func(agent.Event) // called after the event is in the file, on the run's goroutine
}

// beginRun creates the log of a new run. listen may be nil.
func (a *App) beginRun(listen func(agent.Event)) (*runLog, error) {
	if err := os.MkdirAll(a.ws.Runs(), 0o700); err != nil {
		return nil, fmt.Errorf("begin a run log: %w", err)
	}
	id := autonomy.RunID(ulid.New())
	log, err := eventlog.Create(eventlog.Config{Path: a.ws.Run(string(id)), Now: a.opts.Now, Mask: a.mask})
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		// Without the run's own name, so that the same trouble reads the same.
		return nil, fmt.Errorf("begin a run log in %s: %s: %w", a.ws.Runs(), file.Op, file.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("begin a run log: %w", err)
	}
	return &runLog{id: id, log: log, listen: listen}, nil
}

// mask keeps secrets out of a record. All else of it stays byte for byte, so that a replay finds the same arguments
// wherever they stand.
func (a *App) mask(record []byte) []byte {
	masked, _ := redact.JSON(record, a.redact.String)
	return masked
}

// Mask keeps secrets out of a record of another log.
func (a *App) Mask(record []byte) []byte { return a.mask(record) }

// Record appends one event. It refuses when the log does not lie at its place any more: a run that nobody can read about
// must not go on. A decision that a person was asked for and the end of the run are synced: they are promises
// that outlive a power cut.
func (r *runLog) Record(e agent.Event) error {
	if !r.log.InPlace() {
		return fmt.Errorf("the log of run %s was removed or replaced", r.id)
	}
	if _, err := r.log.Append(e); err != nil {
		return err
	}
	if owed(e.Data) {
		if err := r.log.Sync(); err != nil {
			return err
		}
	}
	if r.listen != nil {
		r.listen(e)
	}
	return nil
}

func owed(d agent.Data) bool {
	switch d := d.(type) {
	case agent.ApprovalDecision:
		return d.Asked
	case agent.RunFinished:
		return true
	}
	return false
}

// close ends the log; what was recorded stays.
func (r *runLog) close() error {
	if err := r.log.Close(); err != nil && !errors.Is(err, eventlog.ErrClosed) {
		return fmt.Errorf("close the log of run %s: %w", r.id, err)
	}
	return nil
}
