package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/eventlog"
	"github.com/autonomy-team/autonomy/internal/slash"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newRunsCmd(s *Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:     "runs",
		Short:   "See what was done, decided and why",
		GroupID: "look",
		Long: `Every run of the agent loop has a log of its own, .autonomy/runs/RUN.jsonl. A run may be named by the beginning of
its id.`,
		Example: "  autonomy runs list\n  autonomy runs show 01J8Z --explain\n  autonomy runs replay 01J8Z",
	}, newRunsListCmd(s), newRunsShowCmd(s), newRunsReplayCmd(s), newRunsExportCmd(s))
}

func newRunsListCmd(s *Streams) *cobra.Command {
	var last int
	var task int64
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the runs, the newest first",
		Example: "  autonomy runs list -n 5\n  autonomy runs list --task 4\n  autonomy runs list --json | jq -r '.[] | select(.termination != \"achieved\") | .run_id'",
		Args:    words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := s.app(cmd.Context())
			if err != nil {
				return err
			}
			runs, err := a.Runs(cmd.Context(), last)
			if cmd.Flags().Changed("task") {
				runs, err = a.RunsOf(cmd.Context(), autonomy.TaskID(task), last)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(runs)
			}
			return writeRuns(s.Out, runs, time.Now())
		},
	}
	cmd.Flags().IntVarP(&last, "lines", "n", 20, "how many (0 = all)")
	cmd.Flags().Int64Var(&task, "task", 0, "only runs of the task with number `N`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func writeRuns(w io.Writer, runs []app.RunInfo, now time.Time) error {
	if len(runs) == 0 {
		fmt.Fprintln(w, "No runs.")
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tWHO\tTASK\tSTARTED\tTOOK\tEND\tGOAL")
	for _, r := range runs {
		task, took := "-", "-"
		if r.Task != 0 {
			task = fmt.Sprintf("#%d", r.Task)
		}
		if !r.Finished.IsZero() {
			took = r.Finished.Sub(r.Started).Round(10 * time.Millisecond).String()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, visible.Line(firstOf(string(r.Actor), "-")), task,
			slash.Span(now.Sub(r.Started))+" ago", took, visible.Line(runEnd(r)), visible.Clip(r.Goal, 50))
	}
	return table.Flush()
}

// runEnd says how a run ended, or why that can't be said.
func runEnd(r app.RunInfo) string {
	switch {
	case r.Damaged != "":
		return "damaged"
	case r.Termination == "":
		return "not ended"
	case r.Code != "":
		return fmt.Sprintf("%s (%s)", r.Termination, r.Code)
	}
	return r.Termination
}

func newRunsShowCmd(s *Streams) *cobra.Command {
	var explained, asJSON bool
	cmd := &cobra.Command{
		Use:               "show RUN",
		Short:             "Show a run turn by turn",
		Example:           "  autonomy runs show 01J8Z\n  autonomy runs show 01J8Z --explain",
		Args:              words(1, 1),
		ValidArgsFunction: s.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, id, err := s.run(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			show := runWriter{out: s.Out, explain: explained}
			for e, err := range a.Run(id) {
				switch {
				case errors.Is(err, eventlog.ErrTorn):
					s.say("the log ends in the middle of a record: the run is going on, or its process died")
				case err != nil:
					return err
				case asJSON:
					s.print("%s", e.JSON())
				default:
					show.event(e)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&explained, "explain", false, "show every candidate of each turn with the five parts of its score")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one event a line")
	return cmd
}

// run opens the workspace and finds a run by the beginning of its id.
func (s *Streams) run(ctx context.Context, begun string) (*app.App, autonomy.RunID, error) {
	a, err := s.app(ctx)
	if err != nil {
		return nil, "", err
	}
	id, err := a.FindRun(begun)
	return a, id, err
}

func newRunsExportCmd(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:               "export RUN",
		Short:             "Print a run's events as JSON lines",
		Example:           "  autonomy runs export 01J8Z > run.jsonl",
		Args:              words(1, 1),
		ValidArgsFunction: s.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, id, err := s.run(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			for e, err := range a.Run(id) {
				if err != nil {
					return err
				}
				s.print("%s", e.JSON())
			}
			return nil
		},
	}
}

func newRunsReplayCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay RUN…",
		Short: "Decide runs anew from their logs and compare",
		Long: `Take from the log what came from outside (model replies, observations, answers), decide ranking, admission, guards,
evaluation and termination anew, and say whether the same was reached. Nothing is executed. Exit status 1 if a run
differs or its log was altered.`,
		Example:           "  autonomy runs replay 01J8Z",
		Args:              words(1, -1),
		ValidArgsFunction: s.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runReplay(cmd.Context(), s, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a run")
	return cmd
}

func runReplay(ctx context.Context, s *Streams, args []string, asJSON bool) error {
	a, err := s.app(ctx)
	if err != nil {
		return err
	}
	var failed []error
	differs := false
	for _, arg := range args {
		id, err := a.FindRun(arg)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		result, err := a.Replay(ctx, id)
		if err != nil {
			failed = append(failed, fmt.Errorf("replay %s: %w", id, err))
			continue
		}
		differs = differs || !result.Same
		switch {
		case asJSON:
			if err := jsonLines(s, []app.Replayed{result}); err != nil {
				return err
			}
		case result.Same:
			s.print("%s: the same: %s, %s", id, result.Termination, plural(result.Events, "event"))
		default:
			s.print("%s: differs: %s", id, visible.Line(result.Divergence))
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	if differs {
		return silent(ExitFailed)
	}
	return nil
}
