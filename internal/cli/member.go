package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/slash"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newTeamStopCmd(s *Streams) *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:   "stop NAME…",
		Short: "End members; their tasks go back to the board",
		Long: `End members at their next safe point, at the latest after 30 s. Their tasks are released, uncounted.
A stopped member stays on the roster and is not revived; 'team spawn' brings it back.`,
		Example:           "  autonomy team stop alice\n  autonomy team stop alice bob --now",
		Args:              words(1, -1),
		ValidArgsFunction: s.completeMembers,
		RunE: func(cmd *cobra.Command, args []string) error {
			daemon, err := s.daemon(cmd.Context())
			if err != nil {
				return err
			}
			defer daemon.Close()
			var failed []error
			for _, name := range args {
				if err := daemon.Stop(cmd.Context(), control.StopRequest{Name: name, Now: now}); err != nil {
					failed = append(failed, err)
					continue
				}
				s.print("Stopped '%s'", visible.Line(name))
			}
			return errors.Join(failed...)
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "do not wait for a safe point")
	return cmd
}

func newTeamRemoveCmd(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:               "rm NAME",
		Aliases:           []string{"remove"},
		Short:             "Take a member that does not run off the roster",
		Example:           "  autonomy team rm alice",
		Args:              words(1, 1),
		ValidArgsFunction: s.completeMembers,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := removeMember(cmd.Context(), s, args[0]); err != nil {
				return err
			}
			s.print("Removed '%s'", visible.Line(args[0]))
			return nil
		},
	}
}

// removeMember asks the daemon; without one it holds the daemon's lock while it rewrites the roster.
func removeMember(ctx context.Context, s *Streams, name string) error {
	daemon, err := s.daemon(ctx)
	if err == nil {
		defer daemon.Close()
		return daemon.Remove(ctx, name)
	}
	if !errors.Is(err, control.ErrNotRunning) {
		return err
	}
	a, err := s.app(ctx)
	if err != nil {
		return err
	}
	return a.RemoveMember(ctx, autonomy.AgentName(name))
}

func newTeamLogsCmd(s *Streams) *cobra.Command {
	var follow, asJSON bool
	var last int
	cmd := &cobra.Command{
		Use:               "logs [NAME]",
		Short:             "Show what happened in the team",
		Long:              "Show the team's events: who was spawned, claimed, completed, failed and why. With a name, only that member's.",
		Example:           "  autonomy team logs -n 20\n  autonomy team logs alice --follow",
		Args:              words(0, 1),
		ValidArgsFunction: s.completeMembers,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := s.app(cmd.Context())
			if err != nil {
				return err
			}
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			show := func(e control.Event) error {
				if name != "" && e.Actor != name {
					return nil
				}
				return showEvent(s.Out, e, asJSON)
			}
			return teamLogs(cmd.Context(), a.TeamEvents, show, name, last, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what comes, until interrupted")
	cmd.Flags().IntVarP(&last, "lines", "n", 50, "how many past events (0 = all)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// eventSource yields the team's events in order; with follow it then waits for more.
type eventSource func(ctx context.Context, follow bool, yield func(control.Event) error) error

func teamLogs(ctx context.Context, events eventSource, show func(control.Event) error, name string, last int, follow bool) error {
	var tail []control.Event
	var seen int64
	err := events(ctx, false, func(e control.Event) error {
		seen = e.Seq
		if name != "" && e.Actor != name {
			return nil
		}
		tail = append(tail, e)
		if last > 0 && len(tail) > last {
			tail = tail[1:]
		}
		return nil
	})
	for _, e := range tail {
		if err := show(e); err != nil {
			return err
		}
	}
	if err != nil || !follow {
		return err
	}
	err = events(ctx, true, func(e control.Event) error {
		if e.Seq <= seen {
			return nil
		}
		return show(e)
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func showEvent(w io.Writer, e control.Event, asJSON bool) error {
	if asJSON {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("write event %d: %w", e.Seq, err)
		}
		_, err = fmt.Fprintf(w, "%s\n", line)
		return err
	}
	_, err := fmt.Fprintf(w, "%s  %s\n", e.Time.Local().Format(time.DateTime), slash.EventLine(e))
	return err
}
