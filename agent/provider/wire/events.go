package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Caps on what a server may send; beyond them the answer is refused.
const (
	maxLine = 16 << 20
	maxTurn = 64 << 20
)

var errTooLarge = errors.New("the answer is too large")

// event is one message of a stream. Name is the SSE event name; Data is never empty.
type event struct {
	name string
	data []byte
	// bare says that the data stood in a line without "data:", which is no SSE at all.
	bare bool
}

// done reports whether the event is the end mark.
func (e event) done() bool { return string(e.data) == "[DONE]" }

// events reads server-sent events as they really come: LF, CRLF or CR; a BOM; no blank lines; no last newline. The
// format is that of https://html.spec.whatwg.org/multipage/server-sent-events.html, read leniently.
type events struct {
	r      *bufio.Reader
	total  int
	skipLF bool
	ended  bool

	name    string
	pending []byte
	queue   []event
}

// newEvents reads from r, whose buffer size does not limit a line.
func newEvents(r *bufio.Reader) *events { return &events{r: r} }

// next returns the next event; io.EOF after the last one, whether or not it was the end mark.
func (s *events) next() (event, error) {
	for {
		if len(s.queue) > 0 {
			e := s.queue[0]
			s.queue = s.queue[1:]
			return e, nil
		}
		if s.ended {
			return event{}, io.EOF
		}
		line, err := s.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return event{}, err
		}
		if len(line) > 0 || err == nil {
			s.take(line)
		}
		if err != nil {
			s.dispatch()
			s.ended = true
		}
		if len(s.pending) > maxLine {
			return event{}, errTooLarge
		}
	}
}

// take files one line away.
func (s *events) take(line []byte) {
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) == 0 {
		s.dispatch()
		s.name = ""
		return
	}
	field, value, ok := bytes.Cut(line, []byte(":"))
	switch {
	case trimmed[0] == '{' || trimmed[0] == '[' || trimmed[0] == '<':
		s.dispatch()
		s.queue = append(s.queue, event{data: trimmed, bare: true})
	case !ok:
		s.queue = append(s.queue, event{data: trimmed, bare: true})
	case string(field) == "data":
		s.data(bytes.TrimSpace(value))
	case string(field) == "event":
		s.name = string(bytes.TrimSpace(value))
	case len(field) == 0 || string(field) == "id" || string(field) == "retry":
		// a comment, or what only a browser needs
	default:
		s.queue = append(s.queue, event{data: trimmed, bare: true})
	}
}

// data adds a data line. A line that is a whole chunk or the end mark is an event by itself, because servers forget the
// blank line between events; other lines are joined until one comes.
func (s *events) data(value []byte) {
	switch {
	case len(value) == 0 || value[0] == ':':
		// a heartbeat, plain or wrapped in data
	case string(value) == "[DONE]" || len(s.pending) == 0 && value[0] == '{' && json.Valid(value) || wholeChunk(value):
		s.dispatch()
		s.queue = append(s.queue, event{name: s.name, data: value})
		s.name = ""
	case len(s.pending) == 0:
		s.pending = append(s.pending, value...)
	default:
		s.pending = append(append(s.pending, '\n'), value...)
	}
}

// wholeChunk reports whether a data line is an answer chunk by itself although lines before it wait for more.
func wholeChunk(value []byte) bool {
	m := object(value)
	for _, key := range []string{"choices", "error", "usage"} {
		if _, ok := m[key]; ok {
			return true
		}
	}
	return false
}

// dispatch ends the event whose data lines were gathered.
func (s *events) dispatch() {
	if len(s.pending) > 0 {
		s.queue = append(s.queue, event{name: s.name, data: s.pending})
		s.pending, s.name = nil, ""
	}
}

// line reads up to LF, CRLF or CR without waiting for what follows a CR.
func (s *events) line() ([]byte, error) {
	var line []byte
	for {
		if _, err := s.r.Peek(1); err != nil {
			return line, err
		}
		buf, _ := s.r.Peek(s.r.Buffered()) // cannot fail
		if s.skipLF {
			s.skipLF = false
			if buf[0] == '\n' {
				_, _ = s.r.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(buf, "\r\n")
		n := end + 1
		if end < 0 {
			n, end = len(buf), len(buf)
		}
		if s.total += n; s.total > maxTurn || len(line)+end > maxLine {
			return nil, errTooLarge
		}
		line = append(line, buf[:end]...)
		s.skipLF = end < len(buf) && buf[end] == '\r'
		whole := end < len(buf)
		_, _ = s.r.Discard(n)
		if whole {
			return line, nil
		}
	}
}
