package inbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy"
)

const (
	keptLine     = 64 << 10 // bytes of a bad line that are copied
	rejectedTail = 4 << 20  // bytes of NAME.rejected.jsonl that are read to find out what it has
)

// rejects remembers which bad lines were copied, so that a mailbox that is read twice copies them once.
type rejects struct {
	mu   sync.Mutex
	kept map[string]bool // by Rejection.ID; nil = the file was not looked at yet
}

// rejectedLine is one line of NAME.rejected.jsonl.
type rejectedLine struct {
	ID     string `json:"id"`
	Offset int64  `json:"offset"`
	Reason string `json:"reason"`
	Line   string `json:"line"`
	At     string `json:"at"`
}

func rejection(raw rawLine, why error) Rejection {
	return Rejection{
		ID: lineID(raw.text, raw.start), Offset: raw.start, Reason: why.Error(),
		Line: clip(string(bytes.ToValidUTF8(raw.text, []byte("\uFFFD"))), keptLine),
	}
}

// keepRejected appends to NAME.rejected.jsonl the lines that it does not have. The lines stay in the mailbox too, so
// a failure loses nothing but the copy.
func (d *Dir) keepRejected(name autonomy.AgentName, found []Rejection) (err error) {
	if len(found) == 0 {
		return nil
	}
	r := &d.box(name).rejects
	r.mu.Lock()
	defer r.mu.Unlock()
	f, info, err := d.open(d.rejectedPath(name), os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if r.kept == nil {
		tail := min(info.Size(), rejectedTail)
		kept, err := keptIDs(io.NewSectionReader(f, info.Size()-tail, tail))
		if err != nil {
			return err
		}
		r.kept = kept
	}
	text, added, err := r.missing(found, d.cfg.Now())
	if err != nil || len(added) == 0 {
		return err
	}
	gap, err := lineBreak(f, info.Size())
	if err != nil {
		return err
	}
	if _, err := f.Write(append([]byte(gap), text...)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	for _, id := range added {
		r.kept[id] = true
	}
	return nil
}

// missing returns the lines to append for what was not kept before, and their ids.
func (r *rejects) missing(found []Rejection, now time.Time) (text []byte, added []string, err error) {
	var lines bytes.Buffer
	e := json.NewEncoder(&lines)
	e.SetEscapeHTML(false)
	at := now.UTC().Format(time.RFC3339)
	for _, bad := range found {
		if r.kept[bad.ID] {
			continue
		}
		line := rejectedLine{ID: bad.ID, Offset: bad.Offset, Reason: bad.Reason, Line: bad.Line, At: at}
		if err := e.Encode(line); err != nil {
			return nil, nil, err
		}
		added = append(added, bad.ID)
	}
	return lines.Bytes(), added, nil
}

// lineBreak is what must precede a line appended to a file: nothing, or a newline after a line that has none, a
// person's or one that was cut short.
func lineBreak(f io.ReaderAt, size int64) (string, error) {
	var last [1]byte
	if size == 0 {
		return "", nil
	}
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return "", err
	}
	if last[0] == '\n' {
		return "", nil
	}
	return "\n", nil
}

func keptIDs(r io.Reader) (map[string]bool, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for line := range bytes.Lines(text) {
		var bad rejectedLine
		if json.Unmarshal(line, &bad) == nil { // the first may be cut
			kept[bad.ID] = true
		}
	}
	return kept, nil
}
