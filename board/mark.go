package board

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// The high-water mark holds the greatest id that was ever issued or seen, so that none is issued twice even when its
// file is gone: decimal digits and a newline.
const maxMark = 64 // bytes

// readMark returns the mark, 0 if there is none. A damaged one is reported and counts as none: the ids on disk still
// count, and the next Create writes it anew.
func (d *Dir) readMark() (autonomy.TaskID, error) {
	path := d.path(markName)
	src, _, err := atomicfile.ReadFile(d.fs, path, maxMark)
	var large *atomicfile.TooLargeError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case errors.As(err, &large):
		src = nil
	case err != nil:
		return 0, fmt.Errorf("read high-water mark: %w", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(src)), 10, 64)
	if err != nil || n < 0 {
		d.mu.Lock()
		d.tell(NoticeMark, path, 0, "is damaged and will be written anew")
		d.mu.Unlock()
		return 0, nil
	}
	return autonomy.TaskID(n), nil
}

// raiseMark makes sure that the mark on disk is at least id. The side lock is held; the folder is not synced.
func (d *Dir) raiseMark(id autonomy.TaskID) error {
	d.mu.Lock()
	known := d.mark
	d.mu.Unlock()
	if id <= known {
		return nil
	}
	current, err := d.readMark()
	if err == nil && current < id {
		return d.writeMark(id)
	}
	d.mu.Lock()
	d.mark = max(d.mark, current)
	d.mu.Unlock()
	return err
}

// writeMark replaces the mark. The side lock is held; the folder is not synced.
func (d *Dir) writeMark(id autonomy.TaskID) error {
	s, err := atomicfile.Stage(d.fs, d.path(markName), []byte(strconv.FormatInt(int64(id), 10)+"\n"), 0o644)
	if err == nil {
		err = s.Commit()
	}
	if err != nil {
		return fmt.Errorf("write high-water mark: %w", err)
	}
	d.mu.Lock()
	d.mark = id
	d.mu.Unlock()
	return nil
}

// raiseToSeen raises the mark to the greatest id seen, for files that people dropped. The side lock is held. That this
// fails must not keep a member from its work, so it is only reported.
func (d *Dir) raiseToSeen() {
	d.mu.Lock()
	highest := d.index.highest
	d.mu.Unlock()
	if err := d.raiseMark(highest); err != nil {
		d.mu.Lock()
		d.tell(NoticeMark, d.path(markName), 0, err.Error())
		d.mu.Unlock()
	}
}
