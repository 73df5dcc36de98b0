package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/autonomy-team/autonomy/internal/config"
)

// FolderError says that a state folder is not safe to use, and how to make it so.
type FolderError struct {
	Path   string
	Reason string
	Fix    string
}

func (e *FolderError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }

// prepareFolders makes the state folders that are missing and refuses those that another user owns or may write to:
// whoever can replace a socket, a lock or a task file owns the daemon.
func prepareFolders(ws config.Workspace) error {
	private := []string{ws.Team(), ws.Inbox(), ws.Transcripts(), ws.Requests(), ws.Autonomy(), ws.Runs(), ws.Results()}
	for _, dir := range private {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make state folder: %w", err)
		}
		if err := checkFolder(dir); err != nil {
			return err
		}
	}
	if err := os.Mkdir(ws.Tasks(), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make board folder: %w", err)
	}
	return checkFolder(ws.Tasks())
}

// checkFolder looks at the folder itself, so a link is refused whatever it points to.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("check state folder: %w", err)
	}
	if !info.IsDir() {
		return &FolderError{Path: dir, Reason: "is not a folder", Fix: "move it away"}
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Getuid() {
		return &FolderError{
			Path: dir, Reason: fmt.Sprintf("belongs to user %d, not to you", stat.Uid),
			Fix: fmt.Sprintf("chown -R %d %s", os.Getuid(), dir),
		}
	}
	if info.Mode().Perm()&0o022 != 0 {
		return &FolderError{
			Path: dir, Reason: fmt.Sprintf("others may write to it (mode %#o)", info.Mode().Perm()),
			Fix: "chmod go-w " + dir,
		}
	}
	return nil
}
