package inbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/autonomy-team/autonomy"
)

// rawLine is one line of a mailbox before it is understood.
type rawLine struct {
	number   int64 // from 1
	start    int64 // logical offset of the first byte
	end      int64 // logical offset behind the newline, or behind the last byte when there is none
	text     []byte
	whole    bool // ended by a newline
	tooLong  bool // text is only its beginning
	original int64
}

// lines splits a reader into lines in bounded memory, whatever the length of a line.
type lines struct {
	r      *bufio.Reader
	number int64
	offset int64
	buf    []byte
}

// newLines reads lines from r, which stands at the logical offset and behind number newlines. Size is what remains to
// be read, or a guess; it only sizes the buffer.
func newLines(r io.Reader, offset, number, size int64) *lines {
	return &lines{r: bufio.NewReaderSize(r, int(min(max(size, 512), 64<<10))), number: number, offset: offset}
}

// next returns the next line, valid until the call after it, or io.EOF when nothing is left.
func (l *lines) next() (rawLine, error) {
	l.buf = l.buf[:0]
	raw := rawLine{number: l.number + 1, start: l.offset}
	for {
		part, err := l.r.ReadSlice('\n')
		raw.original += int64(len(part))
		if room := MaxLine - len(l.buf); room > 0 {
			l.buf = append(l.buf, part[:min(len(part), room)]...)
		}
		switch {
		case err == nil:
			raw.whole = true
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case !errors.Is(err, io.EOF):
			return rawLine{}, err
		case raw.original == 0:
			return rawLine{}, io.EOF
		}
		break
	}
	raw.end = raw.start + raw.original
	raw.tooLong = raw.original > MaxLine
	raw.text = trimLine(l.buf, raw.start == 0)
	l.offset, l.number = raw.end, raw.number
	return raw, nil
}

// trimLine drops the line end, and at the start of a file the byte order mark that some editors write.
func trimLine(text []byte, first bool) []byte {
	if first {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	return bytes.TrimSuffix(text, []byte("\r"))
}

// State is what becomes of a line.
type State string

// The states of a line.
const (
	Delivered State = "delivered" // a message
	Rejected  State = "rejected"  // not a message; it is stepped over
	Waiting   State = "waiting"   // the last line, and its newline is not there yet
	Ignored   State = "ignored"   // blank, or its id was there before
)

// reader understands lines one after the other.
type reader struct {
	seen map[autonomy.MessageID]int64 // line of each id; 0 = before the first line read
}

func (r *reader) classify(raw rawLine) (State, Message, error) {
	if !raw.whole {
		return Waiting, Message{}, errors.New("waits for its newline")
	}
	if len(bytes.TrimSpace(raw.text)) == 0 && !raw.tooLong {
		return Ignored, Message{}, nil
	}
	if raw.tooLong {
		return Rejected, Message{}, &LineError{
			Column: 1,
			Reason: fmt.Sprintf("longer than a line may be: %d bytes, at most %d", raw.original, MaxLine),
		}
	}
	m, err := ParseLine(raw.text, raw.start)
	if err != nil {
		return Rejected, Message{}, err
	}
	if line, ok := r.seen[m.ID]; ok {
		if line == 0 {
			return Ignored, m, errors.New("this id was delivered before")
		}
		return Ignored, m, fmt.Errorf("this id is on line %d already", line)
	}
	r.seen[m.ID] = raw.number
	return Delivered, m, nil
}
