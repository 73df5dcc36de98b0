package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/slash"
)

type waitOptions struct {
	all     bool
	timeout time.Duration
	quiet   bool
	asJSON  bool
}

func newWaitCmd(s *Streams) *cobra.Command {
	var o waitOptions
	cmd := &cobra.Command{
		Use:     "wait [N…]",
		Short:   "Wait until tasks are done",
		GroupID: "board",
		Long: `Wait until the tasks named, or all of them, are done. Progress goes to standard error.

Exit status: 0 when each is completed or cancelled; 4 as soon as all that is left is failed, held, invalid, or
waits for such a task; 6 when the time is over.`,
		Example:           "  autonomy wait --all\n  autonomy wait 3 4 --timeout 30m",
		Args:              words(0, -1),
		ValidArgsFunction: s.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if err != nil {
				return err
			}
			if o.all == (len(ids) > 0) {
				return usage("give either task numbers or --all")
			}
			return runWait(cmd.Context(), s, ids, o)
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "wait for every task of the board")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 24*time.Hour, "give up after this long")
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "no progress")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the tasks waited for as JSON at the end")
	return cmd
}

// waitPoll is how often the board is looked at when no file event comes.
const waitPoll = time.Second

func runWait(ctx context.Context, s *Streams, ids []autonomy.TaskID, o waitOptions) error {
	b, a, err := s.board(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := b.Get(id); err != nil && !a.Archived(id) {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, errWaitOver)
	defer cancel()
	code, err := await(ctx, s, a, b, ids, o)
	if err != nil {
		return err
	}
	if o.asJSON {
		views := []taskView{}
		for _, e := range chosen(b.List(), ids) {
			views = append(views, view(e))
		}
		if err := s.json(views); err != nil {
			return err
		}
	}
	return silent(code)
}

var errWaitOver = &failure{code: ExitTimeout, err: fmt.Errorf("the time is over")}

// await looks at the board again at every change until nothing is left to wait for.
func await(ctx context.Context, s *Streams, a *app.App, b *board.Dir, ids []autonomy.TaskID, o waitOptions) (int, error) {
	changes, stop := a.WatchBoard(ctx, waitPoll)
	defer stop()
	idle := !o.quiet && s.nobodyWorks(ctx)
	said := map[autonomy.TaskID]string{}
	for {
		entries := b.List()
		if gone := vanished(a, b, ids); gone != 0 {
			return ExitFailed, fmt.Errorf("task %d was removed", gone)
		}
		left := leftOver(chosen(entries, ids))
		if !o.quiet {
			progress(s, entries, ids, said, a.Remark(ctx, b))
		}
		if len(left) == 0 {
			return ExitOK, nil
		}
		if hopeless(b, left) {
			s.say("%s left for a person:", plural(len(left), "task"))
			sayTasks(s, left, entries, a.Remark(ctx, b))
			return ExitUnfinished, nil
		}
		if idle {
			s.say(nobodyWorks)
			idle = false
		}
		select {
		case <-ctx.Done():
			if context.Cause(ctx) == error(errWaitOver) {
				s.say("the time is over; %s left:", plural(len(left), "task"))
				sayTasks(s, left, entries, a.Remark(context.WithoutCancel(ctx), b))
				return ExitTimeout, nil
			}
			return ExitFailed, ctx.Err()
		case names := <-changes:
			if _, err := b.Refresh(ctx, names...); err != nil && ctx.Err() == nil {
				return ExitFailed, fmt.Errorf("read the board: %w", err)
			}
		}
	}
}

// sayTasks lists what is left of entries, and why.
func sayTasks(s *Streams, left, entries []board.Entry, remark func(board.Entry) string) {
	for _, e := range left {
		s.say("  %s", slash.TaskLine(e, slash.Open(entries), remark))
	}
}

// vanished is the first task waited for that is neither on the board nor in the archive, 0 if there is none. To end as
// if it were done would tell a script that it succeeded.
func vanished(a *app.App, b *board.Dir, ids []autonomy.TaskID) autonomy.TaskID {
	for _, id := range ids {
		if _, err := b.Get(id); err != nil && !a.Archived(id) {
			return id
		}
	}
	return 0
}

// chosen are the entries waited for; no ids means all of them.
func chosen(entries []board.Entry, ids []autonomy.TaskID) []board.Entry {
	if len(ids) == 0 {
		return entries
	}
	want := map[autonomy.TaskID]bool{}
	for _, id := range ids {
		want[id] = true
	}
	var picked []board.Entry
	for _, e := range entries {
		if want[e.ID] {
			picked = append(picked, e)
		}
	}
	return picked
}

// leftOver are the entries that are neither completed nor cancelled.
func leftOver(entries []board.Entry) []board.Entry {
	var left []board.Entry
	for _, e := range entries {
		if e.Err != nil || e.Task.Status != board.Completed && e.Task.Status != board.Cancelled {
			left = append(left, e)
		}
	}
	return left
}

// hopeless reports whether none of what is left can finish without a person.
func hopeless(b *board.Dir, left []board.Entry) bool {
	stuck := map[autonomy.TaskID]bool{}
	for _, id := range b.Stuck() {
		stuck[id] = true
	}
	for _, e := range left {
		if e.Err == nil && e.Task.Status != board.Failed && !stuck[e.ID] {
			return false
		}
	}
	return true
}

// nobodyWorks reports whether no daemon runs: then people alone can end the wait.
func (s *Streams) nobodyWorks(ctx context.Context) bool {
	daemon, err := s.daemon(ctx)
	if err == nil {
		daemon.Close()
	}
	return errors.Is(err, control.ErrNotRunning)
}

// progress says each change of a task's line once, and at first what is under way and what nobody takes, with why.
func progress(s *Streams, entries []board.Entry, ids []autonomy.TaskID, said map[autonomy.TaskID]string,
	remark func(board.Entry) string,
) {
	open := slash.Open(entries)
	first := len(said) == 0
	for _, e := range chosen(entries, ids) {
		state := string(e.Task.Status) + string(e.Readiness.Kind) + string(e.Task.Owner)
		if said[e.ID] == state {
			continue
		}
		said[e.ID] = state
		if !first || e.Task.Status == board.InProgress || e.Readiness.Ready && remark(e) != "" {
			s.say("%s  %s", time.Now().Format(time.TimeOnly), slash.TaskLine(e, open, remark))
		}
	}
}
