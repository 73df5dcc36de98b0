package daemon

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/autonomy-team/autonomy/internal/control"
)

// peerOf asks the kernel who connected.
func peerOf(conn net.Conn) (control.Peer, bool) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return control.Peer{}, false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return control.Peer{}, false
	}
	var cred *unix.Ucred
	var failure error
	err = raw.Control(func(fd uintptr) { cred, failure = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil || failure != nil {
		return control.Peer{}, false
	}
	return control.Peer{PID: int(cred.Pid), UID: int(cred.Uid)}, true
}

// isDescendant walks up from pid. A command of an agent can't escape by a new session or by double forking: its
// launcher is a subreaper and a child of this process. A process that can't be looked at counts as one.
func isDescendant(pid int) bool {
	self := os.Getpid()
	if pid == self {
		return false // the daemon's own process, in tests
	}
	for range 1024 {
		if pid == self {
			return true
		}
		if pid <= 1 {
			return false
		}
		parent, err := parentOf(pid)
		if err != nil {
			return true
		}
		pid = parent
	}
	return true
}

// parentOf reads the fourth field of /proc/PID/stat; the second may hold spaces and parentheses.
func parentOf(pid int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 2 {
		return 0, fmt.Errorf("read /proc/%d/stat: too short", pid)
	}
	return strconv.Atoi(string(fields[1]))
}

// hardenProcess keeps other processes of the user, an agent's commands among them, from reading this one's memory and
// environment, where keys are.
func hardenProcess() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
