package cli

import (
	"errors"
	"fmt"
)

// Exit statuses, documented in docs/guides/cli.md. A script may rely on them.
const (
	ExitOK         = 0
	ExitFailed     = 1 // the command could not do it; the reason is on standard error
	ExitUsage      = 2 // the command line or the configuration is wrong
	ExitRunning    = 3 // a daemon already runs here
	ExitUnfinished = 4 // tasks are left for a person
	ExitNoDaemon   = 5 // the command needs a running daemon
	ExitTimeout    = 6 // the wait ended before the work did
)

// failure is an error with the exit status and the advice that go with it. A failure without text exits in silence:
// everything has been said.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// usage says that the command line is wrong.
func usage(format string, args ...any) error {
	return &failure{code: ExitUsage, err: fmt.Errorf(format, args...)}
}

// silent ends the command with a status that its output has already explained.
func silent(code int) error {
	if code == ExitOK {
		return nil
	}
	return &failure{code: code}
}

// hinted attaches advice to err; its exit status is decided as for err alone.
func hinted(err error, format string, args ...any) error {
	var f *failure
	if errors.As(err, &f) {
		return &failure{code: f.code, err: f.err, hint: fmt.Sprintf(format, args...)}
	}
	return &failure{code: ExitFailed, err: err, hint: fmt.Sprintf(format, args...)}
}
