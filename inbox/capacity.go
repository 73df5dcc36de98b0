package inbox

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// shortest is the length of the shortest line that is a message. It tells without a count that a mailbox is not full.
const shortest = int64(len(`{"content":""}`) + 1)

// capacity remembers how many lines a mailbox file has, so that a full check reads only what was appended since the
// last one. It is used by the leader of the queue alone.
type capacity struct {
	inode   uint64
	counted int64 // bytes
	lines   int64 // newlines in them
	onDisk  bool  // the file's name survives a power cut
}

func (c *capacity) linked() bool { return c.onDisk }
func (c *capacity) link()        { c.onDisk = true }

// room is what a mailbox may still take.
type room struct {
	unread, unreadBytes int64
	maxUnread, maxBytes int64
}

func (r *room) take(name autonomy.AgentName, size int) error {
	if r.unread+1 > r.maxUnread || r.unreadBytes+int64(size) > r.maxBytes {
		return &FullError{Name: string(name), Messages: r.unread, Bytes: r.unreadBytes}
	}
	r.unread++
	r.unreadBytes += int64(size)
	return nil
}

// room counts the unread mail. A cursor that does not belong to the file counts as none, as its reader will find.
func (d *Dir) room(name autonomy.AgentName, c *capacity, wanted int, f atomicfile.File, info fs.FileInfo) (*room, error) {
	_, inode := identity(info)
	if inode != c.inode || info.Size() < c.counted {
		*c = capacity{inode: inode}
	}
	cursor, err := d.readCursor(name)
	if err != nil && !errors.Is(err, errCursor) {
		return nil, err
	}
	if cursor.Inode != inode || cursor.Offset > info.Size() {
		cursor = Cursor{}
	}
	r := &room{
		unreadBytes: info.Size() - cursor.Offset,
		maxUnread:   int64(d.cfg.MaxMessages), maxBytes: d.cfg.MaxBytes,
	}
	if r.unread = r.unreadBytes / shortest; r.unread+int64(wanted) <= r.maxUnread {
		return r, nil // not full even if every line were the shortest
	}
	if c.counted < cursor.Offset {
		c.counted, c.lines = cursor.Offset, cursor.Lines
	}
	if err := c.count(f, info.Size()); err != nil {
		return nil, err
	}
	r.unread = max(0, c.lines-cursor.Lines)
	return r, nil
}

// count brings the count of newlines up to size.
func (c *capacity) count(f io.ReaderAt, size int64) error {
	buf := make([]byte, 64<<10)
	for c.counted < size {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), size-c.counted)], c.counted)
		c.lines += int64(bytes.Count(buf[:n], []byte("\n")))
		c.counted += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}
