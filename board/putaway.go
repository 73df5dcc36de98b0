package board

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// Archive moves tasks that nobody works to the archive folder, in the order given; it is what deleting means here, for
// an id is never used again. Completed ones go on counting as completed for those that wait for them. It ends at the
// first task that cannot be archived; those before it are.
func (d *Dir) Archive(ctx context.Context, ids ...autonomy.TaskID) error {
	defer d.deliver()
	if err := d.load(ctx); err != nil {
		return err
	}
	unlock, err := d.lock.Acquire(ctx)
	if err != nil {
		return err
	}
	defer unlock() // the error of closing a lock file means nothing to the tasks
	if err := d.fs.MkdirAll(d.path(archiveName), 0o755); err != nil {
		return fmt.Errorf("make archive folder: %w", err)
	}
	d.raiseToSeen()
	for _, id := range ids {
		if err := d.putAway(id); err != nil {
			return fmt.Errorf("archive task %d: %w", id, err)
		}
	}
	d.searchArchive(false)
	return errors.Join(atomicfile.SyncDir(d.fs, d.path(archiveName)), atomicfile.SyncDir(d.fs, d.cfg.Path))
}

// putAway moves one file; the side lock is held.
func (d *Dir) putAway(id autonomy.TaskID) error {
	s := d.look(id, passHint)
	if err := s.problem(); err != nil {
		return err
	}
	d.mu.Lock()
	working := d.attempts[id] != nil
	d.mu.Unlock()
	live := s.task.Claim != nil && s.task.Claim.Instance != "" && d.alive(s.task.Claim.Instance)
	if s.task.Status == InProgress || working || live {
		return &StateError{ID: id, Verb: "archive", Why: "it is being worked"}
	}
	target := d.archivePath(id)
	if _, err := d.fs.Lstat(target); err == nil {
		return fmt.Errorf("%s: %w", target, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.fs.Rename(d.path(FileName(id)), target); err != nil {
		return err
	}
	d.look(id, passFinal)
	return nil
}
