package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// scan reads the records of one file in order. It is at a line's start between calls, so it can go on when the file
// has grown.
type scan struct {
	path   string
	src    io.ReaderAt
	mem    []byte
	buf    []byte // part of mem: bytes of the file from offset on
	offset int64  // of the next line
	line   int64  // lines read
	seq    int64  // of the last record; 0 = any number may follow, as at the start of a rotated file
	sum    uint32
}

// chunk is the least that one read asks for; a long line makes it grow with the line.
const chunk = 64 << 10

// next returns the next record, a *DamagedError, a *TornError where the file ends in the middle of a line, or io.EOF.
func (s *scan) next() (Record, error) {
	line, err := s.readLine()
	if err != nil {
		return Record{}, err
	}
	r, sum, reason := parse(line, s.sum)
	if reason == "" && s.seq != 0 && r.Seq != s.seq+1 {
		reason = fmt.Sprintf("record %d follows record %d", r.Seq, s.seq)
	}
	if reason != "" {
		if bytes.IndexByte(line, 0) >= 0 && s.last(len(line)+1) {
			// JSON holds no NUL byte: this is a page of the last write that a power cut left empty.
			s.buf = nil
			return Record{}, &TornError{Path: s.path, Offset: s.offset, Bytes: int64(len(line) + 1)}
		}
		return Record{}, s.damaged(reason)
	}
	s.buf = s.buf[len(line)+1:]
	s.offset += int64(len(line) + 1)
	s.line++
	s.seq, s.sum = r.Seq, sum
	return r, nil
}

func (s *scan) damaged(reason string) *DamagedError {
	return &DamagedError{Path: s.path, Line: s.line + 1, Offset: s.offset, Reason: reason}
}

// readLine returns the line at offset without its newline; it stays in buf until next takes it.
func (s *scan) readLine() ([]byte, error) {
	for searched := 0; ; {
		if i := bytes.IndexByte(s.buf[searched:], '\n'); i >= 0 {
			return s.buf[:searched+i], nil
		}
		searched = len(s.buf)
		if searched >= MaxRecord {
			return nil, s.damaged("longer than a record may be")
		}
		n, err := s.fill()
		if err != nil {
			return nil, err
		}
		if n > 0 {
			continue
		}
		if searched == 0 {
			return nil, io.EOF
		}
		s.buf = nil // the writer may cut it and write another: read it again
		return nil, &TornError{Path: s.path, Offset: s.offset, Bytes: int64(searched)}
	}
}

// fill appends to buf what follows it in the file.
func (s *scan) fill() (int, error) {
	have := len(s.buf)
	if len(s.mem) < have+chunk {
		s.mem = make([]byte, 2*(have+chunk))
	}
	copy(s.mem, s.buf) // the rest of a line, to the front
	n, err := s.src.ReadAt(s.mem[have:], s.offset+int64(have))
	s.buf = s.mem[:have+n]
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("read %s: %w", s.path, err)
	}
	return n, nil
}

// last reports whether nothing follows the n bytes at offset.
func (s *scan) last(n int) bool {
	if len(s.buf) > n {
		return false
	}
	more, err := s.fill()
	return more == 0 && err == nil
}

// Read yields the records of the log at path, those of rotated files first. It ends after an error: *DamagedError where
// the log was altered or a file of it is missing, *TornError (after all whole records) where it ends in the middle of
// one, else that of the disk. Nothing is skipped.
func Read(path string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		fsys := atomicfile.OS()
		for seq := int64(0); ; {
			p, err := openNext(fsys, path, seq)
			if seq > 0 && errors.Is(err, fs.ErrNotExist) {
				return // the last file was put aside, and nothing was written since
			}
			if err == nil {
				seq, err = p.records(seq, yield)
				err = errors.Join(err, p.close())
			}
			if err != nil && !errors.Is(err, errStopped) {
				yield(Record{}, err)
			}
			if err != nil || p.current {
				return
			}
		}
	}
}

var errStopped = errors.New("the caller stopped")

// records yields the records of one file, of which seq is the last record before it, and returns the last of its own.
func (p part) records(seq int64, yield func(Record, error) bool) (int64, error) {
	s := &scan{path: p.path, src: p.file, seq: seq}
	for {
		r, err := s.next()
		if errors.Is(err, io.EOF) {
			if s.line == 0 && !p.current {
				return seq, s.damaged("no record")
			}
			return s.seq, nil
		}
		if err != nil {
			return s.seq, err
		}
		if !yield(r, nil) {
			return s.seq, errStopped
		}
	}
}
