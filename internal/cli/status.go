package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/daemon"
	"github.com/autonomy-team/autonomy/internal/slash"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newStatusCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the daemon, the team, the board and what is wrong",
		GroupID: "look",
		Long:    "Show the daemon, the team and the board in one view. Without a daemon it shows what the files say.",
		Example: "  autonomy status\n  autonomy status --json | jq .tasks",
		Args:    words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			status, err := s.status(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(status)
			}
			writeStatus(s.Out, status, time.Now())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// status asks the daemon; without one the answer, with PID 0, is what the files say.
func (s *Streams) status(ctx context.Context) (control.Status, error) {
	client, err := s.daemon(ctx)
	if err == nil {
		defer client.Close()
		return client.Status(ctx)
	}
	if !errors.Is(err, control.ErrNotRunning) {
		return control.Status{}, err
	}
	b, a, err := s.board(ctx)
	if err != nil {
		return control.Status{}, err
	}
	team, err := a.Roster(ctx)
	if err != nil {
		return control.Status{}, err
	}
	st := control.Status{
		Version: control.Version(), Workspace: a.Workspace().Root, Team: team.Name, Trust: team.Trust,
		Tasks: map[string]int{}, Members: team.Members,
		Problems: append([]control.Problem{}, daemon.Unwritten(a.Workspace(), s.Getenv)...),
	}
	app.CountTasks(&st, b.List())
	return st, nil
}

func writeStatus(w io.Writer, st control.Status, now time.Time) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-11s %s\n", name, visible.Line(fmt.Sprintf(format, args...)))
	}
	if st.PID == 0 {
		row("daemon", "not running; start it with 'autonomy up'")
	} else {
		row("daemon", "pid %d, version %s, up %s, instance %s", st.PID, st.Version, slash.Span(time.Duration(st.UptimeMS)*time.Millisecond), st.Instance)
	}
	row("workspace", "%s", st.Workspace)
	if st.Trust.Trusted {
		row("trust", "trusted")
	} else {
		row("trust", "%s", firstOf(st.Trust.Why, "untrusted: run autonomy trust"))
	}
	if st.PID != 0 {
		row("mode", "%s", st.Mode)
		row("files", "%s", watchText(st))
	}
	row("tasks", "%s", taskCounts(st.Tasks))
	if st.Approvals > 0 {
		row("approvals", "%d open: autonomy approvals", st.Approvals)
	}
	if st.Usage.Prompt+st.Usage.Completion > 0 {
		row("tokens", "%d + %d, cost %s; /cost in chat shows members and tasks", st.Usage.Prompt, st.Usage.Completion, slash.Dollars(st.Usage))
	}
	for _, p := range st.Problems {
		row("problem", "%s", problemText(p))
	}
	if st.Stopping {
		row("stopping", "on its way down")
	}
	fmt.Fprintln(w)
	slash.Team(w, control.Team{Name: st.Team, Members: st.Members, Trust: control.Trust{Trusted: true}}, now)
}

func watchText(st control.Status) string {
	poll := time.Duration(st.PollMS) * time.Millisecond
	if st.Watch.Events {
		return fmt.Sprintf("file events, and a look every %s", poll)
	}
	return fmt.Sprintf("a look every %s only: %s", poll, st.Watch.Reason)
}

// taskCounts renders the numbers of tasks in the order of a task's life.
func taskCounts(counts map[string]int) string {
	text := ""
	for _, name := range []string{"pending", "ready", "in_progress", "completed", "failed", "cancelled", "held", "invalid"} {
		if n := counts[name]; n > 0 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%d %s", n, name)
		}
	}
	return firstOf(text, "none")
}

func problemText(p control.Problem) string {
	switch {
	case p.File == "":
		return p.Reason
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", p.File, p.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Reason)
}
