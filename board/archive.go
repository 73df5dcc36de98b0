package board

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

func (d *Dir) archivePath(id autonomy.TaskID) string {
	return filepath.Join(d.cfg.Path, archiveName, FileName(id))
}

// notFound is the error for a task that is not on the board.
func (d *Dir) notFound(id autonomy.TaskID) *NotFoundError {
	_, err := d.fs.Lstat(d.archivePath(id))
	return &NotFoundError{ID: id, Archived: err == nil}
}

// archiveChanged reports whether the archive may hold other files than when it was last asked; polling is held.
func (d *Dir) archiveChanged() bool {
	at := d.cfg.Now()
	stamp := d.stampFolder(d.path(archiveName))
	changed := stamp != d.archive || stamp.young(d.filed)
	d.archive, d.filed = stamp, at
	return changed
}

// searchArchive looks for blockers that are not on the board: those that were noted, or all of them.
func (d *Dir) searchArchive(all bool) {
	d.mu.Lock()
	ids := d.absent(all)
	d.mu.Unlock()
	for _, id := range ids {
		state := d.archived(id)
		d.mu.Lock()
		d.index.archive(id, state, d.cfg.Now())
		d.mu.Unlock()
	}
}

// absent returns the blockers to look for; mu is held.
func (d *Dir) absent(all bool) []autonomy.TaskID {
	var ids []autonomy.TaskID
	if all {
		for id := range d.index.graph.listedBy {
			d.lookups[id] = true
		}
	}
	for id := range d.lookups {
		if d.index.records[id] == nil && len(d.index.graph.listedBy[id]) > 0 {
			ids = append(ids, id)
		}
	}
	d.lookups = map[autonomy.TaskID]bool{}
	slices.Sort(ids)
	return ids
}

// archived returns how a task stands that was put away: an archived completed blocker counts as completed.
func (d *Dir) archived(id autonomy.TaskID) NodeState {
	src, _, err := atomicfile.ReadFile(d.fs, d.archivePath(id), MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return StateMissing
	}
	if err != nil {
		return StateUnreadable
	}
	task, err := Parse(FileName(id), src)
	if err != nil {
		return StateInvalid
	}
	switch task.Status {
	case Completed:
		return StateCompleted
	case Failed:
		return StateFailed
	case Cancelled:
		return StateCancelled
	}
	return StateArchived
}
