package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// One batch ends after the line that reaches a limit, so that memory stays bounded whatever was dropped.
const (
	maxBatchBytes = 4 << 20
	maxBatchLines = 10_000
)

// Receive returns the mail of name from the acknowledged position to the last newline and consumes nothing: without an
// Ack the next Receive returns the same. A line whose newline is not there yet waits. Where only lines to step over
// were found, the position moves by itself and the Batch is empty. A mailbox that does not exist is empty.
//
// It may repeat what was received before (a crash before Ack, a file edited by hand) and never leaves out what was
// not: the reader drops ids that its transcript has.
func (d *Dir) Receive(ctx context.Context, name autonomy.AgentName) (Batch, error) {
	batch, notices, err := d.receive(ctx, name)
	for _, n := range notices {
		d.cfg.Report(n)
	}
	if err != nil {
		return Batch{}, fmt.Errorf("receive mail of %s: %w", name, err)
	}
	return batch, nil
}

func (d *Dir) receive(ctx context.Context, name autonomy.AgentName) (Batch, []Notice, error) {
	mailbox, err := d.unread(ctx, name)
	if err != nil || mailbox == nil {
		return Batch{}, nil, err
	}
	defer mailbox.close()
	notices := mailbox.notices
	batch, err := mailbox.batch()
	if err != nil {
		return Batch{}, notices, err
	}
	for _, r := range batch.Rejected {
		notices = append(notices, Notice{
			Kind: NoticeRejected, Mailbox: string(name),
			Text: fmt.Sprintf("mail of %s: line at offset %d is not a message: %s", name, r.Offset, r.Reason),
		})
	}
	if err := d.keepRejected(name, batch.Rejected); err != nil {
		notices = append(notices, Notice{
			Kind: NoticeUnkept, Mailbox: string(name), Err: err,
			Text: fmt.Sprintf("mail of %s: bad lines were not copied to %s", name, d.rejectedPath(name)),
		})
	}
	if len(batch.Messages) == 0 && batch.Cursor.Offset > mailbox.at.Offset {
		if err := d.writeCursor(name, batch.Cursor); err != nil {
			return Batch{}, notices, err
		}
	}
	return batch, notices, nil
}

// unreadMail is a mailbox opened at its acknowledged position.
type unreadMail struct {
	file    atomicfile.File
	size    int64
	at      Cursor
	notices []Notice
}

func (u *unreadMail) close() { _ = u.file.Close() } // read only: nothing can be lost

// unread opens the mailbox of name at its position; nil if there is none.
func (d *Dir) unread(ctx context.Context, name autonomy.AgentName) (*unreadMail, error) {
	err := d.usable(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, info, err := d.open(d.Path(name), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at, why, err := d.position(name, f, info)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	u := &unreadMail{file: f, size: info.Size(), at: at}
	if why != "" {
		u.notices = []Notice{{
			Kind: NoticeRewound, Mailbox: string(name),
			Text: fmt.Sprintf("mail of %s is read from the start: %s", name, why),
		}}
	}
	return u, nil
}

// lines reads from the position on.
func (u *unreadMail) lines() *lines {
	rest := u.size - u.at.Offset
	return newLines(io.NewSectionReader(u.file, u.at.Offset, rest), u.at.Logical, u.at.Lines, rest)
}

// reader knows the ids that the cursor kept.
func (u *unreadMail) reader() *reader {
	r := &reader{seen: map[autonomy.MessageID]int64{}}
	for _, id := range u.at.IDs {
		r.seen[autonomy.MessageID(id)] = 0
	}
	return r
}

func (u *unreadMail) batch() (Batch, error) {
	batch := Batch{Cursor: u.at}
	understand, lines := u.reader(), u.lines()
	for read := 0; ; read++ {
		if batch.Cursor.Offset-u.at.Offset >= maxBatchBytes || read >= maxBatchLines {
			batch.More = batch.Cursor.Offset < u.size
			break
		}
		raw, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Batch{}, err
		}
		state, m, err := understand.classify(raw)
		if state == Waiting {
			break
		}
		switch state {
		case Delivered:
			batch.Messages = append(batch.Messages, m)
			batch.Cursor.IDs = append(batch.Cursor.IDs, string(m.ID))
		case Rejected:
			batch.Rejected = append(batch.Rejected, rejection(raw, err))
		}
		batch.Cursor.Offset += raw.original
		batch.Cursor.Logical += raw.original
		batch.Cursor.Lines++
	}
	if extra := len(batch.Cursor.IDs) - cursorIDs; extra > 0 {
		batch.Cursor.IDs = batch.Cursor.IDs[extra:]
	}
	if batch.Cursor.Offset == u.at.Offset {
		return batch, nil
	}
	hash, err := windowHash(u.file, batch.Cursor.Offset)
	batch.Cursor.Hash = hash
	return batch, err
}

// Unread counts the messages that are not acknowledged yet.
func (d *Dir) Unread(ctx context.Context, name autonomy.AgentName) (int, error) {
	mailbox, err := d.unread(ctx, name)
	if err != nil {
		return 0, fmt.Errorf("count mail of %s: %w", name, err)
	}
	if mailbox == nil {
		return 0, nil
	}
	defer mailbox.close()
	understand, lines := mailbox.reader(), mailbox.lines()
	for count := 0; ; {
		raw, err := lines.next()
		if errors.Is(err, io.EOF) {
			return count, nil
		}
		if err != nil {
			return 0, fmt.Errorf("count mail of %s: %w", name, err)
		}
		if state, _, _ := understand.classify(raw); state == Delivered {
			count++
		}
	}
}
