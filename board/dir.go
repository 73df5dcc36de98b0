package board

import (
	"context"
	"hash/maphash"
	"path/filepath"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/filelock"
)

const (
	lockName    = ".lock"
	markName    = ".highwater"
	archiveName = "archive"
)

// Dir is a board in a folder: one snapshot of its files, shared by all who ask, and the verbs that change them. All
// methods may be called from any goroutine. It starts none that outlive a call.
//
// Three locks, never taken in another order: polling (one full look at a time), the side lock of the folder (around
// compare and rename), mu (around the snapshot, never around the disk or a call to the outside).
type Dir struct {
	cfg  Config
	fs   atomicfile.FS
	lock *filelock.Lock
	seed maphash.Seed

	polling sync.Mutex
	folder  fileStamp // of the folder at the last listing; guarded by polling
	listed  time.Time
	archive fileStamp // of the archive folder when missing blockers were last looked for there
	filed   time.Time
	gateGen uint64
	loaded  bool            // guarded by polling
	cursor  autonomy.TaskID // the rotating share ended here

	counted map[string]fileStamp // of the folders whose ids were counted; guarded by the side lock
	swept   time.Time            // guarded by the side lock

	mu       sync.Mutex
	index    index
	odd      map[string]*oddity       // names that are task files by their form and give no id
	lookups  map[autonomy.TaskID]bool // blockers to be looked for in the archive
	revisit  map[autonomy.TaskID]bool // to be looked at in the next poll whatever the stamp
	doubts   map[autonomy.TaskID]bool // records with a doubt
	attempts map[autonomy.TaskID]*attempt
	members  map[autonomy.AgentName]*attempt // the same attempts by who makes them
	claiming map[autonomy.AgentName]bool
	mine     map[autonomy.InstanceID]bool // instances that claimed through this Dir
	changed  map[autonomy.TaskID]bool     // since the last Changes
	lost     []*LostError                 // since the last Changes
	notices  []Notice                     // not delivered yet
	unsynced map[Ref]Task                 // finished in the file, but the folder could not be synced
	mark     autonomy.TaskID              // at least this is in the mark file
	listing  uint64
	skip     int // how many candidates a claimer may pass over, see reserve
}

// oddity is a file whose name gives no id: task_007.json.
type oddity struct {
	err  *InvalidError
	list uint64
}

// attempt is a claim made through this Dir, until it was finished or its member has stopped. No other attempt at the
// task starts while it is there, whatever people do to the file.
type attempt struct {
	Ref
	by      autonomy.AgentName
	lost    *LostError // once set it stays: the member was told, and is stopping
	writing uint64     // sum of the bytes that this Dir is putting in place; 0 = none
}

// begun notes an attempt; mu is held.
func (d *Dir) begun(a *attempt) {
	d.attempts[a.ID], d.members[a.by] = a, a
}

// over forgets an attempt, if it is the one that ref names; mu is held.
func (d *Dir) over(ref Ref) bool {
	a := d.attempts[ref.ID]
	if a == nil || a.Ref != ref {
		return false
	}
	delete(d.attempts, ref.ID)
	if d.members[a.by] == a {
		delete(d.members, a.by)
	}
	return true
}

// Open validates the configuration. Nothing is read before Refresh, Settle, or a verb that needs the board.
func Open(cfg Config) (*Dir, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	d := &Dir{
		cfg:      cfg,
		fs:       cfg.FS,
		lock:     filelock.Open(filelock.Config{Path: filepath.Join(cfg.Path, lockName), Wait: cfg.LockWait}),
		seed:     maphash.MakeSeed(),
		counted:  map[string]fileStamp{},
		index:    newIndex(),
		odd:      map[string]*oddity{},
		lookups:  map[autonomy.TaskID]bool{},
		revisit:  map[autonomy.TaskID]bool{},
		doubts:   map[autonomy.TaskID]bool{},
		attempts: map[autonomy.TaskID]*attempt{},
		members:  map[autonomy.AgentName]*attempt{},
		claiming: map[autonomy.AgentName]bool{},
		mine:     map[autonomy.InstanceID]bool{},
		changed:  map[autonomy.TaskID]bool{},
		unsynced: map[Ref]Task{},
	}
	return d, nil
}

func (d *Dir) path(name string) string { return filepath.Join(d.cfg.Path, name) }

// now is the time as it is written: in UTC, to the millisecond.
func (d *Dir) now() time.Time { return d.cfg.Now().UTC().Truncate(time.Millisecond) }

func (d *Dir) alive(instance autonomy.InstanceID) bool {
	return d.cfg.Alive == nil || d.cfg.Alive(instance)
}

// load reads the board if nobody has yet.
func (d *Dir) load(ctx context.Context) error {
	d.polling.Lock()
	loaded := d.loaded
	d.polling.Unlock()
	if loaded {
		return nil
	}
	return d.full(ctx, passPoll, true) // not Refresh: what it finds is for the caller's own Changes
}

// tell queues a notice; mu is held.
func (d *Dir) tell(kind NoticeKind, path string, id autonomy.TaskID, text string) {
	d.notices = append(d.notices, Notice{Kind: kind, Path: path, ID: id, Text: text})
}

// deliver hands queued notices to Report. Every method that may have queued one ends with it, under no lock.
func (d *Dir) deliver() {
	d.mu.Lock()
	notices := d.notices
	d.notices = nil
	d.mu.Unlock()
	for _, n := range notices {
		d.cfg.Report(n)
	}
}
