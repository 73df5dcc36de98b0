package daemon

import (
	"net"
	"os"

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
	var peer control.Peer
	var failure error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, failure = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failure != nil {
			return
		}
		peer.UID = int(cred.Uid)
		peer.PID, failure = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	return peer, err == nil && failure == nil
}

// isDescendant walks up from pid. There is no subreaper here, so a command that forks twice gets away from this check;
// the trust and approval rules then rest on the sandbox.
func isDescendant(pid int) bool {
	self := os.Getpid()
	if pid == self {
		return false
	}
	for range 1024 {
		if pid == self {
			return true
		}
		if pid <= 1 {
			return false
		}
		info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil {
			return true
		}
		pid = int(info.Eproc.Ppid)
	}
	return true
}

// hardenProcess has no equivalent worth its side effects here.
func hardenProcess() error { return nil }
