package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Staged is a complete, synced file under a temporary name, waiting to get its own. One of Commit, CommitNew and
// Discard ends it; after the first of them Discard does nothing, so that it can be deferred.
type Staged struct {
	fsys FS
	temp string
	path string
	done bool
}

// Stage writes data to a new temporary file beside path, syncs and closes it. perm is subject to the umask. On an error
// nothing is left behind (if the disk lets it be removed; Sweep takes the rest). It may run outside any lock: nobody
// looks at temporaries.
func Stage(fsys FS, path string, data []byte, perm fs.FileMode) (*Staged, error) {
	temp := temporaryName(path)
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, perm)
	if err != nil {
		return nil, fmt.Errorf("stage %s: %w", path, nameless(err))
	}
	if err := fill(f, data); err != nil {
		_ = fsys.Remove(temp)
		return nil, fmt.Errorf("stage %s: %w", path, nameless(err))
	}
	return &Staged{fsys: fsys, temp: temp, path: path}, nil
}

// fill writes, syncs and closes. A failed sync is final: the kernel may have dropped the pages, so the caller throws the
// file away and writes another.
func fill(f File, data []byte) error {
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = tolerate(f.Sync())
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// Commit gives the file its name, in place of whatever had it. On failure the temporary is removed. The folder is not
// synced: call SyncDir where power loss must not bring the old file back.
func (s *Staged) Commit() error {
	if err := s.end(); err != nil {
		return err
	}
	if err := s.fsys.Rename(s.temp, s.path); err != nil {
		_ = s.fsys.Remove(s.temp)
		return fmt.Errorf("replace %s: %w", s.path, nameless(err))
	}
	return nil
}

// CommitNew gives the file its name if nothing has it yet; otherwise the error is fs.ErrExist and the temporary is
// gone. Where the file system has no hard links it looks first and then renames, which is exact only under a lock that
// all creators hold.
func (s *Staged) CommitNew() error {
	if err := s.end(); err != nil {
		return err
	}
	err := s.fsys.Link(s.temp, s.path)
	if err == nil {
		// The file is in place. A temporary that cannot be removed is a second name for it, which Sweep takes.
		_ = s.fsys.Remove(s.temp)
		return nil
	}
	if noLinks(err) {
		if err = s.renameNew(); err == nil {
			return nil
		}
	}
	_ = s.fsys.Remove(s.temp)
	return fmt.Errorf("create %s: %w", s.path, nameless(err))
}

func (s *Staged) renameNew() error {
	switch _, err := s.fsys.Lstat(s.path); {
	case err == nil:
		return fs.ErrExist
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return s.fsys.Rename(s.temp, s.path)
}

// Discard removes the temporary.
func (s *Staged) Discard() error {
	if s.done {
		return nil
	}
	s.done = true
	if err := s.fsys.Remove(s.temp); err != nil {
		return fmt.Errorf("discard what was staged for %s: %w", s.path, nameless(err))
	}
	return nil
}

// end marks the staged file as used up.
func (s *Staged) end() error {
	if s.done {
		return fmt.Errorf("commit %s: %w", s.path, fs.ErrClosed)
	}
	s.done = true
	return nil
}

// Replace writes data to path durably: Stage, Commit, SyncDir. When only the last fails, the new file is in place but a
// power cut may bring the old one back.
func Replace(fsys FS, path string, data []byte, perm fs.FileMode) error {
	s, err := Stage(fsys, path, data, perm)
	if err != nil {
		return err
	}
	if err := s.Commit(); err != nil {
		return err
	}
	return SyncDir(fsys, filepath.Dir(path))
}

// SyncDir makes the names in a folder durable. File systems that cannot sync a folder are taken at their word.
func SyncDir(fsys FS, dir string) error {
	d, err := fsys.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	err = tolerate(d.Sync())
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}

// nameless is an error of the disk without the name of the temporary: that says nothing to anybody, and is another one
// each time, so that the same trouble would never read the same.
func nameless(err error) error {
	var one *fs.PathError
	var two *os.LinkError
	switch {
	case errors.As(err, &one):
		return fmt.Errorf("%s: %w", one.Op, one.Err)
	case errors.As(err, &two):
		return fmt.Errorf("%s: %w", two.Op, two.Err)
	}
	return err
}

// tolerate forgives a sync that the file system does not have. Every other failure stands.
func tolerate(err error) error {
	if errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// noLinks reports whether a failed link means that this file system, or a rule of the kernel, knows no hard links here.
func noLinks(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EMLINK} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

func temporaryName(path string) string {
	var random [randomBytes]byte
	rand.Read(random[:]) // never returns an error
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+hex.EncodeToString(random[:])+tempSuffix)
}
