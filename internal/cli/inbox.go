package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/slash"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newInboxCmd(s *Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:     "inbox",
		Short:   "Look at mailboxes without consuming anything",
		GroupID: "team",
		Example: "  autonomy inbox list alice\n  autonomy inbox check .team/inbox/alice.jsonl",
	}, newInboxListCmd(s), newInboxCheckCmd(s))
}

func newInboxListCmd(s *Streams) *cobra.Command {
	var asJSON, unread bool
	var last int
	cmd := &cobra.Command{
		Use:   "list [NAME]",
		Short: "Show a mailbox; without a name your own",
		Long: `Show a mailbox. Looking never consumes: what a member has not read yet stays unread. Without a name it is the
mailbox of 'user', where members write to people.`,
		Example:           "  autonomy inbox list\n  autonomy inbox list alice --unread",
		Args:              words(0, 1),
		ValidArgsFunction: s.completeMailboxes,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := autonomy.AgentName("user")
			if len(args) == 1 {
				name = autonomy.AgentName(args[0])
			}
			a, err := s.app(cmd.Context())
			if err != nil {
				return err
			}
			mail, err := a.Mailbox(cmd.Context(), name, last, unread)
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(mailViews(mail))
			}
			slash.Mail(s.Out, name, mail)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&unread, "unread", false, "only what has not been read")
	cmd.Flags().IntVarP(&last, "lines", "n", 50, "how many of the newest messages (0 = all)")
	return cmd
}

// mailView is a message as --json prints it: the fields of its line, and whether it has been read.
type mailView struct {
	ID        autonomy.MessageID `json:"id"`
	Kind      inbox.Kind         `json:"type"`
	From      autonomy.AgentName `json:"from"`
	To        autonomy.AgentName `json:"to,omitempty"`
	Content   string             `json:"content"`
	Timestamp time.Time          `json:"timestamp,omitzero"`
	ReplyTo   autonomy.MessageID `json:"replyTo,omitempty"`
	Read      bool               `json:"read"`
}

func mailViews(mail []inbox.Listed) []mailView {
	views := make([]mailView, len(mail))
	for i, m := range mail {
		views[i] = mailView{
			ID: m.ID, Kind: m.Kind, From: m.From, To: m.To, Content: m.Content, Timestamp: m.Timestamp,
			ReplyTo: m.ReplyTo, Read: m.Read,
		}
	}
	return views
}

func newInboxCheckCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Look at every line of a mailbox file and say what is wrong",
		Long: `Look at every line of a mailbox file: delivered, rejected (with the reason), waiting (an unfinished last line) or
ignored. Nothing is changed. Exit status 1 if a line is rejected.`,
		Example: "  autonomy inbox check .team/inbox/alice.jsonl",
		Args:    words(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInboxCheck(cmd.Context(), s, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func runInboxCheck(_ context.Context, s *Streams, path string, asJSON bool) error {
	path = s.path(path)
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the mailbox: %w", err)
	}
	defer file.Close()
	lines, err := inbox.Check(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	rejected := 0
	for _, l := range lines {
		if l.State == inbox.Rejected {
			rejected++
		}
	}
	if asJSON {
		if err := jsonLines(s, lines); err != nil {
			return err
		}
	} else {
		for _, l := range lines {
			s.print("%5d  %-9s  %s", l.Line, l.State, visible.Line(firstOf(l.Error, string(l.ID))))
		}
		s.say("%s, %d rejected", plural(len(lines), "line"), rejected)
	}
	if rejected > 0 {
		return silent(ExitFailed)
	}
	return nil
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
