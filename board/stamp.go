package board

import (
	"io/fs"
	"syscall"
	"time"
)

// fileStamp tells whether a file has changed without reading it.
type fileStamp struct {
	inode uint64
	size  int64
	mtime int64 // ns since 1970
	mode  fs.FileMode
}

func stampOf(info fs.FileInfo) fileStamp {
	s := fileStamp{size: info.Size(), mtime: info.ModTime().UnixNano(), mode: info.Mode()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
	}
	return s
}

// racy is how long after a change another one may leave the same stamp, on file systems with coarse clocks.
const racy = 2 * time.Second

// young reports whether a file that was looked at at a time could change again without its stamp showing it.
func (s fileStamp) young(at time.Time) bool {
	age := at.Sub(time.Unix(0, s.mtime))
	return -racy < age && age < racy
}
