package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/control"
)

func newDownCmd(s *Streams) *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:     "down",
		Short:   "Stop the daemon; the roster stays",
		GroupID: "start",
		Long: `Stop the daemon. Members end at their next safe point, within 10 s; their tasks go back to the board.
The roster stays: 'up' revives its members when there is work, 'up --resume' at once.`,
		Example: "  autonomy down\n  autonomy down --now",
		Args:    words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			daemon, err := s.daemon(cmd.Context())
			var version *control.VersionError
			if err != nil && !errors.As(err, &version) {
				return err
			}
			defer daemon.Close()
			if err := daemon.Down(cmd.Context(), control.Down{Now: now}); err != nil {
				return err
			}
			s.say("daemon stopped")
			return nil
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "cancel what runs instead of waiting for a safe point")
	return cmd
}
