package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/slash"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newTaskShowCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "show N",
		Short:             "Show one task in full",
		Example:           "  autonomy task show 3\n  autonomy task show 3 --json | jq .failure",
		Args:              words(1, 1),
		ValidArgsFunction: s.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if err != nil {
				return err
			}
			b, a, err := s.board(cmd.Context())
			if err != nil {
				return err
			}
			e, err := b.Get(ids[0])
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(view(e))
			}
			showTask(s.Out, e, slash.TaskLine(e, slash.Open(b.List()), a.Remark(cmd.Context(), b)), time.Now())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// showTask writes a task for people: its line, then every field that is set.
func showTask(w io.Writer, e board.Entry, line string, now time.Time) {
	t := e.Task
	fmt.Fprintln(w, line)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %-11s %s\n", name, visible.Line(fmt.Sprintf(format, args...)))
	}
	row("file", "%s", e.Path)
	if e.Err != nil {
		row("invalid", "%s", e.Err)
	} else {
		row("status", "%s", t.Status)
	}
	if e.Readiness.Reason != "" && e.Readiness.Kind != board.KindStatus && e.Err == nil {
		row("not ready", "%s", e.Readiness.Reason)
	}
	showWork(row, e)
	showLife(row, t, now)
	if t.Description != "" {
		fmt.Fprintf(w, "\n%s\n", indent(visible.Block(strings.TrimRight(t.Description, "\n"))))
	}
	if t.Result != nil && t.Result.Summary != "" {
		fmt.Fprintf(w, "\n  result:\n%s\n", indent(visible.Block(strings.TrimRight(t.Result.Summary, "\n"))))
	}
	if t.Failure != nil && t.Failure.Message != "" && t.Status != board.Completed { // it is history then
		fmt.Fprintf(w, "\n  last failure:\n%s\n", indent(visible.Block(strings.TrimRight(t.Failure.Message, "\n"))))
	}
}

// showWork writes what is to be done and by whom.
func showWork(row func(name, format string, args ...any), e board.Entry) {
	t := e.Task
	if len(e.Blockers) > 0 {
		row("blocked by", "%s", joinIDs(e.Blockers))
	}
	if t.Priority != 0 {
		row("priority", "%d", t.Priority)
	}
	if t.Role != "" {
		row("role", "%s", t.Role)
	}
	if len(t.Requires) > 0 {
		row("requires", "%s", strings.Join(t.Requires, ", "))
	}
	if t.Worktree {
		row("worktree", "yes")
	}
	for i, step := range t.Steps {
		what := step.Run
		if step.Tool != "" {
			what = step.Tool + " " + slash.Arguments(step.Arguments)
		}
		if step.Name != "" {
			what = step.Name + ": " + what
		}
		row(fmt.Sprintf("step %d", i+1), "%s", what)
	}
	if t.Verify != "" {
		row("verify", "%s", t.Verify)
	}
}

