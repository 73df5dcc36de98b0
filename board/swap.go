package board

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/strictjson"
)

// swap is how every verb changes a task: a compare-and-swap on the bytes of its file.
type swap struct {
	id autonomy.TaskID
	// change returns the task as it shall be, or why not. It is called anew whenever the file has changed meanwhile.
	change func(Task) (Task, error)
	// blockers says that the blockers must still be as the snapshot has them when the file is renamed.
	blockers bool
	// durable says that the change must survive power loss once it is acknowledged.
	durable bool
	// raced is set when another writer was faster at least once; nil = not wanted.
	raced *bool
	// done tells the snapshot what the change means for attempts; mu is held.
	done func(Task)
}

const (
	optimistic = 4  // tries with the replacement written before the lock is taken
	swapTries  = 12 // in all
)

var (
	errChanged  = errors.New("file changed meanwhile")
	errTooLarge = fmt.Errorf("the file would be larger than %d KiB", MaxFile>>10)
)

// do carries out a swap. The replacement is written and synced before the lock is taken; under the lock the bytes are
// compared with those read, and it is renamed into place. After some lost races it works wholly under the lock, where
// only people's editors can still get in between.
//
// The error may be a *NotFoundError, *InvalidError, what change returned, a busy lock, or the disk's; then the file is
// as it was, with one exception: *unsyncedError says that the file is changed but may not survive power loss.
func (d *Dir) do(ctx context.Context, s swap) (task Task, err error) {
	for try := 1; ; try++ {
		if try <= optimistic {
			task, err = d.try(ctx, s, d.lock.Acquire)
		} else {
			task, err = d.tryLocked(ctx, s)
		}
		if !errors.Is(err, errChanged) || try == swapTries {
			return task, err
		}
		if s.raced != nil {
			*s.raced = true
		}
	}
}

// tryLocked is try with the lock taken before the file is read.
func (d *Dir) tryLocked(ctx context.Context, s swap) (Task, error) {
	unlock, err := d.lock.Acquire(ctx)
	if err != nil {
		return Task{}, err
	}
	defer unlock() // the error of closing a lock file means nothing to the task
	return d.try(ctx, s, func(context.Context) (func() error, error) {
		return func() error { return nil }, nil
	})
}

// try makes the change once. It holds what acquire gives for the comparison and the rename alone: neither for the sync
// of the file before them, nor for that of the folder behind them.
func (d *Dir) try(ctx context.Context, s swap, acquire func(context.Context) (func() error, error)) (Task, error) {
	old := d.look(s.id, passHint)
	if old.gone() {
		return Task{}, d.notFound(s.id)
	}
	if err := old.problem(); err != nil {
		return Task{}, err
	}
	next, data, err := s.prepare(old)
	if err != nil || data == nil {
		return next, err
	}
	staged, err := atomicfile.Stage(d.fs, d.path(old.name), data, old.perm)
	if err != nil {
		return Task{}, err
	}
	unlock, err := acquire(ctx)
	if err != nil {
		return Task{}, errors.Join(err, staged.Discard())
	}
	err = d.commit(s, old, next, data, staged)
	_ = unlock() // the error of closing a lock file means nothing to the task
	if err != nil || !s.durable {
		return next, err
	}
	if err := atomicfile.SyncDir(d.fs, filepath.Clean(d.cfg.Path)); err != nil {
		return next, &unsyncedError{err}
	}
	return next, nil
}

// commit compares and renames; the side lock is held.
func (d *Dir) commit(s swap, old *sight, next Task, data []byte, staged *atomicfile.Staged) error {
	if err := d.unchanged(s, old); err != nil {
		return errors.Join(err, staged.Discard())
	}
	d.announce(s.id, d.sumOf(data))
	if err := staged.Commit(); err != nil {
		d.announce(s.id, 0)
		return err
	}
	d.record(s, old, next, data)
	d.raiseToSeen()
	return nil
}

// unsyncedError says that a change is in its file but may not survive power loss.
type unsyncedError struct{ err error }

func (e *unsyncedError) Error() string { return e.err.Error() }
func (e *unsyncedError) Unwrap() error { return e.err }

// problem returns why a file that was looked at cannot be changed.
func (s *sight) problem() error {
	switch {
	case s.err == nil:
		return nil
	case s.gone():
		return &NotFoundError{ID: s.id}
	case s.invalid != nil:
		return s.invalid
	}
	return &UnreadableError{ID: s.id, Err: s.err}
}

// prepare makes the new bytes; nil data says that nothing is to be written.
func (s swap) prepare(old *sight) (next Task, data []byte, err error) {
	next, err = s.change(old.task)
	if err != nil {
		return Task{}, nil, err
	}
	edits := changes(old.task, next)
	if len(edits) == 0 {
		return old.task, nil, nil
	}
	data, err = strictjson.Edit(old.src, edits)
	if err != nil {
		return Task{}, nil, fmt.Errorf("edit task %d: %w", s.id, err)
	}
	if len(data) > MaxFile {
		return Task{}, nil, fmt.Errorf("change task %d: %w", s.id, errTooLarge)
	}
	// What cannot be read back must not be written: a text too long, a blocker that is no id.
	if next, err = Parse(old.name, data); err != nil {
		return Task{}, nil, inputError(fmt.Sprintf("change task %d", s.id), err)
	}
	return next, data, nil
}

// unchanged compares, under the side lock, what was read with what is there.
func (d *Dir) unchanged(s swap, old *sight) error {
	src, _, err := atomicfile.ReadFile(d.fs, d.path(old.name), MaxFile)
	if err != nil || !bytes.Equal(src, old.src) {
		return errChanged // whatever it is, the next look says it better
	}
	if !s.blockers {
		return nil
	}
	d.mu.Lock()
	blockers := d.index.graph.Blockers(s.id)
	d.mu.Unlock()
	for _, b := range blockers {
		if !d.stands(b) {
			return errChanged
		}
	}
	return nil
}

// stands reports whether a blocker is as the snapshot has it. If not, the snapshot is brought up to date.
func (d *Dir) stands(id autonomy.TaskID) bool {
	d.mu.Lock()
	r := d.index.records[id]
	var known fileStamp
	if r != nil {
		known = r.stamp
	}
	d.mu.Unlock()
	if r == nil {
		if _, err := d.fs.Lstat(d.archivePath(id)); err == nil {
			return true
		}
		d.mu.Lock()
		d.lookups[id] = true
		d.mu.Unlock()
	} else if info, err := d.fs.Lstat(d.path(FileName(id))); err == nil && stampOf(info) == known {
		return true
	} else {
		d.look(id, passHint)
	}
	d.searchArchive(false)
	return false
}

// announce notes what is about to be put in place, so that a look between the rename and record does not take the end
// of our own attempt for somebody else's.
func (d *Dir) announce(id autonomy.TaskID, sum uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a := d.attempts[id]; a != nil {
		a.writing = sum
	}
}

// record brings the snapshot up to date with what was just written; the side lock is held, so that the order is that of
// the disk.
func (d *Dir) record(s swap, old *sight, next Task, data []byte) {
	seen := &sight{name: old.name, id: s.id, at: d.cfg.Now(), task: next, sum: d.sumOf(data), refused: old.refused}
	if info, err := d.fs.Lstat(d.path(old.name)); err == nil {
		seen.stamp = stampOf(info)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.done != nil {
		s.done(next)
	}
	if a := d.attempts[s.id]; a != nil {
		a.writing = 0
	}
	d.apply(seen, passHint)
}
