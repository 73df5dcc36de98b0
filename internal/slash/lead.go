package slash

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// line is one run of the lead. Its answer appears as it comes.
func (s *Session) line(ctx context.Context, text string) error {
	req := control.LineRequest{Text: text, Provider: s.Provider, Model: s.Model, BaseURL: s.BaseURL}
	shown := false
	var report *control.Report
	err := s.Daemon.Line(ctx, req, func(e control.LineEvent) error {
		switch e.Kind {
		case control.LineDelta:
			shown = true
			fmt.Fprint(s.Out, visible.Block(e.Text))
		case control.LineReport:
			report = e.Report
		}
		return nil
	})
	if shown {
		fmt.Fprintln(s.Out)
	}
	if err != nil || report == nil {
		return err
	}
	if !shown && report.Text != "" {
		fmt.Fprintln(s.Out, visible.Block(strings.TrimRight(report.Text, "\n")))
	}
	if report.Termination != "achieved" {
		fmt.Fprintf(s.Out, "(%s)\n", visible.Line(strings.TrimSpace(report.Termination+": "+report.Message)))
	}
	return nil
}

// Cost writes what the models of the team used since the daemon started: by member, by task, in all.
func Cost(w io.Writer, status control.Status) {
	fmt.Fprintf(w, "%-16s %10s %10s %10s %9s\n", "", "PROMPT", "ANSWER", "CACHED", "COST")
	for _, m := range status.Members {
		costLine(w, m.Name, m.Usage)
	}
	for _, t := range status.TaskUsage {
		costLine(w, fmt.Sprintf("#%d", t.Task), t.Usage)
	}
	costLine(w, "total", status.Usage)
}

// Dollars renders a cost: "$0.0123", "unknown" when no price is known, "-" when no model was asked.
func Dollars(u control.Usage) string {
	switch {
	case u.CostKnown:
		return fmt.Sprintf("$%.4f", u.Cost)
	case u.Prompt+u.Completion == 0:
		return "-"
	}
	return "unknown"
}

func costLine(w io.Writer, name string, u control.Usage) {
	fmt.Fprintf(w, "%-16s %10d %10d %10d %9s\n", visible.Line(name), u.Prompt, u.Completion, u.Cached, Dollars(u))
}
