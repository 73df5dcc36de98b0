package eventlog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// followEvery is how often Follow looks for more.
const followEvery = 100 * time.Millisecond

// Follow yields the records from number from on (0 = all), and then those that are appended, until ctx ends or the
// caller stops. It reads the files, so it never shows what is not there; a log that does not exist yet is waited for,
// an unfinished record too. It ends with an error as Read does, or without one when ctx ends.
func Follow(ctx context.Context, path string, from int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		wanted := func(r Record, err error) bool {
			return r.Seq < from || yield(r, err)
		}
		fsys := atomicfile.OS()
		for seq := int64(0); ; {
			p, err := openNext(fsys, path, seq)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				err = pause(ctx)
			case err == nil && p.current:
				seq, err = p.follow(ctx, seq, wanted)
				err = errors.Join(err, p.close())
			case err == nil:
				seq, err = p.records(seq, wanted)
				err = errors.Join(err, p.close())
			}
			if err != nil {
				if !errors.Is(err, errStopped) && ctx.Err() == nil {
					yield(Record{}, err)
				}
				return
			}
		}
	}
}

// follow yields the records of the current file as they come, and returns without error when it was put aside and read
// to its end.
func (p part) follow(ctx context.Context, seq int64, yield func(Record, error) bool) (int64, error) {
	info, err := p.file.Stat()
	if err != nil {
		return seq, err
	}
	s := &scan{path: p.path, src: p.file, seq: seq}
	for aside := false; ; {
		r, err := s.next()
		switch {
		case err == nil:
			if !yield(r, nil) {
				return s.seq, errStopped
			}
			continue
		case !errors.Is(err, io.EOF) && !errors.Is(err, ErrTorn):
			return s.seq, err
		case aside:
			return s.seq, nil
		}
		if now, err := p.file.Stat(); err != nil {
			return s.seq, err
		} else if now.Size() < s.offset {
			return s.seq, s.damaged("the file was cut")
		}
		if now, err := os.Lstat(p.path); err != nil || !os.SameFile(now, info) {
			aside = true // once more: the last records may have come before the rename
			continue
		}
		if err := pause(ctx); err != nil {
			return s.seq, err
		}
	}
}

func pause(ctx context.Context) error {
	timer := time.NewTimer(followEvery)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
