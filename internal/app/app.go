package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/filelock"
	"github.com/autonomy-team/autonomy/internal/redact"
	"github.com/autonomy-team/autonomy/internal/trust"
)

// App is the parts of one workspace. All methods may be called from any goroutine.
type App struct {
	opts     Options
	life     context.Context
	ws       config.Workspace
	redact   *redact.Redactor
	keys     config.Keys
	keyFault error // why the user's keys can't be read; a model that needs one says so
	consent  func() (*trust.Store, error)
	board    func() (*board.Dir, error)
	inbox    func() (*inbox.Dir, error)
	specs    func() (*tool.Registry, error)
	names    sync.Map // of toolsets: what ToolNames answered
}

// Open checks the options and reads the user's keys, so that they can be masked everywhere. All other parts open when
// they are asked for. ctx is the App's life: what the board asks of git when its gate looks ends with it.
func Open(ctx context.Context, opts Options) (*App, error) {
	if opts.Workspace.Root == "" {
		return nil, errors.New("app options: Workspace is required")
	}
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Report == nil {
		opts.Report = func(Notice) {}
	}
	a := &App{opts: opts, ws: opts.Workspace, life: ctx}
	var err error
	if a.keys, err = a.readKeys(); err != nil {
		a.keyFault = err
		opts.Report(Notice{Part: "keys", Text: err.Error()})
	}
	a.redact = redact.New(append(a.secrets(), a.keys.Values()...)...)
	a.consent = sync.OnceValues(a.openTrust)
	a.board = sync.OnceValues(a.openBoard)
	a.inbox = sync.OnceValues(a.openInbox)
	a.specs = sync.OnceValues(a.catalogue)
	return a, nil
}

// Workspace is the folder the App works in.
func (a *App) Workspace() config.Workspace { return a.ws }

// Board is the task board, behind the workspace's trust. Nothing has been read yet: a command calls Settle first, the
// daemon Refresh.
func (a *App) Board() (*board.Dir, error) { return a.board() }

// Inbox is the folder of mailboxes.
func (a *App) Inbox() (*inbox.Dir, error) { return a.inbox() }

func (a *App) openBoard() (*board.Dir, error) {
	set, err := a.Settings()
	if err != nil {
		return nil, err
	}
	consent, err := a.consent()
	if err != nil {
		return nil, err
	}
	dir, err := board.Open(board.Config{
		Gate: consent.Gate(a.life, a.ws), Path: a.ws.Tasks(), Alive: a.Alive, Now: a.opts.Now, Watched: a.opts.Watched, Poll: set.Poll,
		LockWait: a.opts.LockWait,
		Report:   func(n board.Notice) { a.opts.Report(Notice{Part: "board", File: n.Path, Text: n.Text}) },
	})
	if err != nil {
		return nil, fmt.Errorf("open the board: %w", err)
	}
	return dir, nil
}

func (a *App) openInbox() (*inbox.Dir, error) {
	dir, err := inbox.Open(inbox.Config{
		Path: a.ws.Inbox(), Now: a.opts.Now,
		Report: func(n inbox.Notice) { a.opts.Report(Notice{Part: "inbox", File: n.Mailbox, Text: n.Text}) },
	})
	if err != nil {
		return nil, fmt.Errorf("open the mailboxes: %w", err)
	}
	return dir, nil
}

// Alive reports whether the daemon of an instance lives: whether daemon.lock is held, and by it. A lock that can't be
// looked at counts as held, because taking a task from a live member is worse than waiting for it.
func (a *App) Alive(instance autonomy.InstanceID) bool {
	info, held, err := filelock.Holder(a.ws.DaemonLock())
	if err != nil {
		return true
	}
	if !held {
		return false
	}
	var holder struct {
		Instance autonomy.InstanceID `json:"instance"`
	}
	if err := json.Unmarshal(info, &holder); err != nil {
		return true // taken, and the information is not there yet
	}
	return holder.Instance == instance
}
