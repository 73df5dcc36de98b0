package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// Config of a Log. A zero field other than Path takes its default.
type Config struct {
	Path     string           // the file; its folder must exist
	FS       atomicfile.FS    // default atomicfile.OS()
	MaxBytes int64            // a file that would grow beyond it is put aside as PATH.FIRST and a new one begun; 0 = never
	Now      func() time.Time // default time.Now
	After    int64            // a log that begins with Open begins with the record after this one; 0 = with record 1
	// Mask is applied to each record, a JSON object, before it is summed and written; nil = as it is. What it returns
	// must be one too.
	Mask func(record []byte) []byte
}

// Log appends to one log file. One Log in one process writes a file. Its methods may be called from any goroutine.
type Log struct {
	cfg Config

	mu     sync.Mutex
	file   atomicfile.File
	size   int64  // of sound records
	seq    int64  // of the last record
	first  int64  // of the first record of the file, 0 if it has none
	sum    uint32 // of the last record in the file
	rest   bool   // a failed write may have left something behind size
	linked bool   // the file's name survives a power cut
	failed error  // no more appends: damage, a failed sync, or ErrClosed

	data bytes.Buffer
	json *json.Encoder
	line []byte
}

// Create begins a log that must not exist: fs.ErrExist if it does.
func Create(cfg Config) (*Log, error) {
	l, err := newLog(cfg)
	if err != nil {
		return nil, err
	}
	if l.file, err = openFile(l.cfg.FS, cfg.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL); err != nil {
		return nil, fmt.Errorf("create log: %w", err)
	}
	return l, nil
}

// Open continues a log, or begins it when it does not exist. It reads the whole file: a torn last record is cut, and
// one that is damaged leaves a Log whose Append returns Recovery.Damage, with the file untouched.
func Open(cfg Config) (*Log, Recovery, error) {
	l, err := newLog(cfg)
	if err != nil {
		return nil, Recovery{}, err
	}
	if l.file, err = openFile(l.cfg.FS, cfg.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE); err != nil {
		return nil, Recovery{}, fmt.Errorf("open log: %w", err)
	}
	found, err := l.recover()
	if err != nil {
		return nil, Recovery{}, errors.Join(fmt.Errorf("open log %s: %w", cfg.Path, err), l.file.Close())
	}
	return l, found, nil
}

func newLog(cfg Config) (*Log, error) {
	if cfg.Path == "" {
		return nil, errors.New("open log: Path is required")
	}
	if cfg.MaxBytes < 0 {
		return nil, errors.New("open log: MaxBytes must not be negative")
	}
	if cfg.FS == nil {
		cfg.FS = atomicfile.OS()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	l := &Log{cfg: cfg}
	l.json = json.NewEncoder(&l.data)
	l.json.SetEscapeHTML(false)
	return l, nil
}

// recover reads the file up to its end or its first fault.
func (l *Log) recover() (Recovery, error) {
	before, err := l.before()
	if err != nil {
		return Recovery{}, err
	}
	found := Recovery{}
	s := &scan{path: l.cfg.Path, src: l.file, seq: before}
	for err == nil {
		var r Record
		if r, err = s.next(); err == nil && l.first == 0 {
			l.first = r.Seq
		}
	}
	l.size, l.seq, l.sum = s.offset, s.seq, s.sum
	if l.seq == 0 && l.size == 0 {
		l.seq = l.cfg.After
	}
	found.Records = s.line
	var torn *TornError
	switch {
	case errors.Is(err, io.EOF):
	case errors.As(err, &found.Damage):
		l.failed = found.Damage
	case errors.As(err, &torn):
		found.Cut = torn.Bytes
		if err := l.file.Truncate(l.size); err != nil {
			return Recovery{}, fmt.Errorf("cut torn record: %w", err)
		}
	default:
		return Recovery{}, err
	}
	return found, nil
}

// before is the last record of the files that were put aside; 0 if there is none.
func (l *Log) before() (int64, error) {
	first, err := firstSeq(l.file)
	if err != nil || first == 1 {
		return 0, err
	}
	numbers, err := aside(l.cfg.FS, l.cfg.Path)
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	p := part{path: rotatedName(l.cfg.Path, numbers[len(numbers)-1])}
	if p.file, err = openRead(l.cfg.FS, p.path); err != nil {
		return 0, err
	}
	seq, err := p.records(0, func(Record, error) bool { return true })
	return seq, errors.Join(err, p.close())
}

// Append writes one record: v, which must marshal to a JSON object without the keys seq, ts and sum. The line is in the
// file, and survives the end of the process, when Append returns; Sync makes it survive a power cut. After an error
// the record is not in the log and its number goes to the next one.
func (l *Log) Append(v any) (seq int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return 0, l.failed
	}
	sum, err := l.encode(v)
	if err != nil {
		return 0, fmt.Errorf("append to %s: %w", l.cfg.Path, err)
	}
	if l.cfg.MaxBytes > 0 && l.size > 0 && l.size+int64(len(l.line)) > l.cfg.MaxBytes {
		if err := l.rotate(); err != nil {
			return 0, fmt.Errorf("rotate %s: %w", l.cfg.Path, err)
		}
		if sum, err = l.encode(v); err != nil { // the new file begins a new chain
			return 0, fmt.Errorf("append to %s: %w", l.cfg.Path, err)
		}
	}
	if err := l.write(); err != nil {
		return 0, fmt.Errorf("append to %s: %w", l.cfg.Path, err)
	}
	l.seq++
	l.sum = sum
	if l.first == 0 {
		l.first = l.seq
	}
	return l.seq, nil
}

