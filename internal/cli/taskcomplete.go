package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/visible"
)

type completeOptions struct {
	summary  string
	noVerify bool
	asJSON   bool
}

func newTaskCompleteCmd(s *Streams) *cobra.Command {
	var o completeOptions
	cmd := &cobra.Command{
		Use:   "complete N…",
		Short: "Say that a task is done",
		Long: `Say that a task is done. If it has a verify command, that is run first and must exit 0; --no-verify skips it, and
the result says so. The tasks it waits for must be completed.`,
		Example:           "  autonomy task complete 3 --summary 'done by hand'",
		Args:              words(1, -1),
		ValidArgsFunction: s.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := s.app(cmd.Context())
			if err != nil {
				return err
			}
			return s.change(cmd.Context(), args, o.asJSON, "Completed", func(ctx context.Context, b *board.Dir, id autonomy.TaskID) (board.Task, error) {
				return completeTask(ctx, s, a, b, id, o)
			})
		},
	}
	cmd.Flags().StringVar(&o.summary, "summary", "", "what was done")
	cmd.Flags().BoolVar(&o.noVerify, "no-verify", false, "do not run the task's verify command")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the task as JSON")
	return cmd
}

func completeTask(ctx context.Context, s *Streams, a *app.App, b *board.Dir, id autonomy.TaskID, o completeOptions) (board.Task, error) {
	e, err := b.Get(id)
	if err != nil {
		return board.Task{}, err
	}
	result := board.Result{Summary: o.summary}
	switch {
	case e.Task.Verify != "" && o.noVerify:
		result.Summary = joinSentence(result.Summary, "not verified, by request")
	case e.Task.Verify != "" && e.Task.Status != board.Completed:
		s.say("verify: %s", visible.Line(e.Task.Verify))
		ok, exit, output, err := a.Verify(ctx, e.Task.Verify, nil)
		if err != nil {
			return board.Task{}, err
		}
		if !ok {
			return board.Task{}, hinted(fmt.Errorf("task %d is not completed: verify ended with status %d\n%s", id, exit, indent(output)),
				"correct it, or say --no-verify")
		}
		result.Verified = true
	}
	return b.Complete(ctx, id, result)
}

func joinSentence(text, more string) string {
	if text == "" {
		return more
	}
	return text + " (" + more + ")"
}
