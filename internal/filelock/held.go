package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Held is an exclusive lock that a process keeps for its life, on a file that says who it is.
type Held struct {
	lock *flock.Flock
	path string
}

// Hold takes path exclusively and then writes info into it, which others may read and must not trust. It waits up to
// wait (0 or less = one attempt; give it some time, for Holder takes the lock for an instant). When the lock stays taken
// the error is a *BusyError whose Holder is the first line of what the other wrote.
func Hold(ctx context.Context, path string, info []byte, wait time.Duration) (*Held, error) {
	l := &Lock{path: path, wait: max(wait, 0), perm: 0o600}
	lock, err := l.poll(ctx, time.Now(), (*flock.Flock).TryLock)
	if err != nil {
		return nil, err
	}
	h := &Held{lock: lock, path: path}
	if err := h.write(info); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), lock.Unlock())
	}
	return h, nil
}

// write replaces the content of the locked file. It opens the path again, because the descriptor with the lock is for
// reading, and makes sure that it got the same file.
func (h *Held) write(info []byte) error {
	f, err := os.OpenFile(h.path, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if !samePlace(h.lock, h.path) || !samePlace(f, h.path) {
		return errors.Join(errors.New("the lock file was replaced"), f.Close())
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.Write(info)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// InPlace reports whether the locked file is still the one at its path. If not, someone removed or replaced it, and others
// can take the lock that lies there now.
func (h *Held) InPlace() bool { return samePlace(h.lock, h.path) }

// Release gives the lock back. The file stays, with its content: only the lock says whether anyone lives.
func (h *Held) Release() error { return h.lock.Unlock() }

// Holder reports whether anyone holds path exclusively, and what the file says. It does not wait and creates nothing; a
// file that does not exist is not held, and its info is nil. The info of a lock that is not held is that of the last
// holder.
func Holder(path string) (info []byte, held bool, err error) {
	f := flock.New(path, flock.SetFlag(openFlags))
	free, err := f.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	info = readInfo(path)
	if free {
		err = f.Unlock()
	}
	return info, !free, err
}

// OpenShared takes path shared and returns the open file that carries the lock, for a process that keeps it for its
// life: the lock ends with the last descriptor, so a child that inherits the file holds it too. release closes it. Its
// bound and errors are those of Acquire.
func OpenShared(ctx context.Context, path string) (file *os.File, release func() error, err error) {
	err = await(ctx, path, time.Now(), defaultWait, func() (bool, error) {
		file, err = shareOnce(path)
		return file != nil, err
	})
	if err != nil {
		return nil, nil, err
	}
	return file, file.Close, nil
}

// shareOnce is once for a file that the caller owns; the flock package gives its descriptor to nobody.
func shareOnce(path string) (*os.File, error) {
	f, err := os.OpenFile(path, openFlags|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil && samePlace(f, path) {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return nil, errors.Join(err, f.Close())
}
