package app

import (
	"errors"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/trust"
)

// Options says which workspace an App works in. Workspace is required; the zero value of every other field is the
// usual one.
type Options struct {
	Workspace config.Workspace
	Getenv    func(string) string // nil = os.Getenv
	UserDir   string              // "" = the user's configuration folder by XDG rules
	Program   string              // the binary that is re-executed as launcher; "" = this one
	Now       func() time.Time    // nil = time.Now
	Report    func(Notice)        // what people should know and no call returns; nil drops it
	Watched   func() bool         // whether file events of the board arrive; nil = they don't
	Flags     config.File         // the layer of settings that the command line gives
	LockWait  time.Duration       // how long a change of the board waits for those of others; 0 = 2 s
}

// Notice is something that a part found and no caller asked for: an invalid file, a rejected line of mail.
type Notice struct {
	Part string // "board", "inbox", "watch" …
	File string
	Line int
	Text string
}

// RunInfo is one line of `runs list`.
type RunInfo struct {
	ID          autonomy.RunID     `json:"run_id"`
	Actor       autonomy.AgentName `json:"actor,omitempty"`
	Task        autonomy.TaskID    `json:"task,omitempty"`
	Goal        string             `json:"goal,omitempty"`
	Interface   string             `json:"interface,omitempty"`
	Started     time.Time          `json:"started_at"`
	Finished    time.Time          `json:"finished_at,omitzero"`
	Termination string             `json:"termination,omitempty"` // "" = still running, or its process died
	Code        string             `json:"code,omitempty"`
	Turns       int                `json:"turns"`
	Usage       llm.Usage          `json:"usage"`
	Damaged     string             `json:"damaged,omitempty"` // why the log can't be trusted
}

// ErrUntrusted says that the workspace waits for a person's trust.
var ErrUntrusted = trust.ErrUntrusted

// ErrNoRun says that no log has that run id.
var ErrNoRun = errors.New("no such run")
