// Package faultfs fails chosen disk calls, so that a test can show what a store does after each of them.
//
// The method is that of SQLite's tests: run an operation with call 1 failing, then with call 2, and so on until a run
// meets no fault; once with a single fault and once with everything failing from there on. Each does the loop.
package faultfs

import (
	"io/fs"
	"sync"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// Plan says which calls fail. The zero value lets all pass, which counts them.
type Plan struct {
	Call  int   // the number of the first call that fails, from 1; 0 = none
	On    bool  // all calls after it fail as well
	Err   error // what a failed call returns, usually a syscall.Errno; it is wrapped as the os package does
	Short bool  // a failing Write puts down half of its bytes first
}

// FS passes calls to another file system and fails those that its plan names. Calls on files it opened count too. It is
// safe for several goroutines.
type FS struct {
	base atomicfile.FS
	plan Plan

	mu     sync.Mutex
	calls  int
	faults int
}

// New returns a file system over base.
func New(base atomicfile.FS, plan Plan) *FS {
	return &FS{base: base, plan: plan}
}

// Calls returns how many calls there have been, failed ones included.
func (f *FS) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Faults returns how many calls have been failed.
func (f *FS) Faults() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.faults
}

// fault counts a call and returns its error if it is to fail.
func (f *FS) fault(op, path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.plan.Call == 0 || f.calls < f.plan.Call || f.calls > f.plan.Call && !f.plan.On {
		return nil
	}
	f.faults++
	return &fs.PathError{Op: op, Path: path, Err: f.plan.Err}
}

// OpenFile opens by the base and wraps the file.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	if err := f.fault("open", name); err != nil {
		return nil, err
	}
	base, err := f.base.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &file{fsys: f, base: base, name: name}, nil
}

// Lstat is that of the base, or the fault.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.fault("lstat", name); err != nil {
		return nil, err
	}
	return f.base.Lstat(name)
}

// ReadDir is that of the base, or the fault.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.fault("readdir", name); err != nil {
		return nil, err
	}
	return f.base.ReadDir(name)
}

// Rename is that of the base, or the fault.
func (f *FS) Rename(oldname, newname string) error {
	if err := f.fault("rename", oldname); err != nil {
		return err
	}
	return f.base.Rename(oldname, newname)
}

// Link is that of the base, or the fault.
func (f *FS) Link(oldname, newname string) error {
	if err := f.fault("link", oldname); err != nil {
		return err
	}
	return f.base.Link(oldname, newname)
}

// Remove is that of the base, or the fault.
func (f *FS) Remove(name string) error {
	if err := f.fault("remove", name); err != nil {
		return err
	}
	return f.base.Remove(name)
}

// MkdirAll is that of the base, or the fault.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	if err := f.fault("mkdir", name); err != nil {
		return err
	}
	return f.base.MkdirAll(name, perm)
}
