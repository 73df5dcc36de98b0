package eventlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Record is one line of a log.
type Record struct {
	Seq  int64 // 1 for the first of the log, then one more each, also across rotated files
	Time time.Time
	Data json.RawMessage // the record's object without seq, ts and sum
}

// ErrDamaged is what every *DamagedError is.
var ErrDamaged = errors.New("log damaged")

// DamagedError says where a log was altered. Records before it are sound; nothing after it is shown.
type DamagedError struct {
	Path   string
	Line   int64 // 1-based, in that file
	Offset int64 // of the line's first byte
	Reason string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s: damaged at line %d (offset %d): %s", e.Path, e.Line, e.Offset, e.Reason)
}

// Is makes errors.Is(err, ErrDamaged) hold.
func (e *DamagedError) Is(target error) bool { return target == ErrDamaged }

// ErrTorn is what every *TornError is.
var ErrTorn = errors.New("last record torn")

// TornError says that a log ends in the middle of a record, as a crash or a writer at work leaves it. All whole records
// were yielded.
type TornError struct {
	Path   string
	Offset int64 // where the unfinished line begins
	Bytes  int64 // its length
}

func (e *TornError) Error() string {
	return fmt.Sprintf("%s: last record torn: %d bytes at offset %d", e.Path, e.Bytes, e.Offset)
}

// Is makes errors.Is(err, ErrTorn) hold.
func (e *TornError) Is(target error) bool { return target == ErrTorn }

// ErrClosed is returned by a log after Close.
var ErrClosed = errors.New("log closed")

// Recovery says what Open found.
type Recovery struct {
	Records int64         // sound records in the file
	Cut     int64         // bytes of a torn last record that were removed; 0 = none
	Damage  *DamagedError // not nil: the log is readable only, Append returns this error
}
