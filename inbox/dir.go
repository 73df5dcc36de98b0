package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// Config of a Dir. A zero field other than Path takes its default.
type Config struct {
	Path        string           // the folder of the mailboxes; made by the first Send when it is missing
	FS          atomicfile.FS    // default atomicfile.OS()
	Now         func() time.Time // default time.Now
	MaxMessages int              // unread messages a mailbox may hold, default 50,000
	MaxBytes    int64            // unread bytes a mailbox may hold, default 64 MiB
	Report      func(Notice)     // called on the caller's goroutine, never under a lock; default drops
}

// Dir is a folder of mailboxes. Any number of processes may send to one mailbox; one reader at a time receives from it.
// All methods may be called from any goroutine.
type Dir struct{}

// Open returns the mailboxes in a folder. It touches no file.
func Open(cfg Config) (*Dir, error) {
	if cfg.Path == "" {
		return nil, errors.New("inbox: Path is required")
	}
	return &Dir{}, nil
}

// Send appends a message to the mailbox of m.To and returns it as stored, with id and time filled in.
func (d *Dir) Send(ctx context.Context, m Message) (Message, error) { return m, ctx.Err() }

// Receive returns the mail of name that is not acknowledged yet.
func (d *Dir) Receive(ctx context.Context, name string) (Batch, error) { return Batch{}, ctx.Err() }

// Ack records that everything before c is in the reader's durable transcript.
func (d *Dir) Ack(ctx context.Context, name string, c Cursor) error { return ctx.Err() }

// Unread counts the messages that are not acknowledged yet.
func (d *Dir) Unread(ctx context.Context, name string) (int, error) { return 0, ctx.Err() }

// Peek lists the newest messages, oldest of them first, and consumes nothing.
func (d *Dir) Peek(ctx context.Context, name string, limit int) ([]Listed, error) {
	return nil, ctx.Err()
}

// Waiting says cheaply whether there is something to Receive.
func (d *Dir) Waiting(name string) (bool, error) { return false, nil }
