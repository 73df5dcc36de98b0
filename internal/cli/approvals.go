package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/slash"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newApprovalsCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "approvals",
		Short:   "List what members ask leave for",
		Example: "  autonomy approvals\n  autonomy approvals --json | jq -r '.[].id'",
		GroupID: "look",
		Args:    words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			daemon, err := s.daemon(cmd.Context())
			if err != nil {
				return err
			}
			defer daemon.Close()
			list, err := daemon.Approvals(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(list)
			}
			slash.Approvals(s.Out, list, time.Now())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// newAnswerCmd makes `approve` and `deny`.
func newAnswerCmd(s *Streams, verb, done, short string, approve bool) *cobra.Command {
	var feedback string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     verb + " ID",
		Short:   short,
		Example: fmt.Sprintf("  autonomy %[1]s 01KBB3T5V3M4Y0Z8Q2C7R6N1XA\n  autonomy %[1]s 01KBB3T5V3M4Y0Z8Q2C7R6N1XA --feedback 'only in the build folder'", verb),
		GroupID: "look",
		Args:    words(1, 1),

		ValidArgsFunction: s.completeApprovals,
		RunE: func(cmd *cobra.Command, args []string) error {
			daemon, err := s.daemon(cmd.Context())
			if err != nil {
				return err
			}
			defer daemon.Close()
			got, err := daemon.Answer(cmd.Context(), control.Answer{ID: args[0], Approve: approve, Feedback: feedback})
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(got)
			}
			s.print("%s %s (%s)", done, visible.Line(got.ID), visible.Line(got.Member))
			return nil
		},
	}
	cmd.Flags().StringVar(&feedback, "feedback", "", "a word to the member")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the request as JSON")
	return cmd
}
