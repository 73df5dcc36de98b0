package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/slash"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newTaskCmd(s *Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:     "task",
		Aliases: []string{"tasks"},
		Short:   "Look at the board and change it",
		GroupID: "board",
		Long: `Look at the board and change it. A task is a file, .tasks/task_N.json; you may also drop, edit and delete
these files by hand at any time. None of these commands needs a daemon.`,
		Example: `  autonomy task add "Fix the flaky test" --step "go test ./..." --verify "go vet ./..."
  autonomy task list
  autonomy task explain 4`,
	}, newTaskAddCmd(s), newTaskListCmd(s), newTaskShowCmd(s), newTaskEditCmd(s), newTaskAssignCmd(s), newTaskClaimCmd(s),
		newTaskCompleteCmd(s), newTaskReleaseCmd(s), newTaskRetryCmd(s), newTaskCancelCmd(s), newTaskExplainCmd(s),
		newTaskGraphCmd(s), newTaskCheckCmd(s), newTaskArchiveCmd(s))
}

// parseIDs reads task numbers; "#3" is accepted too.
func parseIDs(args []string) ([]autonomy.TaskID, error) {
	var ids []autonomy.TaskID
	for _, arg := range args {
		n, err := strconv.ParseInt(strings.TrimPrefix(arg, "#"), 10, 64)
		if err != nil || n < 1 {
			return nil, usage("%q is not a task number", visible.Line(arg))
		}
		ids = append(ids, autonomy.TaskID(n))
	}
	return ids, nil
}

type listOptions struct {
	status string
	ready  bool
	owner  string
	asJSON bool
}

func newTaskListCmd(s *Streams) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "Show the board",
		Long: `Show the board in the order of the numbers:

  [ ] pending   [>] in progress   [x] completed   [!] needs a person, with the reason`,
		Example: "  autonomy task list\n  autonomy task list --ready\n  autonomy task list --json | jq '.[] | select(.ready) | .id'",
		Args:    words(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runTaskList(cmd.Context(), s, o) },
	}
	cmd.Flags().StringVar(&o.status, "status", "", "only tasks of this `STATUS`, or \"invalid\"")
	cmd.Flags().BoolVar(&o.ready, "ready", false, "only tasks that could be claimed now")
	cmd.Flags().StringVar(&o.owner, "owner", "", "only tasks of this owner")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

func runTaskList(ctx context.Context, s *Streams, o listOptions) error {
	switch board.Status(o.status) {
	case "", "invalid", board.Pending, board.InProgress, board.Completed, board.Failed, board.Cancelled:
	default:
		return usage("--status %q: want pending, in_progress, completed, failed, cancelled or invalid", o.status)
	}
	b, a, err := s.board(ctx)
	if err != nil {
		return err
	}
	entries := b.List()
	open := slash.Open(entries)
	shown := make([]board.Entry, 0, len(entries))
	for _, e := range entries {
		if o.match(e) {
			shown = append(shown, e)
		}
	}
	if o.asJSON {
		views := make([]taskView, len(shown))
		for i, e := range shown {
			views[i] = view(e)
		}
		return s.json(views)
	}
	slash.Tasks(s.Out, shown, open, a.Remark(ctx, b))
	return nil
}

func (o listOptions) match(e board.Entry) bool {
	if o.status == "invalid" && e.Err == nil {
		return false
	}
	if o.status != "" && o.status != "invalid" && (e.Err != nil || string(e.Task.Status) != o.status) {
		return false
	}
	return (!o.ready || e.Readiness.Ready) && (o.owner == "" || string(e.Task.Owner) == o.owner)
}

func newTaskExplainCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "explain N",
		Short:             "Say why a task is, or is not, being worked",
		Example:           "  autonomy task explain 4",
		Args:              words(1, 1),
		ValidArgsFunction: s.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if err != nil {
				return err
			}
			b, a, err := s.board(cmd.Context())
			if err != nil {
				return err
			}
			members, err := a.Claimants(cmd.Context())
			if err != nil {
				return err
			}
			why, err := b.Explain(ids[0], members)
			if err != nil {
				return err
			}
			live := s.live(cmd.Context())
			if asJSON {
				return s.json(explanationView(why, live))
			}
			explain(s.Out, why, live)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newTaskGraphCmd(s *Streams) *cobra.Command {
	var dot, asJSON bool
	cmd := &cobra.Command{
		Use:     "graph",
		Short:   "Show which task waits for which",
		Example: "  autonomy task graph\n  autonomy task graph --dot | dot -Tsvg > board.svg",
		Args:    words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, _, err := s.board(cmd.Context())
			if err != nil {
				return err
			}
			switch {
			case dot && asJSON:
				return usage("--dot and --json exclude each other")
			case asJSON:
				return s.json(graphOf(b.List()))
			case dot:
				slash.DOT(s.Out, b.List())
			default:
				slash.Graph(s.Out, b.List())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&dot, "dot", false, "print Graphviz DOT")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print nodes and edges as JSON")
	return cmd
}
