// Package atomicfile writes files that are whole or absent.
//
// Every write of durable state goes: temporary file in the same folder, write, sync, close, rename, and where power
// loss must not undo it, sync of the folder. All calls to the disk pass through FS, so that a test can fail any one of
// them.
package atomicfile

import (
	"io"
	"io/fs"
)

// FS is the seam between the durable stores and the disk. Names are paths of the operating system. OS returns the real
// one; package faultfs wraps one and fails chosen calls.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Rename(oldname, newname string) error
	Link(oldname, newname string) error
	Remove(name string) error
	MkdirAll(name string, perm fs.FileMode) error
}

// File is what the stores need of an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Seeker
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}
