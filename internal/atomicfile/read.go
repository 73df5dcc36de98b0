package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// NotRegularError says that a path leads to something that is not a regular file.
type NotRegularError struct {
	Path string
	Kind string // "symbolic link", "directory", "named pipe", "socket", "device"
}

// Error returns "PATH is a KIND, not a regular file".
func (e *NotRegularError) Error() string {
	return fmt.Sprintf("%s is a %s, not a regular file", e.Path, e.Kind)
}

// TooLargeError says that a file is larger than its reader allows.
type TooLargeError struct {
	Path  string
	Limit int64 // bytes
}

// Error returns "PATH is larger than LIMIT bytes".
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s is larger than %d bytes", e.Path, e.Limit)
}

// ReadFile reads a regular file of at most limit bytes (0 or less = any size). The last element of name is never
// followed if it is a symbolic link, and a named pipe does not make it wait: both are a *NotRegularError. The info is
// that of the descriptor that was read, so it belongs to the bytes even if the name has since been given to another file.
func ReadFile(fsys FS, name string, limit int64) (data []byte, info fs.FileInfo, err error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, explainOpen(fsys, name, err)
	}
	defer f.Close() // nothing was written, so there is nothing that closing could lose
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &NotRegularError{Path: name, Kind: kindOf(info.Mode())}
	}
	if limit <= 0 {
		data, err = readAll(f, info.Size())
	} else if info.Size() > limit {
		return nil, nil, &TooLargeError{Path: name, Limit: limit}
	} else if data, err = readAll(io.LimitReader(f, limit+1), info.Size()); int64(len(data)) > limit {
		return nil, nil, &TooLargeError{Path: name, Limit: limit} // it grew meanwhile
	}
	if err != nil {
		return nil, nil, err
	}
	return data, info, nil
}

// readAll is io.ReadAll with room for the expected size, which spares a board of thousands of files the growing.
func readAll(r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, 0, min(size, 1<<20)+512)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// explainOpen turns the errors that opening a link (ELOOP) or a socket (ENXIO) gives into what is really there.
func explainOpen(fsys FS, name string, err error) error {
	if !errors.Is(err, syscall.ELOOP) && !errors.Is(err, syscall.ENXIO) {
		return err
	}
	info, statErr := fsys.Lstat(name)
	if statErr != nil || info.Mode().IsRegular() {
		return err
	}
	return &NotRegularError{Path: name, Kind: kindOf(info.Mode())}
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
