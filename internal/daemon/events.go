package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/eventlog"
	"github.com/autonomy-team/autonomy/team"
)

const (
	eventFileSize = 16 << 20 // of one file of the team log
	recentEvents  = 1024     // kept in memory for followers; older ones are read from the file
)

// teamLog is .team/events.jsonl and those who follow it. A follower never sees what is not in the file.
type teamLog struct {
	path   string
	report func(what string, err error)
	now    func() time.Time

	mu      sync.Mutex
	log     *eventlog.Log
	recent  []control.Event // the last ones, ascending
	seq     int64           // of the last record
	changed chan struct{}   // closed and replaced at every append
}

// openTeamLog continues the team log. A damaged one is put aside with its name kept in the report: the task files are
// the truth, so nothing hangs on it, and a team without a log would be worse.
func openTeamLog(path string, now func() time.Time, mask func([]byte) []byte, report func(what string, err error)) (*teamLog, error) {
	cfg := eventlog.Config{Path: path, MaxBytes: eventFileSize, Now: now, Mask: mask}
	log, found, err := eventlog.Open(cfg)
	if err != nil {
		return nil, fmt.Errorf("open the team log: %w", err)
	}
	if found.Damage != nil {
		aside := path + ".damaged-" + now().UTC().Format("20060102T150405")
		report("the team log was damaged and is kept as "+aside, found.Damage)
		if err := errors.Join(log.Close(), os.Rename(path, aside)); err != nil {
			return nil, fmt.Errorf("put the damaged team log aside: %w", err)
		}
		if log, _, err = eventlog.Open(cfg); err != nil {
			return nil, fmt.Errorf("open the team log: %w", err)
		}
	}
	if found.Cut > 0 {
		report("the team log's last record was torn and is cut", fmt.Errorf("%d bytes", found.Cut))
	}
	return &teamLog{path: path, log: log, report: report, now: now, seq: log.Seq(), changed: make(chan struct{})}, nil
}

// Emit writes one event. It is called on the members' goroutines. What can't be written is reported and dropped.
func (l *teamLog) Emit(e team.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keepPlace()
	l.append(e)
}

// append writes one event and shows it to followers. The caller holds the lock.
func (l *teamLog) append(e team.Event) {
	if e.Time.IsZero() {
		e.Time = l.now()
	}
	seq, err := l.log.Append(e)
	if err != nil {
		l.report("an event could not be written", err)
		return
	}
	l.seq = seq
	if len(l.recent) >= recentEvents {
		l.recent = append(l.recent[:0], l.recent[recentEvents/2:]...)
	}
	l.recent = append(l.recent, wireEvent(seq, e))
	close(l.changed)
	l.changed = make(chan struct{})
}

// Keep looks whether the log lies where others read it, and begins a new file when somebody removed or replaced it.
func (l *teamLog) Keep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keepPlace()
}

// keepPlace is Keep for who holds the lock. The numbers go on, so that followers miss nothing. What lies at the log's
// place now, and full files of before, are put aside: with the new file they are no log without a gap.
func (l *teamLog) keepPlace() {
	if l.log.InPlace() {
		return
	}
	mark := "." + l.now().UTC().Format("20060102T150405")
	full, err := filepath.Glob(l.path + ".????????????") // as they are named by eventlog
	if err == nil {
		full = append(full, l.path)
	}
	for _, name := range full {
		if e := os.Rename(name, name+mark); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	var next *eventlog.Log
	if err == nil {
		next, _, err = eventlog.Open(eventlog.Config{Path: l.path, MaxBytes: eventFileSize, Now: l.now, After: l.seq})
	}
	if err != nil {
		l.report("the team log was removed and no new one can be begun", err)
		return
	}
	said := fmt.Sprintf("the team log was removed or replaced; the new one begins with record %d", l.seq+1)
	l.report(said, errDisplaced)
	_ = l.log.Close() // nobody can read it
	l.log = next
	l.append(team.Event{Kind: team.EventError, Reason: said})
}

var errDisplaced = errors.New("not the file that this daemon writes")

// Close makes the log durable and ends it.
func (l *teamLog) Close() error { return errors.Join(l.log.Sync(), l.log.Close()) }

// follow yields the records after seq and then those that come, until ctx ends or yield fails. A negative seq means
// from now on.
func (l *teamLog) follow(ctx context.Context, after int64, yield func(control.Event) error) error {
	if after < 0 {
		l.mu.Lock()
		after = l.seq
		l.mu.Unlock()
	}
	for {
		events, changed, complete := l.since(after)
		if !complete {
			var err error
			if after, err = l.replay(after, yield); err != nil {
				return err
			}
			continue
		}
		for _, e := range events {
			if err := yield(e); err != nil {
				return err
			}
			after = e.Seq
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// since returns what memory has after seq, and whether that is all there is.
func (l *teamLog) since(after int64) (events []control.Event, changed <-chan struct{}, complete bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.seq - int64(len(l.recent)) + 1
	switch {
	case after >= l.seq:
		return nil, l.changed, true
	case after+1 < first:
		return nil, nil, false
	}
	return append(events, l.recent[after+1-first:]...), l.changed, true
}

// replay yields what the files have after seq and returns the last number seen, at least that of the log when it began.
func (l *teamLog) replay(after int64, yield func(control.Event) error) (int64, error) {
	l.mu.Lock()
	end := l.seq
	l.mu.Unlock()
	for record, err := range eventlog.Read(l.path) {
		if torn := (*eventlog.TornError)(nil); errors.As(err, &torn) {
			break // the writer is this process, in the middle of the next line
		}
		if err != nil {
			return after, fmt.Errorf("read the team log: %w", err)
		}
		if record.Seq <= after {
			continue
		}
		e, err := app.DecodeTeamEvent(record)
		if err != nil {
			return after, err
		}
		if err := yield(e); err != nil {
			return after, err
		}
		after = record.Seq
	}
	return max(after, end), nil
}

func wireEvent(seq int64, e team.Event) control.Event {
	out := control.Event{
		Seq: seq, Time: e.Time, Type: string(e.Kind), Actor: string(e.Actor), Task: int64(e.Task), Claim: string(e.Claim),
		Run: string(e.Run), From: string(e.From), To: string(e.To), Code: e.Code, Reason: e.Reason,
	}
	for _, id := range e.Messages {
		out.Messages = append(out.Messages, string(id))
	}
	return out
}
