package inbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/filelock"
)

// Config of a Dir. A zero field other than Path takes its default.
type Config struct {
	Path        string           // the folder of the mailboxes; made by the first Send when it is missing
	FS          atomicfile.FS    // default atomicfile.OS()
	Now         func() time.Time // default time.Now
	MaxMessages int              // unread messages a mailbox may hold, default 50,000
	MaxBytes    int64            // unread bytes a mailbox may hold, default 64 MiB
	Report      func(Notice)     // called on the caller's goroutine, never under a lock; default drops
}

const (
	defaultMaxMessages = 50_000
	defaultMaxBytes    = 64 << 20

	folderPerm fs.FileMode = 0o700
	filePerm   fs.FileMode = 0o600
)

// Dir is a folder of mailboxes. Any number of processes may send to one mailbox; one reader at a time receives from it.
// All methods may be called from any goroutine.
type Dir struct {
	cfg  Config
	lock *filelock.Lock // one for the folder: it is held for a write, never for a sync

	mu    sync.Mutex
	boxes map[autonomy.AgentName]*box
}

// box is what this process remembers of one mailbox. Everything in it can be found out again from the files.
type box struct {
	queue    queue
	capacity capacity
	waiting  waiting
	rejects  rejects
}

// Open returns the mailboxes in a folder. It touches no file.
func Open(cfg Config) (*Dir, error) {
	if cfg.Path == "" {
		return nil, errors.New("open inbox: Path is required")
	}
	if cfg.MaxMessages < 0 || cfg.MaxBytes < 0 {
		return nil, errors.New("open inbox: MaxMessages and MaxBytes must not be negative")
	}
	if cfg.FS == nil {
		cfg.FS = atomicfile.OS()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.MaxMessages == 0 {
		cfg.MaxMessages = defaultMaxMessages
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = defaultMaxBytes
	}
	if cfg.Report == nil {
		cfg.Report = func(Notice) {}
	}
	lock := filelock.New(filepath.Join(cfg.Path, ".lock"))
	return &Dir{cfg: cfg, lock: lock, boxes: map[autonomy.AgentName]*box{}}, nil
}

func (d *Dir) box(name autonomy.AgentName) *box {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, ok := d.boxes[name]
	if !ok {
		b = &box{}
		d.boxes[name] = b
	}
	return b
}

// Path is the mailbox file of name, which need not exist.
func (d *Dir) Path(name autonomy.AgentName) string {
	return filepath.Join(d.cfg.Path, string(name)+".jsonl")
}

func (d *Dir) cursorPath(name autonomy.AgentName) string {
	return filepath.Join(d.cfg.Path, string(name)+".cursor")
}

func (d *Dir) rejectedPath(name autonomy.AgentName) string {
	return filepath.Join(d.cfg.Path, string(name)+".rejected.jsonl")
}

// checkFolder refuses a folder that became a link or a file: mail would go somewhere else. Absent is fs.ErrNotExist.
func (d *Dir) checkFolder() error {
	info, err := d.cfg.FS.Lstat(d.cfg.Path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("inbox folder %s: not a folder (%s)", d.cfg.Path, info.Mode().Type())
	}
	return nil
}

// open opens one file of the folder and refuses everything but a regular file, without following a link or waiting
// for the other end of a pipe.
func (d *Dir) open(path string, flag int) (atomicfile.File, fs.FileInfo, error) {
	f, err := d.cfg.FS.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, filePerm)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file (%s)", path, info.Mode().Type())
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// identity returns the device and inode of an open file.
func identity(info fs.FileInfo) (device, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), st.Ino
	}
	return 0, 0
}
