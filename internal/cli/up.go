package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/daemon"
	"github.com/autonomy-team/autonomy/internal/visible"
	"github.com/autonomy-team/autonomy/team"
)

type upOptions struct {
	daemon.Options
	spawn []string
	team  string
}

func newUpCmd(s *Streams) *cobra.Command {
	var o upOptions
	cmd := &cobra.Command{
		Use:     "up",
		Short:   "Start the daemon",
		GroupID: "start",
		Long: `Start the daemon of this workspace, in the background unless --foreground is given. It brings back the members
that were running, keeps the board, and revives members when there is work.

With --exit-when-idle it ends once its members are idle and no task is left that one of them could take, now or at the
time that the task's notBefore says. What is left is listed, with the reason.

Exit status: 0, 1 on failure, 2 usage, 3 already running; with --exit-when-idle 4 if tasks are left that are
neither completed nor cancelled.`,
		Example: `  autonomy up
  autonomy up --spawn alice:coder --spawn bob:tester
  autonomy up --foreground --spawn a:coder --spawn b:coder --exit-when-idle     work a board down in a CI job`,
		Args: words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runUp(cmd.Context(), s, cmd, o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.Foreground, "foreground", false, "stay in this terminal and show what happens")
	f.StringArrayVar(&o.spawn, "spawn", nil, "start a member `NAME:ROLE`; may be repeated")
	f.StringVar(&o.team, "team", "", "name of the team (default \"default\")")
	f.StringVar(&o.Mode, "mode", "", "ask, auto (default), read-only or full; full runs everything unasked")
	f.DurationVar(&o.Poll, "poll", 5*time.Second, "how often members look at mail and board")
	f.DurationVar(&o.IdleTimeout, "idle-timeout", 60*time.Second, "how long an idle member waits before it shuts down")
	f.IntVar(&o.MaxTeammates, "max-teammates", 8, "how many members may run at once")
	f.BoolVar(&o.NoRevive, "no-revive", false, "do not bring shut-down members back when there is work")
	f.BoolVar(&o.ExitWhenIdle, "exit-when-idle", false, "end when nothing is left that a member could do")
	f.BoolVar(&o.Resume, "resume", false, "bring back the members that were running, also after 'down'")
	return cmd
}

func runUp(ctx context.Context, s *Streams, cmd *cobra.Command, o upOptions) error {
	if err := o.complete(); err != nil {
		return err
	}
	ws, err := s.workspace()
	if err != nil {
		return err
	}
	if err := s.consent(ctx); err != nil {
		return err
	}
	if o.Mode == "full" {
		s.say("autonomy: mode full: everything but the refused list runs unasked")
	}
	if !o.Foreground {
		pid, err := control.Start(ctx, ws, control.StartOptions{Args: changedFlags(cmd)})
		if err != nil {
			return err
		}
		s.say("daemon started (pid %d); stop it with 'autonomy down'", pid)
		tellProblems(ctx, s)
		return nil
	}
	o.leaveToSettings(cmd.Flags())
	o.Workspace, o.Team, o.Err, o.Getenv = ws, autonomy.TeamName(o.team), s.Err, s.Getenv
	code, err := daemon.Run(ctx, o.Options)
	if err != nil {
		return &failure{code: max(code, ExitFailed), err: err}
	}
	if code == ExitUnfinished {
		tellLeft(ctx, s)
	}
	return silent(code)
}

// tellLeft says which tasks a team that had nothing left to do could not finish, and why: whoever reads a CI job's log
// has nothing else.
func tellLeft(ctx context.Context, s *Streams) {
	b, a, err := s.board(ctx)
	if err != nil {
		return
	}
	entries := b.List()
	left := leftOver(entries)
	s.say("%s left for a person:", plural(len(left), "task"))
	sayTasks(s, left, entries, a.Remark(ctx, b))
}

// tellProblems says what a daemon that was just started could not do as it was told, such as to spawn a member. What is
// wrong with single files is for status. A daemon that had nothing to do may have ended already.
func tellProblems(ctx context.Context, s *Streams) {
	client, err := s.daemon(ctx)
	if err != nil {
		return
	}
	defer client.Close()
	status, err := client.Status(ctx)
	if err != nil {
		return
	}
	for _, p := range status.Problems {
		if p.File == "" {
			s.say("autonomy: %s", visible.Line(p.Reason))
		}
	}
}

// complete checks what the flag parser can't.
func (o *upOptions) complete() error {
	for _, spec := range o.spawn {
		name, role, ok := strings.Cut(spec, ":")
		if !ok || name == "" || role == "" {
			return usage("--spawn %q: want NAME:ROLE, for example alice:coder", spec)
		}
		if err := team.CheckName(autonomy.AgentName(name)); err != nil {
			return usage("--spawn %q: %w", spec, err)
		}
		for _, other := range o.Spawn {
			if string(other.Name) == name {
				return usage("--spawn %q: %s is there twice", spec, name)
			}
		}
		o.Spawn = append(o.Spawn, daemon.Spec{Name: autonomy.AgentName(name), Role: autonomy.Role(role)})
	}
	switch {
	case o.Mode != "" && o.Mode != "ask" && o.Mode != "auto" && o.Mode != "read-only" && o.Mode != "full":
		return usage("--mode %q: want ask, auto, read-only or full", o.Mode)
	case o.Poll <= 0:
		return usage("--poll %s: want more than 0", o.Poll)
	case o.IdleTimeout <= 0:
		return usage("--idle-timeout %s: want more than 0", o.IdleTimeout)
	case o.MaxTeammates <= 0:
		return usage("--max-teammates %d: want at least 1", o.MaxTeammates)
	}
	return nil
}

// leaveToSettings forgets the defaults that help shows: what was not given is for the settings files to say.
func (o *upOptions) leaveToSettings(given *pflag.FlagSet) {
	if !given.Changed("poll") {
		o.Poll = 0
	}
	if !given.Changed("idle-timeout") {
		o.IdleTimeout = 0
	}
	if !given.Changed("max-teammates") {
		o.MaxTeammates = 0
	}
}

// changedFlags are the flags given on this command line, for the daemon in the background, where --foreground is set
// already. The set that LocalFlags makes does not know what was given: only each flag does.
func changedFlags(cmd *cobra.Command) []string {
	var args []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed || f.Name == "foreground" {
			return
		}
		if values, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range values.GetSlice() {
				args = append(args, fmt.Sprintf("--%s=%s", f.Name, v))
			}
			return
		}
		args = append(args, fmt.Sprintf("--%s=%s", f.Name, f.Value))
	})
	return args
}
