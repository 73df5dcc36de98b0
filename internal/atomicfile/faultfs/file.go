package faultfs

import (
	"io/fs"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// file counts and fails the calls on one open file.
type file struct {
	fsys *FS
	base atomicfile.File
	name string
}

func (f *file) Read(p []byte) (int, error) {
	if err := f.fsys.fault("read", f.name); err != nil {
		return 0, err
	}
	return f.base.Read(p)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fsys.fault("read", f.name); err != nil {
		return 0, err
	}
	return f.base.ReadAt(p, off)
}

func (f *file) Write(p []byte) (int, error) {
	err := f.fsys.fault("write", f.name)
	if err == nil {
		return f.base.Write(p)
	}
	if !f.fsys.plan.Short {
		return 0, err
	}
	n, _ := f.base.Write(p[:len(p)/2])
	return n, err
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	if err := f.fsys.fault("seek", f.name); err != nil {
		return 0, err
	}
	return f.base.Seek(offset, whence)
}

// Close closes the base in any case: a failed close has given the descriptor back too.
func (f *file) Close() error {
	fault := f.fsys.fault("close", f.name)
	if err := f.base.Close(); fault == nil {
		return err
	}
	return fault
}

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.fsys.fault("stat", f.name); err != nil {
		return nil, err
	}
	return f.base.Stat()
}

func (f *file) Sync() error {
	if err := f.fsys.fault("sync", f.name); err != nil {
		return err
	}
	return f.base.Sync()
}

func (f *file) Truncate(size int64) error {
	if err := f.fsys.fault("truncate", f.name); err != nil {
		return err
	}
	return f.base.Truncate(size)
}
