package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newSendCmd(s *Streams) *cobra.Command {
	var req control.SendRequest
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "send NAME TEXT…",
		Short:   "Send mail to a member, to the lead, or to all",
		GroupID: "team",
		Long: `Send mail. When the command returns, the message is on disk. A member that does not run finds it when it
starts; without a daemon the message is queued.`,
		Example: `  autonomy send alice "please look at task 3 first"
  autonomy send all "the build is green again"
  git diff | autonomy send bob -`,
		Args:              words(2, -1),
		ValidArgsFunction: s.completeMailboxes,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.To, req.Content = args[0], strings.Join(args[1:], " ")
			return runSend(cmd.Context(), s, req, asJSON)
		},
	}
	cmd.Flags().BoolVar(&req.Interrupt, "interrupt", false, "cancel the receiver's model call in flight")
	cmd.Flags().StringVar(&req.ReplyTo, "reply-to", "", "id of the message that this answers")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the ids as JSON")
	return cmd
}

func runSend(ctx context.Context, s *Streams, req control.SendRequest, asJSON bool) error {
	if req.Content == "-" {
		text, err := readAll(s.In)
		if err != nil {
			return fmt.Errorf("read the message from standard input: %w", err)
		}
		req.Content = text
	}
	if strings.TrimSpace(req.Content) == "" {
		return usage("the message is empty")
	}
	reply, err := s.send(ctx, req)
	if err != nil {
		return err
	}
	if asJSON {
		return s.json(reply)
	}
	line := fmt.Sprintf("Sent to %s", visible.Line(req.To))
	if reply.Note != "" {
		line += " (" + visible.Line(reply.Note) + ")"
	}
	s.print("%s", line)
	return nil
}

// maxInput bounds what is read from standard input for a message or a prompt.
const maxInput = 256 << 10

func readAll(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxInput {
		return "", fmt.Errorf("more than %d KiB", maxInput>>10)
	}
	return strings.TrimRight(string(data), "\n"), nil
}
