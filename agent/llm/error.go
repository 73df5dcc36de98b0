package llm

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Class is why a completion failed. The set is closed; what a caller does depends on the class alone.
type Class string

// The classes, in the order in which they are recognised.
const (
	Cancelled Class = "cancelled" // our own context ended; nothing is counted
	Auth      Class = "auth"      // the key is missing, wrong or not allowed
	Quota     Class = "quota"     // the account is spent, or the wait would be too long
	Rate      Class = "rate"      // too many requests; a later one may pass
	Overflow  Class = "overflow"  // the prompt does not fit the window; compact and send again
	Param     Class = "param"     // the server refuses a field of the request
	NoModel   Class = "model"     // no such model, or it cannot use tools
	Content   Class = "content"   // a filter or moderation refused
	Server    Class = "server"    // the server failed
	Transport Class = "transport" // the connection failed or stalled
	Cut       Class = "cut"       // the answer ended before it was complete
	Empty     Class = "empty"     // neither text nor call after all tries
	Protocol  Class = "protocol"  // the answer is not that of a chat API; check the base URL
)

// Transient reports whether the same request may succeed later without a person's help.
func (c Class) Transient() bool {
	switch c {
	case Rate, Server, Transport, Cut:
		return true
	default:
		return false
	}
}

// Error is every failure of a Client. Its text never holds a key and is at most a few hundred characters long.
type Error struct {
	Class Class
	// Status is the HTTP status, 0 when there was none.
	Status int
	// RetryAfter is the wait the server asked for, 0 when it did not say.
	RetryAfter time.Duration
	Provider   string
	Model      string
	// Message is what the server or the transport said, redacted and cut.
	Message string
	// Hint says what a person can do about it.
	Hint string
	// Param is the request field a param error names.
	Param string
	// Window is the context window in tokens that an overflow error names, 0 when it does not.
	Window int
	// Tries is how many requests were made in vain.
	Tries int
	// Final says that trying again is pointless although the class is transient (a bad certificate, an unknown host).
	Final bool
	// Err is the cause, if there is one in this process (a network error, context.Canceled).
	Err error
}

// Error renders provider, model, class, status, message and hint on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Provider != "" {
		b.WriteString(e.Provider)
		if e.Model != "" {
			b.WriteString("/" + e.Model)
		}
		b.WriteString(": ")
	}
	b.WriteString(string(e.Class))
	if e.Status != 0 {
		b.WriteString(" (HTTP " + strconv.Itoa(e.Status) + ")")
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap gives the cause, so that errors.Is finds context.Canceled and network errors.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf is the class of err, or "" if err holds no *Error.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}
