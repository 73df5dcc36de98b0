package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/filelock"
)

const (
	maxStore = 16 << 20 // bytes of trust.json
	version  = 1
)

// Store is the user's trust.json. Its methods may be called from any goroutine, and other processes may change the file
// at the same time.
type Store struct {
	path string
	lock *filelock.Lock
	mu   sync.Mutex
	seen stamp // of the file that loaded was read from
	now  map[string]entry
}

// document is the form of trust.json.
type document struct {
	Version    int     `json:"version"`
	Workspaces []entry `json:"workspaces"`
}

// entry is what a person agreed to in one workspace.
type entry struct {
	Root    string            `json:"root"` // real path
	Device  uint64            `json:"device"`
	Inode   uint64            `json:"inode"`
	Trusted time.Time         `json:"trustedAt"`
	Files   map[string]string `json:"files"` // hash by path relative to the root, of what may act
	Tasks   map[string]string `json:"tasks"` // hash of people's fields by file name, of tasks that came with git
}

// stamp tells one state of a file from another without reading it.
type stamp struct {
	inode   uint64
	size    int64
	changed time.Time
}

func stampOf(path string) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	_, inode := identity(info)
	return stamp{inode: inode, size: info.Size(), changed: info.ModTime()}
}

// Open returns the decisions kept at path, config.TrustFile of the user's folder. The file need not exist. It is an
// error if others may write it: they would decide in the user's name.
func Open(path string) (*Store, error) {
	if path == "" {
		return nil, errors.New("open trust: a path is required")
	}
	s := &Store{path: path, lock: filelock.New(path + ".lock")}
	if _, err := s.entries(); err != nil {
		return nil, err
	}
	return s, nil
}

// entries returns the decisions by root, read again when the file has changed.
func (s *Store) entries() (map[string]entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := stampOf(s.path)
	if s.now != nil && now == s.seen {
		return s.now, nil
	}
	entries, err := read(s.path)
	if err != nil {
		return nil, fmt.Errorf("read trust: %w", err)
	}
	s.now, s.seen = entries, now
	return entries, nil
}

func read(path string) (map[string]entry, error) {
	entries := map[string]entry{}
	src, info, err := atomicfile.ReadFile(atomicfile.OS(), path, maxStore)
	if errors.Is(err, fs.ErrNotExist) {
		return entries, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, &config.PermissionError{Path: path, Mode: info.Mode(), Own: true}
	}
	var d document
	if err := json.Unmarshal(src, &d); err != nil {
		return nil, fmt.Errorf("%s: %w (remove it to decide anew)", path, err)
	}
	if d.Version != version {
		return nil, fmt.Errorf("%s: version %d, this program knows %d", path, d.Version, version)
	}
	for _, e := range d.Workspaces {
		entries[e.Root] = e
	}
	return entries, nil
}

// update changes the decisions under the lock, so that two processes do not undo each other's.
func (s *Store) update(ctx context.Context, change func(map[string]entry) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	unlock, err := s.lock.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	entries, err := read(s.path)
	if err != nil {
		return err
	}
	if err := change(entries); err != nil {
		return err
	}
	d := document{Version: version, Workspaces: []entry{}}
	for _, root := range slices.Sorted(maps.Keys(entries)) {
		d.Workspaces = append(d.Workspaces, entries[root])
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Replace(atomicfile.OS(), s.path, append(text, '\n'), 0o600)
}

// of returns the entry of a workspace that is still the folder it was.
func (s *Store) of(ws config.Workspace) (entry, string, error) {
	entries, err := s.entries()
	if err != nil {
		return entry{}, "", err
	}
	e, ok := entries[ws.Root]
	if !ok {
		return entry{}, "nobody has agreed yet that this folder may act", nil
	}
	info, err := os.Lstat(ws.Root)
	if err != nil {
		return entry{}, "", err
	}
	if device, inode := identity(info); device != e.Device || inode != e.Inode {
		return entry{}, "another folder was trusted under this path", nil
	}
	return e, "", nil
}

func identity(info fs.FileInfo) (device, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), st.Ino
	}
	return 0, 0
}
