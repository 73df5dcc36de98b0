package inbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/strictjson"
)

// MaxLine is the longest line of a mailbox in bytes, its newline included.
const MaxLine = 256 << 10

const maxID = 128 // characters of an id that someone else chose

// known are the types a line may carry.
var known = [...]Kind{
	KindMessage, KindBroadcast, KindResult, KindPlanRequest, KindPlanResponse, KindShutdownRequest,
	KindShutdownResponse, KindError,
}

// Valid reports whether k is one of the kinds above.
func (k Kind) Valid() bool {
	for _, valid := range known {
		if k == valid {
			return true
		}
	}
	return false
}

// LineError says why a line is not a message.
type LineError struct {
	Column int // from 1, in code points
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Reason) }

// ParseLine reads one line of a mailbox, without its newline. Offset is the logical offset of the line's first byte; it
// gives an id to a line that has none. Only content is required; fields that the format does not know are ignored.
// The error is a *LineError.
func ParseLine(line []byte, offset int64) (Message, error) {
	object, err := strictjson.Limits{Size: MaxLine}.ParseObject(line)
	if err != nil {
		return Message{}, lineError(err)
	}
	f := fields{object: object}
	m := Message{
		ID:        autonomy.MessageID(f.text("id")),
		Kind:      Kind(f.text("type")),
		From:      autonomy.AgentName(f.text("from")),
		To:        autonomy.AgentName(f.text("to")),
		Content:   f.required("content"),
		Timestamp: f.time("timestamp"),
		ReplyTo:   autonomy.MessageID(f.text("replyTo")),
		RequestID: f.text("requestId"),
		Approve:   f.bool("approve"),
		Plan:      f.text("plan"),
		Feedback:  f.text("feedback"),
	}
	if interrupt := f.bool("interrupt"); interrupt != nil {
		m.Interrupt = *interrupt
	}
	if m.Kind == "" {
		m.Kind = KindMessage
	}
	if m.From == "" {
		m.From = User
	}
	if m.ID == "" {
		m.ID = autonomy.MessageID(lineID(line, offset))
	}
	if !m.Kind.Valid() {
		f.fail("type", fmt.Errorf("%s is unknown", strconv.Quote(string(m.Kind))))
	}
	if reason := badID(string(m.ID)); reason != "" {
		f.fail("id", errors.New(reason))
	}
	if f.err != nil {
		return Message{}, lineError(f.err)
	}
	return m, nil
}

// lineID names a line that has no id of its own: the same line at the same place has the same id at every reading.
func lineID(line []byte, offset int64) string {
	h := sha256.New()
	h.Write(strconv.AppendInt(nil, offset, 10))
	h.Write([]byte{0})
	h.Write(line)
	return "line-" + hex.EncodeToString(h.Sum(nil)[:12])
}

// badID refuses what cannot be compared and shown: an id is compared byte by byte for ever.
func badID(id string) string {
	if len(id) > maxID {
		return fmt.Sprintf("is longer than %d characters", maxID)
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return "must be visible ASCII characters without spaces"
		}
	}
	return ""
}

func lineError(err error) error {
	var at *strictjson.Error
	if errors.As(err, &at) {
		return &LineError{Column: at.Column, Reason: at.Msg}
	}
	return &LineError{Column: 1, Reason: err.Error()}
}

// fields decodes the members of one line and keeps the first complaint. Null is as good as absent.
type fields struct {
	object *strictjson.Object
	err    error
}

func (f *fields) get(key string) (strictjson.Member, bool) {
	m, ok := f.object.Get(key)
	if !ok || strictjson.Kind(m) == "null" {
		return strictjson.Member{}, false
	}
	return m, true
}

func (f *fields) fail(key string, err error) {
	if f.err != nil {
		return
	}
	m, ok := f.object.Get(key)
	if !ok {
		f.err = f.object.Errorf(f.object.Start(), "%s %s", key, err)
		return
	}
	f.err = f.object.At(m, err)
}

func (f *fields) text(key string) string {
	m, ok := f.get(key)
	if !ok {
		return ""
	}
	s, err := strictjson.String(m)
	if err != nil {
		f.fail(key, err)
	}
	return s
}

func (f *fields) required(key string) string {
	if _, ok := f.get(key); !ok {
		f.fail(key, errors.New("is required"))
	}
	return f.text(key)
}

func (f *fields) bool(key string) *bool {
	m, ok := f.get(key)
	if !ok {
		return nil
	}
	b, err := strictjson.Bool(m)
	if err != nil {
		f.fail(key, err)
		return nil
	}
	return &b
}

// time reads RFC 3339 text, or seconds since 1970 as an integer or decimal number.
func (f *fields) time(key string) time.Time {
	m, ok := f.get(key)
	if !ok {
		return time.Time{}
	}
	var at time.Time
	err := errors.New("must be RFC 3339 text or seconds since 1970")
	switch strictjson.Kind(m) {
	case "string":
		s, _ := strictjson.String(m)
		if t, perr := time.Parse(time.RFC3339Nano, s); perr == nil {
			at, err = t, nil
		}
	case "number":
		if t, ok := epoch(string(m.Raw)); ok {
			at, err = t, nil
		}
	}
	if err != nil {
		f.fail(key, err)
	}
	return at
}

// epoch reads decimal seconds digit by digit: a float would round the fraction. The range is that of RFC 3339.
func epoch(literal string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(literal, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	if len(fraction) > 9 {
		fraction = fraction[:9]
	}
	var nanos int64
	if fraction != "" {
		nanos, err = strconv.ParseInt(fraction+strings.Repeat("0", 9-len(fraction)), 10, 64)
		if err != nil {
			return time.Time{}, false
		}
	}
	if strings.HasPrefix(literal, "-") {
		nanos = -nanos
	}
	at := time.Unix(seconds, nanos).UTC()
	return at, at.Year() >= 1 && at.Year() <= 9999
}

// clip cuts s to at most n bytes at a character's border.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
