// Package machine tells trouble of the machine (no descriptors, processes, memory or disk left) from trouble with what
// was to be done on it. Whoever could not begin something for such a reason may try it again later, and must not hold it
// against the thing.
package machine

import (
	"errors"
	"syscall"
)

// ErrTrouble is wrapped by every error that Trouble has marked.
var ErrTrouble = errors.New("trouble of the machine")

// Trouble marks an error as one of the machine, whatever it wraps. Its text stays; nil stays nil.
func Trouble(err error) error {
	if err == nil {
		return nil
	}
	return &troubled{err}
}

type troubled struct{ err error }

func (e *troubled) Error() string   { return e.err.Error() }
func (e *troubled) Unwrap() []error { return []error{e.err, ErrTrouble} }

// InTrouble reports whether an error is one of the machine: it was marked, or an error number that only the machine is
// to blame for is behind it.
func InTrouble(err error) bool {
	var number syscall.Errno
	return errors.Is(err, ErrTrouble) || errors.As(err, &number) && exhausted(number)
}

func exhausted(number syscall.Errno) bool {
	switch number {
	case syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, // descriptors, processes, memory
		syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO: // the disk
		return true
	}
	return false
}
