package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/visible"
)

type addOptions struct {
	draft     board.Draft
	blockedBy []string
	steps     []string
	owner     string
	role      string
	notBefore string
	metadata  string
	asJSON    bool
}

func newTaskAddCmd(s *Streams) *cobra.Command {
	var o addOptions
	cmd := &cobra.Command{
		Use:   "add SUBJECT…",
		Short: "Put a task on the board",
		Long: `Put a task on the board under the next free number. With --step it is a runbook and needs no model; --verify is
a command that must exit 0 before the task counts as completed.`,
		Example: `  autonomy task add "Build the docs" --step "make docs" --verify "test -s site/index.html"
  autonomy task add "Publish" --blocked-by 3,4 --priority 5 --role releaser
  autonomy task add "Nightly report" --not-before 8h --description - < report.md`,
		Args: words(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.draft.Subject = strings.Join(args, " ")
			return runTaskAdd(cmd.Context(), s, o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.draft.Description, "description", "d", "", "what is to be done, in Markdown; - reads standard input")
	f.StringVar(&o.draft.ActiveForm, "active-form", "", "label while it is worked, for example \"Building the docs\"")
	f.StringSliceVarP(&o.blockedBy, "blocked-by", "b", nil, "numbers of the tasks that must be completed first")
	f.Int64VarP(&o.draft.Priority, "priority", "p", 0, "higher is taken first")
	f.StringVar(&o.role, "role", "", "only members of this role may take it")
	f.StringSliceVar(&o.draft.Requires, "requires", nil, "toolsets or tools a member must have")
	f.StringArrayVar(&o.steps, "step", nil, "a shell `COMMAND` of its runbook; may be repeated")
	f.StringVar(&o.draft.Verify, "verify", "", "a shell `COMMAND` that must exit 0 at the end")
	f.StringVar(&o.owner, "assign", "", "only this member may take it")
	f.StringVar(&o.notBefore, "not-before", "", "an RFC 3339 `TIME`, or a span such as 30m")
	f.BoolVar(&o.draft.Worktree, "worktree", false, "work in a git worktree of its own")
	f.StringVar(&o.metadata, "metadata", "", "a JSON object of your own")
	f.BoolVar(&o.asJSON, "json", false, "print the task as JSON")
	return cmd
}

func runTaskAdd(ctx context.Context, s *Streams, o addOptions) error {
	d := o.draft
	var err error
	if d.BlockedBy, err = parseIDs(o.blockedBy); err != nil {
		return err
	}
	if d.NotBefore, err = parseMoment(o.notBefore, time.Now()); err != nil {
		return err
	}
	if d.Description == "-" {
		if d.Description, err = readAll(s.In); err != nil {
			return fmt.Errorf("read the description from standard input: %w", err)
		}
	}
	for _, step := range o.steps {
		d.Steps = append(d.Steps, board.Step{Run: step})
	}
	d.Owner, d.Role = autonomy.AgentName(o.owner), autonomy.Role(o.role)
	if o.metadata != "" {
		d.Metadata = []byte(o.metadata)
	}
	b, _, err := s.board(ctx)
	if err != nil {
		return err
	}
	task, err := b.Create(ctx, d)
	if err != nil {
		return err
	}
	if o.asJSON {
		return s.taskJSON(b, task.ID)
	}
	s.print("Created #%d: %s", task.ID, visible.Line(task.Subject))
	return nil
}

// parseMoment reads a time or a span from now; "" is the zero time.
func parseMoment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if span, err := time.ParseDuration(text); err == nil {
		return now.Add(span).UTC().Truncate(time.Second), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usage("%q is neither an RFC 3339 time nor a span such as 30m", visible.Line(text))
	}
	return t, nil
}

type editOptions struct {
	subject, description, metadata string
	priority                       int64
	blockedBy                      []string
	asJSON                         bool
}

func newTaskEditCmd(s *Streams) *cobra.Command {
	var o editOptions
	cmd := &cobra.Command{
		Use:   "edit N",
		Short: "Change subject, description, priority, blockers or metadata",
		Long: `Change fields of a task. Everything else, unknown fields included, stays byte for byte as it is. You may as well
edit the file: an edit made while a member works the task is kept.`,
		Example:           "  autonomy task edit 4 --priority 10\n  autonomy task edit 4 --blocked-by 2,3\n  autonomy task edit 4 --blocked-by ''",
		Args:              words(1, 1),
		ValidArgsFunction: s.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.description == "-" {
				text, err := readAll(s.In)
				if err != nil {
					return fmt.Errorf("read the description from standard input: %w", err)
				}
				o.description = text
			}
			patch, err := o.patch(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return s.change(cmd.Context(), args, o.asJSON, "Changed", func(ctx context.Context, b *board.Dir, id autonomy.TaskID) (board.Task, error) {
				return b.Edit(ctx, id, patch)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.subject, "subject", "", "new subject")
	f.StringVarP(&o.description, "description", "d", "", "new description; - reads standard input")
	f.Int64VarP(&o.priority, "priority", "p", 0, "new priority")
	f.StringSliceVarP(&o.blockedBy, "blocked-by", "b", nil, "new list of blockers; '' clears it")
	f.StringVar(&o.metadata, "metadata", "", "new metadata, a JSON object")
	f.BoolVar(&o.asJSON, "json", false, "print the task as JSON")
	return cmd
}

func (o editOptions) patch(changed func(string) bool) (board.Patch, error) {
	var p board.Patch
	if changed("subject") {
		p.Subject = &o.subject
	}
	if changed("description") {
		p.Description = &o.description
	}
	if changed("priority") {
		p.Priority = &o.priority
	}
	if changed("blocked-by") {
		ids, err := parseIDs(o.blockedBy)
		if err != nil {
			return p, err
		}
		p.BlockedBy = &ids
	}
	if changed("metadata") {
		p.Metadata = []byte(o.metadata)
	}
	if p.Subject == nil && p.Description == nil && p.Priority == nil && p.BlockedBy == nil && p.Metadata == nil {
		return p, usage("nothing to change: give at least one of --subject, --description, --priority, --blocked-by, --metadata")
	}
	return p, nil
}

// change applies one verb to each of the tasks named and says what became of it. A task that can't be changed does not
// keep the others from it.
func (s *Streams) change(ctx context.Context, args []string, asJSON bool, done string,
	verb func(context.Context, *board.Dir, autonomy.TaskID) (board.Task, error),
) error {
	ids, err := parseIDs(args)
	if err != nil {
		return err
	}
	b, _, err := s.board(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, id := range ids {
		task, err := verb(ctx, b, id)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if asJSON {
			failed = append(failed, s.taskJSON(b, id))
			continue
		}
		s.print("%s #%s: %s", done, strconv.FormatInt(int64(id), 10), visible.Line(task.Subject))
	}
	return errors.Join(failed...)
}

// taskJSON prints one task as it is after a change.
func (s *Streams) taskJSON(b *board.Dir, id autonomy.TaskID) error {
	e, err := b.Get(id)
	if err != nil {
		return err
	}
	return s.json(view(e))
}
