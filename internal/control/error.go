package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// ErrNotRunning says that no daemon runs for the workspace.
var ErrNotRunning = errors.New("daemon not running")

// Code classifies an Error for programs.
type Code string

// The codes, each with the HTTP status it travels with.
const (
	CodeInvalid     Code = "invalid"      // 400: the request can't be understood or names something impossible
	CodeForbidden   Code = "forbidden"    // 403: this peer may not do that
	CodeNotFound    Code = "not_found"    // 404: no such member, request or route
	CodeConflict    Code = "conflict"     // 409: a live name, a request answered already, a roster that is full
	CodeRunning     Code = "running"      // 409: a daemon runs already; only a start gets it
	CodeTooLarge    Code = "too_large"    // 413
	CodeUntrusted   Code = "untrusted"    // 412: the workspace waits for a person's trust
	CodeNeedsModel  Code = "needs_model"  // 412: no model is configured, or its key is missing
	CodeBusy        Code = "busy"         // 503: too many calls at once, or a lock is held by someone else
	CodeStopping    Code = "stopping"     // 503: the daemon is on its way down
	CodeInternal    Code = "internal"     // 500
	CodeUnsupported Code = "unsupported"  // 501: this version can't do that yet
	CodeVersion     Code = "bad_protocol" // 400: the peers speak different protocol versions
)

// Error is the body of every answer that is not a success.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"error"`
	Hint    string `json:"hint,omitempty"` // what to do about it
}

// Error gives the message alone; a face prints the hint on a line of its own.
func (e *Error) Error() string { return e.Message }

// Errorf makes an Error without a hint.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// VersionError says that the daemon was started by another version of the program.
type VersionError struct {
	Daemon string
	Client string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the daemon runs version %s, this is version %s: run autonomy down, then up", e.Daemon, e.Client)
}

// status is the HTTP status an error travels with.
func (c Code) status() int {
	switch c {
	case CodeInvalid, CodeVersion:
		return http.StatusBadRequest
	case CodeForbidden:
		return http.StatusForbidden
	case CodeNotFound:
		return http.StatusNotFound
	case CodeConflict, CodeRunning:
		return http.StatusConflict
	case CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeUntrusted, CodeNeedsModel:
		return http.StatusPreconditionFailed
	case CodeBusy, CodeStopping:
		return http.StatusServiceUnavailable
	case CodeUnsupported:
		return http.StatusNotImplemented
	case CodeInternal:
	}
	return http.StatusInternalServerError
}

// encodeError is the body of an error answer.
func encodeError(e *Error) []byte {
	data, err := json.Marshal(e)
	if err != nil { // only strings are in it
		return []byte(`{"code":"internal","error":"the error can't be written"}`)
	}
	return append(data, '\n')
}
