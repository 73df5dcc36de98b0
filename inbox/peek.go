package inbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// defaultPeek bounds a Peek that names no limit.
const defaultPeek = 1000

// Peek lists the newest messages of name, at most limit of them (0 = 1,000), oldest first. It consumes and writes
// nothing, so anyone may look.
func (d *Dir) Peek(ctx context.Context, name autonomy.AgentName, limit int) ([]Listed, error) {
	mailbox, err := d.unread(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("list mail of %s: %w", name, err)
	}
	if mailbox == nil {
		return nil, nil
	}
	defer mailbox.close()
	if limit <= 0 {
		limit = defaultPeek
	}
	var newest []Listed
	understand := reader{seen: map[autonomy.MessageID]int64{}}
	lines := newLines(io.NewSectionReader(mailbox.file, 0, mailbox.size), mailbox.at.Logical-mailbox.at.Offset, 0, mailbox.size)
	for {
		raw, err := lines.next()
		if errors.Is(err, io.EOF) {
			return newest[max(0, len(newest)-limit):], nil
		}
		if err != nil {
			return nil, fmt.Errorf("list mail of %s: %w", name, err)
		}
		state, m, _ := understand.classify(raw)
		if state != Delivered {
			continue
		}
		if len(newest) == 2*limit {
			newest = append(newest[:0], newest[limit:]...)
		}
		newest = append(newest, Listed{Message: m, Read: raw.end <= mailbox.at.Logical})
	}
}

// waiting remembers the answer for one state of the file.
type waiting struct {
	mu           sync.Mutex
	inode        uint64
	size, offset int64
	answer       bool
}

// Waiting says cheaply whether Receive would find a whole line: it compares sizes, and looks into the file only when
// those differ. The line may turn out to be one to step over; Receive does that by itself.
func (d *Dir) Waiting(name autonomy.AgentName) (bool, error) {
	if err := CheckName(name); err != nil {
		return false, err
	}
	err := d.checkFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for mail of %s: %w", name, err)
	}
	info, err := d.cfg.FS.Lstat(d.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for mail of %s: %w", name, err)
	}
	cursor, err := d.readCursor(name)
	if err != nil && !errors.Is(err, errCursor) {
		return false, fmt.Errorf("look for mail of %s: %w", name, err)
	}
	_, inode := identity(info)
	if cursor.Offset > info.Size() || cursor.Offset > 0 && cursor.Inode != inode {
		cursor.Offset = 0
	}
	if cursor.Offset == info.Size() {
		return false, nil
	}
	w := &d.box(name).waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.inode == inode && w.size == info.Size() && w.offset == cursor.Offset {
		return w.answer, nil
	}
	answer, err := d.hasLine(d.Path(name), cursor.Offset)
	if err != nil {
		return false, fmt.Errorf("look for mail of %s: %w", name, err)
	}
	w.inode, w.size, w.offset, w.answer = inode, info.Size(), cursor.Offset, answer
	return answer, nil
}

// hasLine looks for a newline from offset on.
func (d *Dir) hasLine(path string, offset int64) (bool, error) {
	f, info, err := d.open(path, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer func(f atomicfile.File) { _ = f.Close() }(f)
	buf := make([]byte, 64<<10)
	for offset < info.Size() {
		n, err := f.ReadAt(buf, offset)
		if bytes.IndexByte(buf[:n], '\n') >= 0 {
			return true, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if n == 0 {
			break
		}
		offset += int64(n)
	}
	return false, nil
}
