// Package filelock excludes goroutines and processes from each other by advisory locks on permanent files.
//
// Rules that its users keep: lock a side file that is never renamed or removed, never the data file; hold a lock for the
// shortest time and never across a model call, a prompt or the network. A lock ends with its process, so there is no
// judging by age and no cleaning up. Every wait is bounded.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// ErrBusy says that someone else held the lock for as long as the caller was ready to wait. The error that wraps it is a
// *BusyError.
var ErrBusy = errors.New("lock is busy")

// BusyError is an ErrBusy with what is known about it.
type BusyError struct {
	Path   string
	Holder string // first line of the lock file, where its holder writes one; "" = unknown
	Waited time.Duration
}

// Error names the file, and the holder if it is known.
func (e *BusyError) Error() string {
	by := ""
	if e.Holder != "" {
		by = " by " + e.Holder
	}
	return fmt.Sprintf("%s is locked%s (waited %v)", e.Path, by, about(e.Waited))
}

// about leaves out of a long wait what differs each time, so that the same trouble reads the same.
func about(d time.Duration) time.Duration {
	if d >= time.Second {
		return d.Truncate(time.Second)
	}
	return d.Round(time.Millisecond)
}

// Is makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

const (
	defaultWait = 2 * time.Second
	firstStep   = 50 * time.Microsecond // a critical section of the board takes a few hundred
	lastStep    = 2 * time.Millisecond
	maxInfo     = 4096 // bytes of a lock file that are looked at
)

// openFlags do not follow a link that someone put in the lock's place and do not wait at a named pipe.
const openFlags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// Config describes a lock.
type Config struct {
	Path string        // its folder must exist
	Wait time.Duration // how long an acquisition may take in all; 0 = 2 s
	Perm fs.FileMode   // of the file when it is created, subject to the umask; 0 = 0600
}

// Lock is a lock that is acquired again and again, by any number of goroutines.
type Lock struct {
	path  string
	wait  time.Duration
	perm  fs.FileMode
	queue queue // exclusion within the process, before the disk is asked
}

// New returns a lock on path with the default bound and permissions. It touches no file.
func New(path string) *Lock { return Open(Config{Path: path}) }

// Open returns a lock as c says. It touches no file.
func Open(c Config) *Lock {
	l := &Lock{path: c.Path, wait: c.Wait, perm: c.Perm}
	if l.wait <= 0 {
		l.wait = defaultWait
	}
	if l.perm == 0 {
		l.perm = 0o600
	}
	return l
}

// Acquire takes the lock for this goroutine alone and returns what gives it back, to be called once. The error is that
// of ctx when it ended, a *BusyError when the bound passed, or what opening the file gave.
func (l *Lock) Acquire(ctx context.Context) (unlock func() error, err error) {
	begin := time.Now()
	var held *flock.Flock
	if turn := l.queue.join(); turn != nil {
		got, err := l.stand(ctx, turn, begin)
		if err != nil {
			return nil, err
		}
		held = got.held
	}
	if held == nil || !samePlace(held, l.path) {
		if held != nil { // the file was removed or replaced: what is held excludes nobody who comes now
			_ = held.Unlock()
		}
		if held, err = l.poll(ctx, begin, (*flock.Flock).TryLock); err != nil {
			_ = l.release(nil)
			return nil, err
		}
		l.queue.locked()
	}
	return func() error { return l.release(held) }, nil
}

// stand waits for the caller's turn.
func (l *Lock) stand(ctx context.Context, turn chan grant, begin time.Time) (grant, error) {
	bound := time.NewTimer(l.wait)
	defer bound.Stop()
	var err error
	select {
	case got := <-turn:
		return got, nil
	case <-ctx.Done():
		err = fmt.Errorf("lock %s: %w", l.path, ctx.Err())
	case <-bound.C:
		err = &BusyError{Path: l.path, Holder: readHolder(l.path), Waited: time.Since(begin)}
	}
	if late, granted := l.queue.leave(turn); granted {
		_ = l.release(late.held)
	}
	return grant{}, err
}

// release ends a turn. The file is unlocked before the next goroutine is woken to lock it anew.
func (l *Lock) release(held *flock.Flock) (err error) {
	unlock, woken := l.queue.next(held)
	if unlock != nil {
		err = unlock.Unlock()
	}
	if woken != nil {
		woken <- grant{}
	}
	return err
}

// AcquireShared takes the lock together with others that share it, and excludes Acquire. Its unlock and errors are those
// of Acquire.
func (l *Lock) AcquireShared(ctx context.Context) (unlock func() error, err error) {
	held, err := l.poll(ctx, time.Now(), (*flock.Flock).TryRLock)
	if err != nil {
		return nil, err
	}
	return held.Unlock, nil
}

// poll tries until it has the lock or the bound, counted from begin, has passed.
func (l *Lock) poll(ctx context.Context, begin time.Time, try func(*flock.Flock) (bool, error)) (held *flock.Flock, err error) {
	err = await(ctx, l.path, begin, l.wait, func() (bool, error) {
		held, err = l.once(try)
		return held != nil, err
	})
	return held, err
}

// await calls once until it succeeds or fails, in steps that grow: most waits are for a neighbour who is done in
// microseconds.
func await(ctx context.Context, path string, begin time.Time, wait time.Duration, once func() (bool, error)) error {
	for step := firstStep; ; step = min(step*3/2, lastStep) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("lock %s: %w", path, err)
		}
		done, err := once()
		if err != nil {
			return fmt.Errorf("lock %s: %w", path, err)
		}
		if done {
			return nil
		}
		waited := time.Since(begin)
		if waited >= wait {
			return &BusyError{Path: path, Holder: readHolder(path), Waited: waited}
		}
		pause(ctx, min(step/2+rand.N(step), wait-waited))
	}
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// once tries one time, with a fresh Flock: one object that is locked twice says yes twice. It returns nil when the lock
// is taken, or when what it got hold of is no longer the file at the path: someone removed or replaced it, and those who
// come now lock the new one.
func (l *Lock) once(try func(*flock.Flock) (bool, error)) (*flock.Flock, error) {
	f := flock.New(l.path, flock.SetFlag(openFlags|os.O_CREATE), flock.SetPermissions(l.perm))
	ok, err := try(f)
	if err != nil || !ok {
		return nil, err
	}
	if !samePlace(f, l.path) {
		return nil, f.Unlock()
	}
	return f, nil
}

// samePlace reports whether the descriptor that f holds is the file at path.
func samePlace(f interface{ Stat() (fs.FileInfo, error) }, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(held, there)
}

// readHolder returns the first line of a lock file, for a message.
func readHolder(path string) string {
	line, _, _ := strings.Cut(string(readInfo(path)), "\n")
	return strings.TrimSpace(line)
}

// readInfo returns the start of a lock file, nothing if it cannot be read: it is information, never a decision.
func readInfo(path string) []byte {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, _ := io.ReadAll(io.LimitReader(f, maxInfo))
	return info
}
