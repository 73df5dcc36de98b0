package sandbox

import (
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// maxSpill bounds the file that takes the whole output, so that a command that floods cannot fill the disk.
const maxSpill = 64 << 20

// Output keeps the head and the tail of what is written to it and sends the whole to a file once there is more. It is an
// io.Writer for Run and Start and may be read while the command still writes.
type Output struct {
	mu    sync.Mutex
	limit int
	spill func() (io.WriteCloser, error)

	head  []byte // the first limit/2 bytes
	tail  []byte // the last limit/2 bytes of the rest, at most twice that before it is trimmed
	total int64
	file  io.WriteCloser
	err   error // why the file is incomplete
}

// NewOutput keeps at most limit bytes. The first byte past the limit calls spill, which opens the file for the whole
// output; nil keeps no file. The Output closes the file in Close.
func NewOutput(limit int, spill func() (io.WriteCloser, error)) *Output {
	return &Output{limit: limit, spill: spill}
}

// Write takes all of p and never fails: a command must not see that its output is not kept.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	if o.total <= int64(o.limit) && o.total+int64(n) > int64(o.limit) {
		o.openFile()
	}
	o.writeFile(p)
	o.total += int64(n)
	if room := o.limit/2 - len(o.head); room > 0 {
		k := min(room, len(p))
		o.head = append(o.head, p[:k]...)
		p = p[k:]
	}
	keep := o.limit - o.limit/2
	if len(p) > keep {
		p = p[len(p)-keep:]
	}
	o.tail = append(o.tail, p...)
	if len(o.tail) > 2*keep {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-keep:]...)
	}
	return n, nil
}

// openFile starts the file with what was kept until now, which is everything.
func (o *Output) openFile() {
	if o.spill == nil {
		return
	}
	file, err := o.spill()
	if err != nil {
		o.err = fmt.Errorf("open output file: %w", err)
		return
	}
	o.file = file
	o.put(o.head)
	o.put(o.tail)
}

func (o *Output) writeFile(p []byte) {
	if o.file == nil || o.total >= maxSpill {
		return
	}
	if o.total+int64(len(p)) > maxSpill {
		p = p[:maxSpill-o.total]
		o.err = fmt.Errorf("output file ends after %d bytes", int64(maxSpill))
	}
	o.put(p)
}

func (o *Output) put(p []byte) {
	if o.file == nil {
		return
	}
	if _, err := o.file.Write(p); err != nil {
		o.err = fmt.Errorf("write output file: %w", err)
	}
}

// Total is the number of bytes written so far.
func (o *Output) Total() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// String is the output, or its head and tail with a line between that says how many bytes are left out. Bytes that are
// not UTF-8 are replaced.
func (o *Output) String() (text string, truncated bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.total <= int64(o.limit) {
		return clean(append(append([]byte{}, o.head...), o.tail...)), false
	}
	tail := o.tail
	if keep := o.limit - o.limit/2; len(tail) > keep {
		tail = tail[len(tail)-keep:]
	}
	left := o.total - int64(len(o.head)) - int64(len(tail))
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", clean(wholeEnd(o.head)), left, clean(wholeStart(tail))), true
}

// Close closes the file, if one was opened, and reports why it is incomplete. The kept text stays readable.
func (o *Output) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return o.err
	}
	err := o.file.Close()
	o.file = nil
	if o.err != nil {
		return o.err
	}
	return err
}

// wholeEnd drops a character that the cut went through at the end, wholeStart one at the start.
func wholeEnd(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

func wholeStart(b []byte) []byte {
	n := min(utf8.UTFMax-1, len(b))
	for i := range n {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b[n:]
}
