package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

func TestInTrouble(t *testing.T) {
	plain := errors.New("no such tool")
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"nothing", nil, false},
		{"an error without a number", plain, false},
		{"marked", fmt.Errorf("start: %w", Trouble(plain)), true},
		{"no descriptors, deep down", fmt.Errorf("run: %w", &fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}), true},
		{"disk full", syscall.ENOSPC, true},
		{"a file that is not there", &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, false},
		{"not allowed", syscall.EACCES, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := InTrouble(tc.err); got != tc.want {
				t.Errorf("InTrouble(%v) = %v", tc.err, got)
			}
		})
	}
}

func TestAMarkKeepsTheErrorAsItIs(t *testing.T) {
	err := Trouble(syscall.ENOENT)
	if err.Error() != syscall.ENOENT.Error() || !errors.Is(err, syscall.ENOENT) || Trouble(nil) != nil {
		t.Errorf("%v, %v", err, Trouble(nil))
	}
}
