// Package watch tells when files in folders may have changed.
//
// Its calls are hints that save a poll from being slow, and never more: they may come late, twice, for nothing, or not
// at all (network file systems, system limits). Whoever uses it polls as well and works correctly with the poll alone.
// Folders are watched, never files, because a watch on a file dies when the file is replaced.
package watch

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// window is how long repeats for one name are held back.
const window = 50 * time.Millisecond

// State says how changes are noticed.
type State struct {
	Events bool   // false = only by the owner's poll
	Reason string // why there are none, or not all of them; "" = all is well
}

// Config describes a watcher. Both functions are called on the goroutine of Serve, one at a time.
type Config struct {
	// Changed says that the file name in the folder dir may have been made, changed or removed. An empty name means that
	// anything in the folder may have: scan it. Of many changes of one name within 50 ms the first is told at once and
	// the rest once, at the end. A folder is told with an empty name whenever watching it begins.
	Changed func(dir, name string)
	// State says that State has changed. It may be nil.
	State func(State)
}

// source is what Watcher needs of fsnotify.
type source interface {
	Add(dir string) error
	Remove(dir string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

// folder is a folder to watch. info is that of the inode that is being watched, nil if none is.
type folder struct {
	info   os.FileInfo
	remote string // the network file system it is on
}

// Watcher watches folders. Its methods are safe for any goroutine.
type Watcher struct {
	config Config
	open   func() (source, error)
	wake   chan struct{} // holds one token: Serve has something to pick up

	mu      sync.Mutex
	serving bool
	src     source
	folders map[string]*folder
	fresh   map[string]bool // folders to be told as wholly changed
	state   State
	told    State
}

// New returns a watcher that does nothing until Serve runs.
func New(c Config) *Watcher {
	return &Watcher{
		config:  c,
		open:    openNotify,
		wake:    make(chan struct{}, 1),
		folders: map[string]*folder{},
		fresh:   map[string]bool{},
		state:   State{Reason: "not started"},
		told:    State{Reason: "not started"},
	}
}

// Add adds a folder, which need not exist yet. Changed names it as it is given here, cleaned.
func (w *Watcher) Add(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	dir = filepath.Clean(dir)
	if w.folders[dir] == nil {
		w.folders[dir] = &folder{}
		w.review()
	}
}

// Poll is called by the owner's poll. It watches again the folders that have come back or were replaced, and tries again
// what had failed. It calls nothing: Serve does.
func (w *Watcher) Poll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.review()
}

// State returns how changes are noticed at the moment.
func (w *Watcher) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// Serve watches until ctx ends, and returns its error. It starts no other goroutine of its own. It is called once.
func (w *Watcher) Serve(ctx context.Context) error {
	w.mu.Lock()
	w.serving = true
	w.review()
	w.mu.Unlock()
	defer w.stop()

	held := newHoldback(w.config.Changed)
	defer held.timer.Stop()
	for {
		w.tell(held)
		src := w.current()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.wake:
		case <-held.timer.C:
			held.release(time.Now())
		case event, ok := <-src.Events():
			if !ok {
				w.lost(src)
			} else if event.Op != fsnotify.Chmod { // permissions and times alone
				w.event(held, event)
			}
		case <-src.Errors(): // whichever it is, events may have been lost
			w.rescan()
		}
	}
}

// event handles a change of a name, which may be one of the watched folders itself.
func (w *Watcher) event(held *holdback, e fsnotify.Event) {
	w.mu.Lock()
	dir, name := filepath.Dir(e.Name), filepath.Base(e.Name)
	if self := w.folders[e.Name]; self != nil {
		if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
			w.forget(e.Name, self)
			w.fresh[e.Name] = true
		}
		w.review()
	}
	_, watched := w.folders[dir]
	w.mu.Unlock()
	if watched {
		held.change(dir, name, time.Now())
	}
}

// forget drops the watch of a folder that is gone from its place. The folder may live on under another name, and must
// not be heard under this one.
func (w *Watcher) forget(dir string, f *folder) {
	if f.info != nil && w.src != nil {
		_ = w.src.Remove(dir) // usually the system has done so already
	}
	f.info = nil
}

// rescan begins anew with every folder, after events were lost. Among them may have been the end of a folder whose
// successor got the same inode, so what is known about the folders counts for nothing. Adding a watch twice is harmless.
func (w *Watcher) rescan() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for dir, f := range w.folders {
		f.info = nil
		w.fresh[dir] = true
	}
	w.review()
}

// lost handles a source that ended by itself.
func (w *Watcher) lost(src source) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.src == src {
		w.closeSource()
		w.state = State{Reason: "the system ended the watch"}
	}
}

func (w *Watcher) closeSource() {
	if w.src != nil {
		_ = w.src.Close()
	}
	w.src = nil
	for _, f := range w.folders {
		f.info = nil
	}
}

func (w *Watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serving = false
	w.closeSource()
	w.state = State{Reason: "stopped"}
}

// current returns the source to listen to.
func (w *Watcher) current() source {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.src == nil {
		return silent{}
	}
	return w.src
}

// tell passes on what review has found, outside the lock.
func (w *Watcher) tell(held *holdback) {
	w.mu.Lock()
	fresh, state, changed := w.fresh, w.state, w.state != w.told
	w.fresh, w.told = map[string]bool{}, w.state
	w.mu.Unlock()
	if changed && w.config.State != nil {
		w.config.State(state)
	}
	for dir := range fresh {
		held.change(dir, "", time.Now())
	}
}

// review brings the watches in line with the folders on the disk, under w.mu, and wakes Serve.
func (w *Watcher) review() {
	if !w.serving {
		return
	}
	defer func() {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}()
	if w.src == nil {
		src, err := w.open()
		if err != nil {
			w.state = State{Reason: reason("watch folders", err)}
			return
		}
		w.src = src
	}
	w.state = State{Events: true}
	for _, dir := range slices.Sorted(maps.Keys(w.folders)) { // sorted, so that one reason stays the one that is shown
		f := w.folders[dir]
		if err := w.reviewFolder(dir, f); err != nil && w.state.Events {
			w.state = State{Reason: reason("watch "+dir, err)}
		}
		if f.remote != "" && w.state.Reason == "" {
			w.state.Reason = dir + " is on " + f.remote + ": what other machines change shows at the poll"
		}
	}
}

// reviewFolder watches a folder that is there and not watched yet. One that is absent is no failure.
func (w *Watcher) reviewFolder(dir string, f *folder) error {
	info, err := os.Stat(dir)
	if err == nil && f.info != nil && os.SameFile(info, f.info) {
		return nil
	}
	if f.info != nil {
		w.forget(dir, f)
		w.fresh[dir] = true
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return syscall.ENOTDIR
	}
	if err := w.src.Add(dir); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	// Were it replaced between the two calls, the inodes would differ at the next poll.
	f.info, f.remote = info, Remote(dir)
	w.fresh[dir] = true
	return nil
}

// reason puts a failure into words; the two limits that people run into get the name of the setting.
func reason(what string, err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return what + ": limit of watched folders reached (fs.inotify.max_user_watches)"
	case errors.Is(err, syscall.EMFILE):
		return what + ": limit of watchers or open files reached (fs.inotify.max_user_instances, ulimit -n)"
	}
	return what + ": " + err.Error()
}
