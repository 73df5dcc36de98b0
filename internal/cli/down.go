package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/daemon"
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
			client, err := s.daemon(cmd.Context())
			var version *control.VersionError
			if err != nil && !errors.As(err, &version) {
				return err
			}
			defer client.Close()
			ws, err := s.workspace()
			if err != nil {
				return err
			}
			before := daemon.Unwritten(ws, s.Getenv)
			if err := client.Down(cmd.Context(), control.Down{Now: now}); err != nil {
				return err
			}
			for _, p := range daemon.Unwritten(ws, s.Getenv) {
				if !slices.Contains(before, p) {
					return fmt.Errorf("daemon stopped; %s: %s", p.File, p.Reason)
				}
			}
			s.say("daemon stopped")
			return nil
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "cancel what runs instead of waiting for a safe point")
	return cmd
}
