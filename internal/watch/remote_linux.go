package watch

import "syscall"

// Remote returns the name of the network or user-space file system that dir lies on, "" for a local one or when it
// cannot be known. On such a file system changes that others make raise no events, and locks may be local or absent.
func Remote(dir string) string {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return ""
	}
	return remoteName(uint32(st.Type))
}

// remoteName knows the magic numbers of statfs(2).
func remoteName(magic uint32) string {
	switch magic {
	case 0x6969:
		return "nfs"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "smb"
	case 0x01021997:
		return "9p"
	case 0x65735546:
		return "fuse"
	case 0x5346414f, 0x6b414653:
		return "afs"
	case 0x00c36400:
		return "ceph"
	}
	return ""
}
