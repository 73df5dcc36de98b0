// Package daemon is the long-running process of a workspace: the single instance, its log and events, the control
// socket, and the supervisor's life between start and end.
package daemon

import (
	"fmt"
	"io"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/team"
)

// Options are the flags of `up`. Workspace is required; the zero value of every other field is the default that SPEC
// names, after the settings files.
type Options struct {
	Workspace    config.Workspace
	Spawn        []Spec            // --spawn NAME:ROLE
	Team         autonomy.TeamName // --team; "" = the settings, else "default"
	Mode         string            // --mode; "" = the settings, else "auto"
	Poll         time.Duration     // 0 = 5 s
	IdleTimeout  time.Duration     // 0 = 60 s
	MaxTeammates int               // 0 = 8
	NoRevive     bool
	ExitWhenIdle bool
	Resume       bool // bring the roster back also after an orderly end
	// Foreground: what happens is printed to Err, one line an event.
	Foreground bool
	Err        io.Writer           // prose; nil = none
	Getenv     func(string) string // nil = os.Getenv
	UserDir    string              // the user's configuration folder; "" = by XDG rules
	Program    string              // the binary that is re-executed as launcher; "" = this one
}

// validate finds what is wrong with the flags themselves, before anything is touched. Errors name the flag.
func (o Options) validate() error {
	for _, s := range o.Spawn {
		if err := team.CheckName(s.Name); err != nil {
			return fmt.Errorf("--spawn %s:%s: %w", s.Name, s.Role, err)
		}
	}
	if _, err := gateway.ParseMode(o.Mode); err != nil {
		return fmt.Errorf("--mode: %w", err)
	}
	return nil
}

// flags is the layer of settings that the command line gives.
func (o Options) flags() config.File {
	var f config.File
	if o.Team != "" {
		name := string(o.Team)
		f.Team = &name
	}
	if o.Mode != "" {
		f.Mode = &o.Mode
	}
	if o.Poll != 0 {
		f.Poll = &o.Poll
	}
	if o.IdleTimeout != 0 {
		f.IdleTimeout = &o.IdleTimeout
	}
	if o.MaxTeammates != 0 {
		f.MaxTeammates = &o.MaxTeammates
	}
	if o.NoRevive {
		revive := false
		f.Revive = &revive
	}
	return f
}

// Spec is a member to spawn at start.
type Spec struct {
	Name autonomy.AgentName
	Role autonomy.Role
}

// Exit statuses of Run. A command returns them as they are.
const (
	ExitOK         = 0
	ExitFailed     = 1
	ExitRunning    = 3 // with *AlreadyRunningError
	ExitUnfinished = 4 // --exit-when-idle, and tasks are left that are neither completed nor cancelled
)

// AlreadyRunningError says that another daemon holds the workspace.
type AlreadyRunningError struct {
	PID      int // 0 when the lock file doesn't say
	Instance autonomy.InstanceID
}

func (e *AlreadyRunningError) Error() string {
	if e.PID == 0 {
		return "already running"
	}
	return fmt.Sprintf("already running (pid %d)", e.PID)
}
