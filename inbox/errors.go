package inbox

import (
	"errors"
	"fmt"
)

// ErrName is what every *NameError is.
var ErrName = errors.New("not the name of a mailbox")

// NameError says why a name cannot have a mailbox. It is decided before any file is touched.
type NameError struct {
	Name   string
	Reason string
}

func (e *NameError) Error() string { return fmt.Sprintf("mailbox %q: %s", e.Name, e.Reason) }

// Is makes errors.Is(err, ErrName) hold.
func (e *NameError) Is(target error) bool { return target == ErrName }

// ErrTooLong is what every *TooLongError is.
var ErrTooLong = errors.New("message too long")

// TooLongError says that a message does not fit in one line. Sizes are bytes of the encoded line with its newline.
type TooLongError struct{ Size, Limit int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("message too long: %d bytes as a line, at most %d", e.Size, e.Limit)
}

// Is makes errors.Is(err, ErrTooLong) hold.
func (e *TooLongError) Is(target error) bool { return target == ErrTooLong }

// ErrFull is what every *FullError is.
var ErrFull = errors.New("mailbox full")

// FullError says that a mailbox holds as much unread mail as it may. Nothing was written.
type FullError struct {
	Name     string
	Messages int64 // unread lines
	Bytes    int64 // unread bytes
}

func (e *FullError) Error() string {
	return fmt.Sprintf("mailbox of %s is full: %d unread messages, %d bytes", e.Name, e.Messages, e.Bytes)
}

// Is makes errors.Is(err, ErrFull) hold.
func (e *FullError) Is(target error) bool { return target == ErrFull }

// UnknownKindError says that a message has a type outside the closed set.
type UnknownKindError struct{ Kind Kind }

func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("unknown type %q of message", string(e.Kind))
}
