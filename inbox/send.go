package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/ulid"
)

// Send appends m to the mailbox of m.To and returns it as stored. A missing ID, Timestamp, Kind or From is filled in.
// It returns without error only after the line is on disk and would survive a power cut.
//
// *NameError, *UnknownKindError, *TooLongError and *FullError mean that nothing was written. After any other error the
// message may have arrived; whoever sends it again gives the ID of the Message that came back, and the reader drops
// the repeat.
func (d *Dir) Send(ctx context.Context, m Message) (Message, error) {
	if err := CheckName(m.To); err != nil {
		return m, fmt.Errorf("send message: %w", err)
	}
	m = d.complete(m)
	if !m.Kind.Valid() {
		return m, fmt.Errorf("send message to %s: %w", m.To, &UnknownKindError{Kind: m.Kind})
	}
	if reason := badID(string(m.ID)); reason != "" {
		return m, fmt.Errorf("send message to %s: id %s", m.To, reason)
	}
	line, err := encode(m)
	if err != nil {
		return m, fmt.Errorf("send message to %s: encode: %w", m.To, err)
	}
	if len(line) > MaxLine {
		return m, fmt.Errorf("send message to %s: %w", m.To, &TooLongError{Size: len(line), Limit: MaxLine})
	}
	if err := ctx.Err(); err != nil {
		return m, fmt.Errorf("send message to %s: %w", m.To, err)
	}
	b := d.box(m.To)
	err = b.queue.do(ctx, line, func(batch []*entry) {
		// A batch belongs to all of its senders: the leader's context must not end it. The lock has its own bound.
		if err := d.commit(context.WithoutCancel(ctx), m.To, b, batch); err != nil {
			for _, e := range batch {
				e.err = errors.Join(e.err, err)
			}
		}
	})
	if err != nil {
		return m, fmt.Errorf("send message to %s: %w", m.To, err)
	}
	return m, nil
}

func (d *Dir) complete(m Message) Message {
	if m.ID == "" {
		m.ID = autonomy.MessageID(ulid.New())
	}
	if m.Timestamp.IsZero() {
		m.Timestamp = d.cfg.Now()
	}
	if m.Kind == "" {
		m.Kind = KindMessage
	}
	if m.From == "" {
		m.From = User
	}
	return storable(m)
}

// commit writes a batch under the lock and syncs it after the unlock, so that other processes write meanwhile. Entries
// that find the mailbox full get their own error; an error returned is that of all.
func (d *Dir) commit(ctx context.Context, name autonomy.AgentName, b *box, batch []*entry) error {
	made, err := d.makeFolder()
	if err != nil {
		return err
	}
	f, err := d.append(ctx, name, b, batch)
	if f == nil {
		return err
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil || b.capacity.linked() {
		return err
	}
	// The file's name is not known to be on disk: it is new, or this process has not seen to it yet.
	if err := atomicfile.SyncDir(d.cfg.FS, d.cfg.Path); err != nil {
		return err
	}
	if made {
		if err := atomicfile.SyncDir(d.cfg.FS, filepath.Dir(d.cfg.Path)); err != nil {
			return err
		}
	}
	b.capacity.link()
	return nil
}

func (d *Dir) makeFolder() (made bool, err error) {
	err = d.checkFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return true, d.cfg.FS.MkdirAll(d.cfg.Path, folderPerm)
	}
	return false, err
}

// append writes the lines of a batch in one write under the folder's lock. The file it returns, if any, must be synced
// and closed by the caller.
func (d *Dir) append(ctx context.Context, name autonomy.AgentName, b *box, batch []*entry) (f atomicfile.File, err error) {
	unlock, err := d.lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	f, info, err := d.open(d.Path(name), os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	text, err := d.gather(name, b, batch, f, info)
	if err != nil || len(text) == 0 {
		return nil, errors.Join(err, f.Close())
	}
	n, err := f.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	return f, err
}

// gather joins the lines that fit in the mailbox. A file that ends in the middle of a line, a person's or one that
// failed half-way, gets a newline first.
func (d *Dir) gather(name autonomy.AgentName, b *box, batch []*entry, f atomicfile.File, info fs.FileInfo) ([]byte, error) {
	room, err := d.room(name, &b.capacity, len(batch), f, info)
	if err != nil {
		return nil, err
	}
	gap, err := lineBreak(f, info.Size())
	if err != nil {
		return nil, err
	}
	text := []byte(gap)
	for _, e := range batch {
		if e.err = room.take(name, len(e.line)); e.err == nil {
			text = append(text, e.line...)
		}
	}
	if len(text) == len(gap) {
		return nil, nil
	}
	return text, nil
}