// encode makes the next line of v and returns its sum.
func (l *Log) encode(v any) (uint32, error) {
	l.data.Reset()
	if err := l.json.Encode(v); err != nil {
		return 0, err
	}
	data := bytes.TrimSuffix(l.data.Bytes(), []byte("\n"))
	if l.cfg.Mask != nil {
		data = l.cfg.Mask(data)
	}
	if len(data) < 2 || data[0] != '{' {
		return 0, fmt.Errorf("a record must be a JSON object, %T is not", v)
	}
	l.line = appendHead(l.line[:0], l.seq+1, l.cfg.Now())
	if members := data[1 : len(data)-1]; len(members) > 0 {
		l.line = append(l.line, ',')
		l.line = append(l.line, members...)
	}
	var sum uint32
	l.line, sum = appendTail(l.line, l.sum)
	if len(l.line) > MaxRecord {
		return 0, fmt.Errorf("record too long: %d bytes, at most %d", len(l.line), MaxRecord)
	}
	return sum, nil
}

// write appends the line in one write. What a failed one left is cut before the next.
func (l *Log) write() error {
	if l.rest {
		if err := l.file.Truncate(l.size); err != nil {
			return fmt.Errorf("cut failed record: %w", err)
		}
		l.rest = false
	}
	n, err := l.file.Write(l.line)
	if err == nil && n < len(l.line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		l.rest = true
		return err
	}
	l.size += int64(n)
	return nil
}

// Sync makes all appended records survive a power cut. A failed sync ends the log, for nobody knows what the disk has:
// open it again.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	return l.sync()
}

func (l *Log) sync() error {
	err := l.file.Sync()
	if err == nil && !l.linked {
		err = atomicfile.SyncDir(l.cfg.FS, filepath.Dir(l.cfg.Path))
	}
	if err != nil {
		l.failed = fmt.Errorf("sync %s: %w", l.cfg.Path, err)
		return l.failed
	}
	l.linked = true
	return nil
}

// Close syncs and closes the file. A damaged log is closed without a change. Later calls return ErrClosed.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(l.failed, ErrClosed) {
		return ErrClosed
	}
	var err error
	if l.failed == nil {
		if l.rest {
			err = l.file.Truncate(l.size)
		}
		err = errors.Join(err, l.sync())
	}
	l.failed = ErrClosed
	return errors.Join(err, l.file.Close())
}

// InPlace reports whether the file is still the one at its path. If not, someone removed or replaced it: what is appended
// is nowhere to be found.
func (l *Log) InPlace() bool {
	there, err := l.cfg.FS.Lstat(l.cfg.Path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // what can't be looked at was not moved by that
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	mine, err := l.file.Stat()
	return err == nil && os.SameFile(mine, there)
}

// Seq is the number of the last record, 0 if there is none.
func (l *Log) Seq() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seq
}

// rotate puts the full file aside and begins a new one. A failure before the rename leaves the log as it was, one
// after it leaves a log that Open continues.
func (l *Log) rotate() error {
	if err := l.sync(); err != nil {
		return err
	}
	if err := l.cfg.FS.Rename(l.cfg.Path, rotatedName(l.cfg.Path, l.first)); err != nil {
		return err
	}
	next, err := openFile(l.cfg.FS, l.cfg.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
	if err != nil {
		l.failed = err
		return err
	}
	err = l.file.Close()
	l.file, l.size, l.first, l.sum, l.rest, l.linked = next, 0, 0, 0, false, false
	return err
}
