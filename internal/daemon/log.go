package daemon

import (
	"io"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/autonomy-team/autonomy/internal/redact"
)

// Logger writes the daemon's log, folding errors that repeat.
type logger struct {
	zerolog.Logger
	now func() time.Time
	out *masked

	mu   sync.Mutex
	last map[string]*repeat
}

// repeat is an error that was logged and came again.
type repeat struct {
	first   time.Time
	skipped int
}

// foldWindow is how long an error that repeats is only counted. At most foldMemory different ones are remembered.
const (
	foldWindow = time.Minute
	foldMemory = 256
)

// newLogger writes lines with RFC 3339 times to the nanosecond to out. The level and time format of the library are
// global to the process, so they are set here, before anything else starts.
func newLogger(out io.Writer, now func() time.Time) *logger {
	zerolog.TimeFieldFormat = time.RFC3339Nano
	zerolog.ErrorHandler = func(error) {} // nowhere left to say that the log can't be written
	shapes := redact.New()
	hidden := &masked{out: out, mask: func(record []byte) []byte {
		safe, _ := redact.JSON(record, shapes.String)
		return safe
	}}
	log := zerolog.New(hidden).With().Timestamp().Logger()
	return &logger{Logger: log, now: now, out: hidden, last: map[string]*repeat{}}
}

// hide sets what masks secrets in a line. Until then what looks like one is masked.
func (l *logger) hide(mask func(record []byte) []byte) {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	l.out.mask = mask
}

// masked writes lines, each a JSON object, without secrets.
type masked struct {
	out io.Writer

	mu   sync.Mutex
	mask func(record []byte) []byte
}

// Write takes one line, as the log library writes them.
func (m *masked) Write(line []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.out.Write(m.mask(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// fault logs an error of a part. The same error of the same part within a minute is counted, and the count is written
// with its next appearance.
func (l *logger) fault(part, what string, err error) {
	skipped, write := l.fold(part + "\x00" + what + "\x00" + err.Error())
	if !write {
		return
	}
	entry := l.Error().Str("part", part).Err(err)
	if skipped > 0 {
		entry = entry.Int("repeated", skipped)
	}
	entry.Msg(what)
}

func (l *logger) fold(key string) (skipped int, write bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	r, known := l.last[key]
	switch {
	case !known:
		if len(l.last) >= foldMemory {
			clear(l.last)
		}
		l.last[key] = &repeat{first: now}
		return 0, true
	case now.Sub(r.first) < foldWindow:
		r.skipped++
		return 0, false
	}
	skipped = r.skipped
	*r = repeat{first: now}
	return skipped, true
}
