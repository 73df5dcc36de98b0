package board

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// sweepAge is how old a temporary of ours must be to be swept: its writer is gone.
const sweepAge = time.Hour

// Create writes a new task file under the next id, which is greater than any that was ever issued or seen. When it
// returns nil the task survives power loss. The error is an *InvalidError for a draft that would be no acceptable task,
// a *BlockerError for a blocker that is unknown or would close a ring, a busy lock, or the disk's.
func (d *Dir) Create(ctx context.Context, draft Draft) (Task, error) {
	defer d.deliver()
	if err := d.makeFolder(); err != nil {
		return Task{}, err
	}
	if err := d.load(ctx); err != nil {
		return Task{}, err
	}
	unlock, err := d.lock.Acquire(ctx)
	if err != nil {
		return Task{}, err
	}
	defer unlock() // the error of closing a lock file means nothing to the task
	if err := d.number(); err != nil {
		return Task{}, err
	}
	for {
		task, err := d.create(draft)
		if !errors.Is(err, fs.ErrExist) {
			d.numbered()
			return task, err
		}
	}
}

// makeFolder makes the board's folder if there is none.
func (d *Dir) makeFolder() error {
	_, err := d.statFolder()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.fs.MkdirAll(d.cfg.Path, 0o755); err != nil {
		return fmt.Errorf("make board folder: %w", err)
	}
	return atomicfile.SyncDir(d.fs, filepath.Dir(filepath.Clean(d.cfg.Path)))
}

// number makes the highest id known: the mark, every id in the folder and in the archive, invalid files included. The
// side lock is held, so that no other board issues one meanwhile.
func (d *Dir) number() error {
	highest, err := d.readMark()
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.mark = highest
	d.mu.Unlock()
	for _, folder := range d.folders() {
		stamp := d.stampFolder(folder)
		if stamp == d.counted[folder] {
			continue // nobody else has changed it since, and what was in it is in the index
		}
		n, err := d.highestIn(folder)
		if err != nil {
			return err
		}
		highest = max(highest, n)
		d.counted[folder] = stamp
	}
	d.mu.Lock()
	d.index.highest = max(d.index.highest, highest)
	d.mu.Unlock()
	d.sweep()
	return nil
}

// sweep removes temporaries that crashed writers left, at most once per sweepAge. One that cannot be removed is no
// reason not to create a task.
func (d *Dir) sweep() {
	if now := d.cfg.Now(); now.Sub(d.swept) > sweepAge {
		d.swept = now
		_ = atomicfile.Sweep(d.fs, d.cfg.Path, sweepAge, now)
	}
}

// numbered remembers the folders as they are after a Create, still under the side lock: those that look the same at the
// next one need not be listed again.
func (d *Dir) numbered() {
	for _, folder := range d.folders() {
		d.counted[folder] = d.stampFolder(folder)
	}
}

func (d *Dir) folders() [2]string { return [2]string{d.cfg.Path, d.path(archiveName)} }

// stampFolder returns the stamp of a folder, zero if there is none.
func (d *Dir) stampFolder(folder string) fileStamp {
	info, err := d.fs.Lstat(folder)
	if err != nil {
		return fileStamp{}
	}
	return stampOf(info)
}

func (d *Dir) highestIn(folder string) (autonomy.TaskID, error) {
	entries, err := d.fs.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("list ids: %w", err)
	}
	var highest autonomy.TaskID
	for _, entry := range entries {
		id, _, _ := ParseName(entry.Name()) // the number in an unacceptable name counts as well
		highest = max(highest, id)
	}
	return highest, nil
}

// create writes the task under the id after the highest; fs.ErrExist says that somebody dropped one there meanwhile.
func (d *Dir) create(draft Draft) (Task, error) {
	d.mu.Lock()
	id := d.index.highest
	d.mu.Unlock()
	if id == math.MaxInt64 {
		return Task{}, fmt.Errorf("create task: %s uses the greatest number there is; rename it", FileName(id))
	}
	id++
	data := draft.render(id, d.now())
	task, err := Parse(FileName(id), data)
	if err != nil {
		return Task{}, inputError("new task", err)
	}
	if err := d.checkBlockers(id, draft.BlockedBy); err != nil {
		return Task{}, err
	}
	// The mark goes first: an id that is skipped is better than one that is issued twice.
	if err := d.writeMark(id); err != nil {
		return Task{}, err
	}
	staged, err := atomicfile.Stage(d.fs, d.path(FileName(id)), data, 0o644)
	if err != nil {
		return Task{}, err
	}
	if err := staged.CommitNew(); err != nil {
		d.mu.Lock()
		d.index.highest = max(d.index.highest, id)
		d.mu.Unlock()
		return Task{}, err
	}
	d.look(id, passHint)
	if err := atomicfile.SyncDir(d.fs, d.cfg.Path); err != nil {
		return task, fmt.Errorf("task %d is written, but may not survive power loss: %w", id, err)
	}
	return task, nil
}

// inputError turns the complaint about rendered values into one about the values: it has no place in any file.
func inputError(what string, err error) error {
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return &InvalidError{Path: what, Reason: invalid.Reason, Err: ErrInput}
	}
	return err
}
