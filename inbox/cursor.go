package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

const (
	cursorWindow = 4096     // bytes before the offset that the hash covers
	cursorIDs    = 64       // last ids kept
	maxCursor    = 64 << 10 // bytes of a cursor file
)

// errCursor says that a cursor file is there and holds no cursor.
var errCursor = errors.New("cursor file damaged")

// readCursor returns the stored cursor, the zero one if there is none, and errCursor if the file is not one. Any other
// error is the disk's: it must not be taken for "nothing read yet".
func (d *Dir) readCursor(name autonomy.AgentName) (Cursor, error) {
	src, _, err := atomicfile.ReadFile(d.cfg.FS, d.cursorPath(name), maxCursor)
	if errors.Is(err, fs.ErrNotExist) {
		return Cursor{}, nil
	}
	if err != nil {
		return Cursor{}, err
	}
	var c Cursor
	if err := json.Unmarshal(src, &c); err != nil {
		return Cursor{}, fmt.Errorf("%w: %w", errCursor, err)
	}
	if c.Offset < 0 || c.Logical < c.Offset || c.Lines < 0 || c.Lines > c.Offset {
		return Cursor{}, fmt.Errorf("%w: impossible position", errCursor)
	}
	return c, nil
}

// position returns where to read from: the cursor if it belongs to the file, else the start with the ids it knew. Why
// is empty in the first case and when nothing was read yet.
func (d *Dir) position(name autonomy.AgentName, f io.ReaderAt, info fs.FileInfo) (at Cursor, why string, err error) {
	c, err := d.readCursor(name)
	if err != nil && !errors.Is(err, errCursor) {
		return Cursor{}, "", err
	}
	device, inode := identity(info)
	start := Cursor{Device: device, Inode: inode, IDs: c.IDs}
	switch {
	case err != nil:
		return start, err.Error(), nil
	case c.Offset == 0:
		return start, "", nil
	case c.Inode != inode:
		return start, "the file is another one", nil
	case c.Offset > info.Size():
		return start, "the file is shorter", nil
	}
	hash, err := windowHash(f, c.Offset)
	if err != nil {
		return Cursor{}, "", err
	}
	if hash != c.Hash {
		return start, "the file was edited", nil
	}
	c.Device = device
	return c, "", nil
}

// windowHash covers the bytes before offset. A whole prefix would cost more with every message ever received.
func windowHash(f io.ReaderAt, offset int64) (string, error) {
	window := make([]byte, min(offset, cursorWindow))
	if _, err := f.ReadAt(window, offset-int64(len(window))); err != nil {
		return "", err
	}
	sum := sha256.Sum256(window)
	return hex.EncodeToString(sum[:]), nil
}

// Ack records that everything before c is in the reader's durable transcript. Until then Receive returns it again. The
// reader alone calls it, with the Cursor of its last Batch. That of an empty mailbox acknowledges nothing.
func (d *Dir) Ack(ctx context.Context, name autonomy.AgentName, c Cursor) error {
	err := d.usable(ctx, name)
	if c.Offset == 0 && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("acknowledge mail of %s: %w", name, err)
	}
	if err := d.writeCursor(name, c); err != nil {
		return fmt.Errorf("acknowledge mail of %s: %w", name, err)
	}
	return nil
}

// writeCursor syncs the file and not the folder: a power cut may bring the old position back, which repeats and never
// loses, but must not leave an empty file.
func (d *Dir) writeCursor(name autonomy.AgentName, c Cursor) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	staged, err := atomicfile.Stage(d.cfg.FS, d.cursorPath(name), append(text, '\n'), filePerm)
	if err != nil {
		return err
	}
	return staged.Commit()
}

// usable is the check before any file of a mailbox is touched.
func (d *Dir) usable(ctx context.Context, name autonomy.AgentName) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.checkFolder()
}
