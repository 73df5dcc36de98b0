package redact

import (
	"bytes"
	"io"
	"strings"
)

// The writer holds back what may be the beginning of a secret: a line that has not ended, up to maxHeld bytes, and beyond
// that the last overlap bytes.
const (
	maxHeld = 64 << 10
	overlap = 4 << 10
)

// Writer masks a stream, also across the borders of writes. It belongs to one goroutine at a time.
type Writer struct {
	r    *Redactor
	to   io.WriteCloser
	held []byte
}

// Writer masks what is written and passes it on to w. Close passes on what was held back and closes w.
func (r *Redactor) Writer(w io.WriteCloser) *Writer { return &Writer{r: r, to: w} }

// Write takes all of p. An error is that of the writer below; what was passed on until then is gone.
func (w *Writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	cut := bytes.LastIndexByte(w.held, '\n') + 1
	if begin := bytes.LastIndex(w.held, []byte("-----BEGIN ")); begin >= 0 && begin < cut &&
		!bytes.Contains(w.held[begin:cut], []byte("-----END ")) {
		cut = begin
	}
	if len(w.held)-cut > maxHeld {
		cut = w.safeCut()
	}
	if err := w.pass(cut); err != nil {
		return 0, err
	}
	return len(p), nil
}

// safeCut is a place in a long line that no secret spans: masking the two parts gives what masking the whole gives.
func (w *Writer) safeCut() int {
	whole := w.r.String(string(w.held))
	for cut := len(w.held) - overlap; cut > overlap; cut -= overlap / 4 {
		if strings.HasPrefix(whole, w.r.String(string(w.held[:cut]))) &&
			whole == w.r.String(string(w.held[:cut]))+w.r.String(string(w.held[cut:])) {
			return cut
		}
	}
	return len(w.held)
}

func (w *Writer) pass(n int) error {
	if n == 0 {
		return nil
	}
	_, err := w.to.Write(w.r.Bytes(w.held[:n]))
	w.held = append(w.held[:0], w.held[n:]...)
	return err
}

// Close passes on the rest and closes the writer below.
func (w *Writer) Close() error {
	err := w.pass(len(w.held))
	if closeErr := w.to.Close(); err == nil {
		err = closeErr
	}
	return err
}
