//go:build !linux

package sandbox

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const cleanUp = "a process that leaves the process group of its command is not found"

// closeOnExec marks the launcher's own descriptors. Others can't be listed portably.
func closeOnExec() error {
	unix.CloseOnExec(orderFD)
	unix.CloseOnExec(statusFD)
	return nil
}

// becomeReaper does nothing: only Linux re-parents orphans to a process other than the first.
func becomeReaper() error { return nil }

func commandAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// children is empty: the process group is all that can be reached.
func children() []int { return nil }
