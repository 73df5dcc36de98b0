package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"syscall"
)

const (
	logSize = 5 << 20 // of one file, in bytes
	logKeep = 3       // files in all: daemon.log, daemon.log.1, daemon.log.2
)

// rotatingFile is the daemon's log on disk. One Write is one line; lines are never split over two files.
type rotatingFile struct {
	path  string
	limit int64
	keep  int

	mu   sync.Mutex
	file *os.File
	size int64
}

func openRotating(path string, limit int64, keep int) (*rotatingFile, error) {
	r := &rotatingFile{path: path, limit: limit, keep: keep}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *rotatingFile) open() error {
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("open the log: %w", err)
	}
	r.file, r.size = f, info.Size()
	return nil
}

// Write appends one line. A rotation that fails keeps the old file: a large log is better than none.
func (r *rotatingFile) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size > 0 && r.size+int64(len(line)) > r.limit {
		if err := r.rotate(); err != nil && r.file == nil {
			return 0, err
		}
	}
	n, err := r.file.Write(line)
	r.size += int64(n)
	return n, err
}

// stay begins the log again when somebody removed or replaced its file, and reports whether it did.
func (r *rotatingFile) stay() (again bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	mine, err := r.file.Stat()
	if err != nil {
		return false, fmt.Errorf("look at the log: %w", err)
	}
	there, err := os.Lstat(r.path)
	if err == nil && os.SameFile(mine, there) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	old := r.file
	if err := r.open(); err != nil {
		r.file = old
		return false, err
	}
	return true, old.Close()
}

func (r *rotatingFile) rotate() error {
	for n := r.keep - 1; n > 0; n-- {
		from := r.path
		if n > 1 {
			from += "." + strconv.Itoa(n-1)
		}
		if err := os.Rename(from, r.path+"."+strconv.Itoa(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("rotate the log: %w", err)
		}
	}
	old := r.file
	r.file = nil
	if err := r.open(); err != nil {
		r.file = old
		return err
	}
	return old.Close()
}

// Close ends the log.
func (r *rotatingFile) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Close()
}
