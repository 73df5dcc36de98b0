package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/visible"
)

type taskVerb func(context.Context, *board.Dir, autonomy.TaskID) (board.Task, error)

// newVerbCmd makes a command that applies one verb of the board to the tasks named.
func newVerbCmd(s *Streams, cmd *cobra.Command, done string, verb taskVerb) *cobra.Command {
	var asJSON bool
	cmd.Args = words(1, -1)
	cmd.ValidArgsFunction = s.completeTasks
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return s.change(cmd.Context(), args, asJSON, done, verb)
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the task as JSON")
	return cmd
}

func newTaskReleaseCmd(s *Streams) *cobra.Command {
	return newVerbCmd(s, &cobra.Command{
		Use:   "release N…",
		Short: "Give a task back to the board",
		Long: `Give a task in progress back to the board. If a member works it, the member is told and stops; the task is offered
to the others when that attempt has ended.`,
		Example: "  autonomy task release 3",
	}, "Released", func(ctx context.Context, b *board.Dir, id autonomy.TaskID) (board.Task, error) {
		return b.Release(ctx, id)
	})
}

func newTaskRetryCmd(s *Streams) *cobra.Command {
	return newVerbCmd(s, &cobra.Command{
		Use:     "retry N…",
		Short:   "Let a failed or held task be worked again",
		Long:    "Let a failed or held task be worked again: it becomes pending, and its counts of failures start anew.",
		Example: "  autonomy task retry 3 4",
	}, "Retrying", func(ctx context.Context, b *board.Dir, id autonomy.TaskID) (board.Task, error) {
		return b.Retry(ctx, id)
	})
}

func newTaskCancelCmd(s *Streams) *cobra.Command {
	return newVerbCmd(s, &cobra.Command{
		Use:   "cancel N…",
		Short: "Cancel a task; a member that works it stops",
		Long: `Cancel a task. If a member works it, the member is told and stops. What waits for it has a dead dependency, and says
so.`,
		Example: "  autonomy task cancel 3",
	}, "Cancelled", func(ctx context.Context, b *board.Dir, id autonomy.TaskID) (board.Task, error) {
		return b.Cancel(ctx, id)
	})
}

func newTaskClaimCmd(s *Streams) *cobra.Command {
	var as string
	cmd := newVerbCmd(s, &cobra.Command{
		Use:   "claim N…",
		Short: "Take a task yourself",
		Long: `Take a task yourself, so that no member does. A person may hold many tasks; they are never taken back.
Finish with 'task complete' or 'task release'.`,
		Example: "  autonomy task claim 3\n  autonomy task claim 3 --as maria",
	}, "Claimed", func(ctx context.Context, b *board.Dir, id autonomy.TaskID) (board.Task, error) {
		return b.ClaimByPerson(ctx, id, autonomy.AgentName(as))
	})
	cmd.Flags().StringVar(&as, "as", "user", "your name on the board")
	return cmd
}

func newTaskAssignCmd(s *Streams) *cobra.Command {
	var free, asJSON bool
	cmd := &cobra.Command{
		Use:               "assign N NAME",
		Short:             "Say who alone may take a task",
		Long:              "Assign a task: only that member may claim it. If another member works it, that one is told and stops.",
		Example:           "  autonomy task assign 3 alice\n  autonomy task assign 3 --free",
		Args:              words(1, 2),
		ValidArgsFunction: s.completeAssign,
		RunE: func(cmd *cobra.Command, args []string) error {
			if free == (len(args) == 2) {
				return usage("give either a NAME or --free")
			}
			name, done := autonomy.AgentName(""), "Freed"
			if !free {
				name, done = autonomy.AgentName(args[1]), "Assigned to "+visible.Line(args[1])
			}
			return s.change(cmd.Context(), args[:1], asJSON, done, func(ctx context.Context, b *board.Dir, id autonomy.TaskID) (board.Task, error) {
				return b.Assign(ctx, id, name)
			})
		},
	}
	cmd.Flags().BoolVar(&free, "free", false, "let anyone take it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the task as JSON")
	return cmd
}

func newTaskArchiveCmd(s *Streams) *cobra.Command {
	var finished, asJSON bool
	cmd := &cobra.Command{
		Use:   "archive [N…]",
		Short: "Move finished tasks out of sight",
		Long: `Move completed, failed and cancelled tasks to .tasks/archive. Their numbers are never used again, and a completed
task in the archive still counts for those that wait for it.`,
		Example:           "  autonomy task archive 1 2\n  autonomy task archive --finished",
		Args:              words(0, -1),
		ValidArgsFunction: s.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if err != nil {
				return err
			}
			if finished == (len(ids) > 0) {
				return usage("give either task numbers or --finished")
			}
			b, _, err := s.board(cmd.Context())
			if err != nil {
				return err
			}
			if finished {
				ids = finishedTasks(b.List())
			}
			if err := b.Archive(cmd.Context(), ids...); err != nil {
				return err
			}
			if asJSON {
				return s.json(map[string][]autonomy.TaskID{"archived": append([]autonomy.TaskID{}, ids...)})
			}
			s.print("Archived %s", plural(len(ids), "task"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&finished, "finished", false, "all completed and cancelled tasks that nothing open waits for")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the numbers as JSON")
	return cmd
}

// finishedTasks are the completed and cancelled tasks; a cancelled one stays while an open task waits for it, since the
// reason would be gone with it.
func finishedTasks(entries []board.Entry) []autonomy.TaskID {
	needed := map[autonomy.TaskID]bool{}
	for _, e := range entries {
		if e.Task.Status == board.Pending || e.Task.Status == board.InProgress {
			for _, id := range e.Blockers {
				needed[id] = true
			}
		}
	}
	var ids []autonomy.TaskID
	for _, e := range entries {
		if e.Err == nil && (e.Task.Status == board.Completed || e.Task.Status == board.Cancelled && !needed[e.ID]) {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
