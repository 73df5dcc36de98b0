package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/app"
)

func newInitCmd(s *Streams) *cobra.Command {
	var examples bool
	cmd := &cobra.Command{
		Use:     "init [DIR]",
		Short:   "Make a folder a workspace",
		GroupID: "start",
		Long: `Make a folder a workspace: .tasks, .team, .autonomy with a commented config.yaml, and lines in .gitignore. What is
there stays as it is, so it can be run again. The workspace is trusted only if these folders were absent or empty.`,
		Example: "  autonomy init\n  autonomy init --examples",
		Args:    words(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := s.Dir
			if len(args) == 1 {
				dir = s.path(args[0])
			}
			return runInit(cmd.Context(), s, dir, examples)
		},
	}
	cmd.Flags().BoolVar(&examples, "examples", false, "copy the example board into .tasks")
	return cmd
}

func runInit(ctx context.Context, s *Streams, dir string, examples bool) error {
	done, err := app.Init(ctx, dir, app.InitOptions{Examples: examples, Getenv: s.Getenv})
	if err != nil {
		return err
	}
	s.say("Workspace %s", done.Workspace.Root)
	if len(done.Created) > 0 {
		s.say("  made     %s", strings.Join(withoutExamples(done.Created), " "))
	}
	if len(done.Changed) > 0 {
		s.say("  changed  %s", strings.Join(done.Changed, " "))
	}
	if len(done.Kept) > 0 {
		s.say("  kept     %s", strings.Join(done.Kept, " "))
	}
	if !done.Trusted {
		s.say("Not trusted, because something was there before. Look at it with 'autonomy trust --show', then run 'autonomy trust'.")
		return nil
	}
	if examples {
		s.say("Next: autonomy up --foreground --spawn alice:coder --spawn bob:tester --exit-when-idle")
		return nil
	}
	s.say("Next: autonomy task add SUBJECT --step COMMAND, then autonomy team spawn NAME ROLE")
	return nil
}

// withoutExamples is what was made with the files of the example board as a number.
func withoutExamples(made []string) []string {
	example := func(path string) bool { return strings.HasPrefix(path, ".tasks/task_") }
	rest := slices.DeleteFunc(slices.Clone(made), example)
	if n := len(made) - len(rest); n > 0 {
		rest = append(rest, "and "+plural(n, "example task"))
	}
	return rest
}
