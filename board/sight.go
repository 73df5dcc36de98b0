package board

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"syscall"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// sight is one look at one file, before the snapshot knows of it.
type sight struct {
	name    string
	id      autonomy.TaskID
	at      time.Time
	stamp   fileStamp
	src     []byte
	sum     uint64
	perm    fs.FileMode
	task    Task          // when err is nil; what could be read when invalid
	err     error         // *InvalidError, fs.ErrNotExist, or what the disk said
	firm    bool          // the fault is not in the text, so that waiting cannot mend it
	refused string        // by the gate
	invalid *InvalidError // err, if it is one
}

// gone reports whether there was no file.
func (s *sight) gone() bool { return errors.Is(s.err, fs.ErrNotExist) }

// sumOf is comparable within this Dir, which is all that it is for. It is never 0.
func (d *Dir) sumOf(src []byte) uint64 { return max(maphash.Bytes(d.seed, src), 1) }

// see reads and parses a file. known is the sum of the content that the snapshot has and task what it says: the same
// bytes are not parsed again.
func (d *Dir) see(id autonomy.TaskID, known uint64, task Task) *sight {
	name := FileName(id)
	s := &sight{name: name, id: id, at: d.cfg.Now(), task: Task{ID: id, Status: Pending}}
	src, info, err := atomicfile.ReadFile(d.fs, d.path(name), MaxFile)
	if err != nil {
		d.explain(s, err)
		return s
	}
	s.stamp, s.src, s.sum, s.perm = stampOf(info), src, d.sumOf(src), info.Mode().Perm()
	if s.sum == known {
		s.task = task
	} else if s.task, err = Parse(d.path(name), src); err != nil {
		s.err = err
		errors.As(err, &s.invalid)
		return s
	}
	if d.cfg.Gate != nil {
		s.refused = d.cfg.Gate.Admit(name, s.task, PeopleFields(src))
	}
	return s
}

// explain sorts the ways in which a file could not be read.
func (d *Dir) explain(s *sight, err error) {
	s.err = err
	var odd *atomicfile.NotRegularError
	var large *atomicfile.TooLargeError
	switch {
	case errors.As(err, &odd):
		s.invalid = &InvalidError{Path: d.path(s.name), Reason: "is a " + odd.Kind + ", not a regular file", Err: err}
	case errors.As(err, &large):
		s.invalid = &InvalidError{Path: d.path(s.name), Reason: fmt.Sprintf("larger than %d KiB", MaxFile>>10), Err: err}
	}
	if s.invalid != nil {
		s.err, s.firm = s.invalid, true
	}
	if s.gone() {
		if _, err := d.statFolder(); err != nil {
			s.err = errors.New(err.Error()) // the folder is gone, which says nothing about the file
		}
		return
	}
	if info, err := d.fs.Lstat(d.path(s.name)); err == nil {
		s.stamp = stampOf(info)
	}
}

// words renders what the disk said, without the path that the reader sees beside it.
func words(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// pass says how a look came about, and so what it proves.
type pass int

const (
	passHint  pass = iota // somebody said that the file changed
	passPoll              // the regular look
	passFinal             // what does not parse now is invalid
)

// look reads a file and brings the snapshot up to date with it. It returns what it saw.
func (d *Dir) look(id autonomy.TaskID, p pass) *sight {
	for {
		d.mu.Lock()
		var gen, sum uint64
		var task Task
		if r := d.index.records[id]; r != nil {
			gen, sum, task = r.gen, r.sum, r.task
		}
		d.mu.Unlock()

		s := d.see(id, sum, task)

		d.mu.Lock()
		r := d.index.records[id]
		current := r == nil && gen == 0 || r != nil && r.gen == gen
		if current {
			d.apply(s, p)
		}
		d.mu.Unlock()
		if current {
			return s
		}
		// A writer of this process was faster, and what was read may be older than what it wrote.
	}
}
