package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/outcome"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/slash"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// runWriter writes the events of a run for people, one line each, in the order of the log.
type runWriter struct {
	out     io.Writer
	explain bool
	turn    int
}

func (w *runWriter) line(format string, args ...any) {
	fmt.Fprintf(w.out, format+"\n", args...)
}

func (w *runWriter) event(e app.RunEvent) {
	if e.Event.Turn != w.turn {
		w.turn = e.Event.Turn
		w.line("turn %d", w.turn)
	}
	switch d := e.Event.Data.(type) {
	case agent.RunStarted:
		w.started(e, d)
	case agent.CandidatesRanked:
		w.ranked(d)
	case agent.ActionSelected:
		what := firstOf(visible.Line(d.Name), d.Tool) + "  " + slash.Arguments(d.Arguments)
		if d.Claim && len(d.Arguments) == 0 {
			what = "completion claim"
		}
		w.line("  %s", what)
		w.line("      %s risk, from %s", d.Risk, d.Source)
	case agent.ApprovalDecision:
		w.line("      %s by %s%s", d.Decision, firstOf(visible.Line(d.By), "policy"), dash(d.Reason))
	case agent.Observed:
		w.observed(d.Observation)
	case agent.OutcomeEvaluated:
		reason := firstOf(d.Reason, d.Nudge)
		if d.Judged != nil {
			reason = firstOf(reason, d.Judged.Reason)
		}
		if reason != "" {
			verdict := string(d.Verdict)
			if d.Judged == nil && d.Verdict == outcome.Blocked { // of an action; whether the run ends is said at its end
				verdict = "an action did not work"
			}
			w.line("  → %s%s", verdict, dash(reason))
		}
	case agent.ModelCall:
		w.model(d)
	case agent.MailDelivered:
		w.line("  mail arrived: %d", len(d.IDs))
	case agent.RecipeLearned:
		w.line("  learned: %s at position %d (%s)", d.Tool, d.Position, d.State)
	case agent.BudgetRefused:
		w.line("  %s", &agent.BudgetError{Scope: d.Scope, Kind: d.Kind, Limit: d.Limit, Used: d.Used})
	case agent.Compacted:
		w.line("  compacted: %d messages became %d", d.Before, d.After)
	case agent.Fault:
		w.line("  error (%s): %s", d.Kind, visible.Line(d.Message))
	case agent.RunFinished:
		w.finished(d)
	}
}

func (w *runWriter) started(e app.RunEvent, d agent.RunStarted) {
	w.line("run %s, %s", e.Event.Run, e.Time.Local().Format(time.DateTime))
	if e.Event.Task != 0 {
		w.line("  task #%d, claim %s, by %s", e.Event.Task, e.Event.Claim, visible.Line(string(e.Event.Actor)))
	}
	if d.Subject != "" {
		w.line("  goal: %s", visible.Line(d.Subject))
	}
	if d.Verify != "" {
		w.line("  verify: %s", visible.Line(d.Verify))
	}
	model := "no model"
	if d.HasModel {
		model = strings.TrimPrefix(visible.Line(d.Provider+"/"+d.Model), "/")
	}
	w.line("  %s, mode %s, sandbox %s, %s", firstOf(d.Interface, "run"), firstOf(d.Mode, "auto"), firstOf(d.Sandbox, "none"), model)
}

// ranked shows the candidates when asked to, else only when there was a choice.
func (w *runWriter) ranked(d agent.CandidatesRanked) {
	if d.Certain && !w.explain || !w.explain && len(d.Paths) < 2 {
		return
	}
	for i, r := range d.Paths {
		if d.Certain {
			w.line("  certain: %s", pathText(r.Path))
			continue
		}
		s := r.Score
		dropped := ""
		if r.Dropped != "" {
			dropped = "  dropped: " + r.Dropped
		}
		w.line("  candidate %d  %+.2f  %s  %s%s", i+1, s.Total, r.Path.Source, pathText(r.Path), dropped)
		w.line("      purpose %+.2f  evidence %+.2f  risk %+.2f  side effects %+.2f  penalty %+.2f", s.Purpose, s.Evidence,
			s.Risk, s.SideEffects, s.Penalty)
	}
}

func pathText(p action.Path) string {
	if len(p.Actions) == 0 {
		return visible.Clip(firstOf(p.Text, "(empty)"), 80)
	}
	var words []string
	for _, a := range p.Actions {
		if a.Claim {
			words = append(words, "completion claim")
			continue
		}
		words = append(words, visible.Clip(a.Tool+" "+slash.Arguments(a.Arguments), 60))
	}
	return strings.Join(words, "; ")
}

func (w *runWriter) observed(o action.Observation) {
	exit := ""
	if o.Exit != nil {
		exit = fmt.Sprintf(", exit %d", *o.Exit)
	}
	verified := ""
	if o.Verified != nil {
		verified = map[bool]string{true: ", verified", false: ", not verified"}[*o.Verified]
	}
	w.line("      %s%s%s, %s", o.Status, exit, verified, o.Duration.Round(time.Millisecond))
	text := strings.TrimRight(o.Output, "\n")
	if text == "" {
		return
	}
	lines := strings.Split(visible.Block(text), "\n")
	const most = 20
	if len(lines) > most && !w.explain {
		w.line("      | … %d lines before (all with --explain)", len(lines)-most)
		lines = lines[len(lines)-most:]
	}
	for _, l := range lines {
		w.line("      | %s", l)
	}
}

func (w *runWriter) model(d agent.ModelCall) {
	if d.Class != "" {
		w.line("  model: %s%s, waited %d ms", d.Class, dash(d.Message), d.WaitMS)
		return
	}
	what := "model"
	if d.Purpose != "" && d.Purpose != "turn" {
		what += " as " + visible.Line(d.Purpose)
	}
	w.line("  %s: %s/%s, %d + %d tokens, %d ms", what, d.Provider, d.Model, d.Usage.Prompt, d.Usage.Completion, d.LatencyMS)
}

func (w *runWriter) finished(d agent.RunFinished) {
	code := ""
	if d.Code != "" {
		code = fmt.Sprintf(" (%s)", d.Code)
	}
	w.line("%s%s%s, %s, %s", d.Termination, code, dash(d.Message), plural(d.Turns, "turn"), plural(d.Steps, "action"))
	if u := d.Usage; u.Total() > 0 {
		cost := slash.Dollars(control.Usage{Prompt: u.Prompt, Completion: u.Completion, Cost: u.Cost, CostKnown: u.CostKnown})
		w.line("  %d + %d tokens, cost %s", u.Prompt, u.Completion, cost)
	}
	if d.Verified {
		w.line("  verified")
	}
	if d.Text != "" {
		w.line("%s", indent(visible.Block(d.Text)))
	}
}

// dash joins a reason to what it explains.
func dash(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + visible.Line(reason)
}