// showLife writes what has happened to the task.
func showLife(row func(name, format string, args ...any), t board.Task, now time.Time) {
	if t.CreatedBy != "" {
		row("created by", "%s", t.CreatedBy)
	}
	if t.Attempt > 0 {
		row("attempt", "%d", t.Attempt)
	}
	if c := t.Claim; c != nil {
		row("claimed by", "%s, %s", c.By, ago(c.At, now))
	}
	if t.NotBefore.After(now) {
		row("not before", "%s", t.NotBefore.Local().Format(time.DateTime))
	}
	if t.Held != nil {
		row("held", "%s (autonomy task retry %d)", t.Held.Reason, t.ID)
	}
	if f := t.Failure; f != nil {
		if f.Count > 0 {
			row("failures", "%d, last %s: %s (autonomy runs list --task %d)", f.Count, ago(f.At, now), f.Code, t.ID)
		}
		if f.Deaths > 0 {
			row("owners died", "%d in a row", f.Deaths)
		}
	}
	if r := t.Result; r != nil {
		verified := "not verified"
		if r.Verified {
			verified = "verified"
		}
		row("finished", "%s, %s", ago(r.FinishedAt, now), verified)
		if r.RunID != "" {
			row("run", "%s (autonomy runs show %s)", r.RunID, r.RunID)
		}
		var u llm.Usage
		if json.Unmarshal(r.Usage, &u) == nil && u.Total() > 0 { // a person's file may hold anything there
			row("tokens", "%d + %d, cost %s, in the last attempt", u.Prompt, u.Completion, slash.Dollars(control.Usage{
				Prompt: u.Prompt, Completion: u.Completion, Cost: u.Cost, CostKnown: u.CostKnown,
			}))
		}
	}
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

func joinIDs(ids []autonomy.TaskID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	return strings.Join(words, ", ")
}

// explanation is what `task explain --json` prints.
type explanation struct {
	Task     taskView            `json:"task"`
	Blockers []explainedBlocker  `json:"blockers"`
	Members  []explainedClaimant `json:"members"`
	Nobody   bool                `json:"nobody"` // ready, and no member may take it
}

type explainedBlocker struct {
	ID       autonomy.TaskID `json:"id"`
	State    board.NodeState `json:"state"`
	Archived bool            `json:"archived,omitempty"`
}

type explainedClaimant struct {
	Name     autonomy.AgentName `json:"name"`
	Eligible bool               `json:"eligible"`
	Live     bool               `json:"live"` // it runs now, so that it will look
	Reason   string             `json:"reason,omitempty"`
}

func explanationView(why board.Explanation, live map[autonomy.AgentName]bool) explanation {
	x := explanation{Task: view(why.Entry), Blockers: []explainedBlocker{}, Members: []explainedClaimant{}, Nobody: why.Nobody}
	for _, b := range why.Blockers {
		x.Blockers = append(x.Blockers, explainedBlocker(b))
	}
	for _, m := range why.Members {
		x.Members = append(x.Members, explainedClaimant{Name: m.Name, Eligible: m.OK, Live: live[m.Name], Reason: m.Reason})
	}
	return x
}

// live is who runs now, as far as a daemon can be asked.
func (s *Streams) live(ctx context.Context) map[autonomy.AgentName]bool {
	client, err := s.daemon(ctx)
	if err != nil {
		return nil
	}
	defer client.Close()
	team, err := client.Team(ctx)
	if err != nil {
		return nil
	}
	live := map[autonomy.AgentName]bool{}
	for _, m := range team.Members {
		switch m.State {
		case "starting", "idle", "working", "waiting_approval", "backoff":
			live[autonomy.AgentName(m.Name)] = true
		}
	}
	return live
}

func explain(w io.Writer, why board.Explanation, live map[autonomy.AgentName]bool) {
	e := why.Entry
	fmt.Fprintf(w, "#%d: %s\n", e.ID, visible.Line(e.Task.Subject))
	switch {
	case why.Nobody && len(why.Members) == 0:
		fmt.Fprintln(w, "  ready; the team has no member that could take it")
	case why.Nobody:
		fmt.Fprintln(w, "  ready; no member may take it")
	case e.Readiness.Ready:
		fmt.Fprintln(w, "  ready")
	default:
		fmt.Fprintf(w, "  not ready: %s\n", visible.Line(e.Readiness.Reason))
	}
	for _, b := range why.Blockers {
		archived := ""
		if b.Archived {
			archived = ", archived"
		}
		fmt.Fprintf(w, "  waits for #%d: %s%s\n", b.ID, b.State, archived)
	}
	if e.Task.Status != board.Pending || e.Err != nil {
		return // nobody is to take it
	}
	for _, m := range why.Members {
		switch {
		case m.OK && live[m.Name]:
			fmt.Fprintf(w, "  %s may take it\n", visible.Line(string(m.Name)))
			continue
		case m.OK:
			fmt.Fprintf(w, "  %s may take it once it runs\n", visible.Line(string(m.Name)))
			continue
		}
		fmt.Fprintf(w, "  %s may not: %s\n", visible.Line(string(m.Name)), visible.Line(m.Reason))
	}
}
