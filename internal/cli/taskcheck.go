package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newTaskCheckCmd(s *Streams) *cobra.Command {
	var folder string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look at every file of the board and say what is wrong",
		Long: `Look at every name in the board's folder and say what the board makes of it: accepted, invalid (with line, column
and reason) or ignored. Nothing is changed. Exit status 1 if a file is invalid.`,
		Example: "  autonomy task check\n  autonomy task check --json --board ./incoming",
		Args:    words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTaskCheck(cmd.Context(), s, folder, asJSON)
		},
	}
	cmd.Flags().StringVar(&folder, "board", "", "check this `DIR` instead of the workspace's board")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a name, one a line")
	return cmd
}

func runTaskCheck(ctx context.Context, s *Streams, folder string, asJSON bool) error {
	b, err := s.checkedBoard(ctx, folder)
	if err != nil {
		return err
	}
	names, err := b.Check(ctx)
	if err != nil {
		return err
	}
	invalid := 0
	for _, c := range names {
		if c.State == board.CheckInvalid {
			invalid++
		}
	}
	if asJSON {
		if err := jsonLines(s, names); err != nil {
			return err
		}
	} else {
		for _, c := range names {
			s.print("%s", checkLine(c))
		}
		s.say("%s, %d invalid", plural(len(names), "name"), invalid)
	}
	if invalid > 0 {
		return silent(ExitFailed)
	}
	return nil
}

// checkedBoard opens any folder as a board, without the workspace's trust: nothing of it will act.
func (s *Streams) checkedBoard(ctx context.Context, folder string) (*board.Dir, error) {
	if folder == "" {
		a, err := s.app(ctx)
		if err != nil {
			return nil, err
		}
		return a.Board()
	}
	return board.Open(board.Config{Path: s.path(folder)})
}

func checkLine(c board.Checked) string {
	line := fmt.Sprintf("%-9s %s", c.State, visible.Line(c.File))
	switch {
	case c.Error != nil && c.Error.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", line, c.Error.Line, c.Error.Column, visible.Line(c.Error.Message))
	case c.Error != nil:
		return fmt.Sprintf("%s: %s", line, visible.Line(c.Error.Message))
	case c.State == board.CheckAccepted && c.Ready:
		return line + ": ready"
	case c.Reason != "":
		return fmt.Sprintf("%s: %s", line, visible.Line(c.Reason))
	}
	return line
}
