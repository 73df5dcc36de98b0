package board

import (
	"errors"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// Config says which folder a Dir keeps and what it asks of its surroundings.
type Config struct {
	// Path is the .tasks folder. It need not exist: Create makes it.
	Path string
	// FS is the disk; nil is the real one.
	FS atomicfile.FS
	// Alive reports whether the daemon of an instance lives. Reap needs it; without it every instance counts as alive.
	// It may be asked while the board's side lock is held, so it must not come back to the board.
	Alive func(autonomy.InstanceID) bool
	// Gate may refuse tasks; nil admits all.
	Gate Gate
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Watched reports whether file events arrive. Then a poll looks at the folder and a rotating share of the known
	// files, so that each is seen within 30 s; without events (or with nil) every poll looks at every file.
	Watched func() bool
	// Poll is the interval at which Refresh is called without names; 0 is 5 s. The share above follows from it.
	Poll time.Duration
	// LockWait bounds how long a change waits for those of others; 0 is 2 s, after which members look again by themselves.
	LockWait time.Duration
	// Report hears what a person should know. It is called on the goroutine of the Dir's caller, under no lock.
	Report func(Notice)
}

// Gate decides whether a task may be worked at all.
type Gate interface {
	// Admit returns "" or the whole reason to show. people is the canonical JSON of the fields that people own, so
	// that the board's own rewrites change nothing in it.
	Admit(name string, task Task, people []byte) (reason string)
	// Generation changes whenever earlier answers may have become wrong.
	Generation() uint64
}

// Notice is something that a person should know about one file. It is told once per change.
type Notice struct {
	Kind NoticeKind
	Path string
	ID   autonomy.TaskID // 0 when the file has none
	Text string
}

// NoticeKind says what a Notice is about.
type NoticeKind string

// The notices.
const (
	NoticeInvalid  NoticeKind = "invalid"  // the file is no acceptable task
	NoticeStale    NoticeKind = "stale"    // the file cannot be read; the last good content stays
	NoticeRepaired NoticeKind = "repaired" // a leftover claim was put in order
	NoticeMark     NoticeKind = "mark"     // the high-water mark is damaged or cannot be written
)

const (
	defaultPoll = 5 * time.Second
	rotation    = 30 * time.Second // within which each file is looked at while events arrive
)

func (c Config) withDefaults() (Config, error) {
	if c.Path == "" {
		return c, errors.New("board config: Path is empty")
	}
	if c.Poll < 0 {
		return c, errors.New("board config: Poll is negative")
	}
	if c.LockWait < 0 {
		return c, errors.New("board config: LockWait is negative")
	}
	if c.Poll == 0 {
		c.Poll = defaultPoll
	}
	if c.FS == nil {
		c.FS = atomicfile.OS()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Watched == nil {
		c.Watched = func() bool { return false }
	}
	if c.Report == nil {
		c.Report = func(Notice) {}
	}
	return c, nil
}
