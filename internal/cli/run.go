package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/eventlog"
	"github.com/autonomy-team/autonomy/internal/visible"
)

type runOptions struct {
	app.GoalOptions
	judge              string
	interactive, batch bool
	asJSON, quiet      bool
}

func newRunCmd(s *Streams) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:     "run GOAL…",
		Short:   "Work one goal now, in this process, without board and mail",
		GroupID: "start",
		Long: `Work one goal in this process. On a terminal it asks before it does what needs a person; in batch mode it reads
nothing and what needs a person is denied at once. The answer goes to standard output, what happens to standard error.

Exit status: 0 achieved, 1 any other end, 2 wrong usage or configuration.`,
		Example: `  autonomy run "Make the tests pass" --verify "go test ./..." --mode full
  autonomy run "Explain internal/parser" --model qwen3 --base-url http://127.0.0.1:11434/v1`,
		Args: words(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Goal = strings.Join(args, " ")
			return runGoal(cmd.Context(), s, o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.MaxSteps, "max-steps", 12, "turns of the model at most")
	f.StringVar(&o.Verify, "verify", "", "a shell `COMMAND` that decides whether the goal is achieved")
	f.StringVar(&o.judge, "judge", "auto", "whether a model judges the outcome: auto, never or always")
	f.BoolVar(&o.interactive, "interactive", false, "ask on this terminal (the default on a terminal)")
	f.BoolVar(&o.batch, "batch", false, "never ask: what needs a person is denied")
	f.StringVar(&o.Mode, "mode", "", "ask, auto (default), read-only or full")
	f.BoolVar(&o.Strict, "strict", false, "end at the first action that fails or is denied")
	f.IntVar(&o.Proposals, "proposals", 1, "how many alternatives the model proposes a turn")
	f.StringSliceVar(&o.Toolsets, "toolsets", nil, "toolsets it has, comma-separated")
	f.StringVar(&o.Provider, "provider", "", "model provider")
	f.StringVar(&o.Model, "model", "", "model")
	f.StringVar(&o.BaseURL, "base-url", "", "base URL of an OpenAI-compatible server")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "only the answer")
	f.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	return cmd
}

func runGoal(ctx context.Context, s *Streams, o runOptions) error {
	if err := o.complete(s); err != nil {
		return err
	}
	if err := s.consent(ctx); err != nil {
		return err
	}
	if o.Mode == string(gateway.ModeFull) {
		s.say("autonomy: mode full: everything but the refused list runs unasked")
	}
	a, err := s.app(ctx)
	if err != nil {
		return err
	}
	if !o.quiet {
		show := runWriter{out: s.Err}
		o.Event = func(e agent.Event) { show.event(app.RunEvent{Record: eventlog.Record{Time: time.Now()}, Event: e}) }
	}
	streamed := false
	if !o.asJSON {
		o.Delta = func(d llm.Delta) {
			if d.Text != "" && o.quiet {
				streamed = true
				fmt.Fprint(s.Out, visible.Block(d.Text))
			}
		}
	}
	report, err := a.RunGoal(ctx, o.GoalOptions)
	if err != nil {
		return &failure{code: ExitUsage, err: err}
	}
	switch {
	case o.asJSON:
		if err := s.json(reportView(report)); err != nil {
			return err
		}
	case streamed:
		s.print("")
	case report.Text != "":
		s.print("%s", visible.Block(report.Text))
	}
	switch {
	case report.Termination == agent.Achieved:
		return nil
	case report.Code == agent.CodeLog: // its events, the last one among them, could not be shown as they were recorded
		return fmt.Errorf("%s (%s): %s", report.Termination, report.Code, report.Message)
	}
	return silent(ExitFailed)
}

func (o *runOptions) complete(s *Streams) error {
	o.Judge = outcome.Mode(o.judge)
	switch {
	case o.interactive && o.batch:
		return usage("--interactive and --batch exclude each other")
	case o.Judge != outcome.Auto && o.Judge != outcome.Never && o.Judge != outcome.Always:
		return usage("--judge %q: want auto, never or always", o.judge)
	case o.MaxSteps < 1:
		return usage("--max-steps %d: want at least 1", o.MaxSteps)
	case o.Proposals < 1:
		return usage("--proposals %d: want at least 1", o.Proposals)
	}
	if _, err := gateway.ParseMode(o.Mode); err != nil {
		return usage("--mode %q: want ask, auto, read-only or full", o.Mode)
	}
	if o.interactive || !o.batch && s.interactive() {
		o.Approver = s.inline()
	}
	return nil
}

// inline asks the person at this terminal.
func (s *Streams) inline() gateway.Approver {
	return gateway.Inline{Ask: func(_ context.Context, question string) (string, error) {
		fmt.Fprint(s.Err, question)
		line, err := s.readLine()
		if !s.interactive() { // nobody's Enter ended the line of the question
			fmt.Fprintln(s.Err)
		}
		return line, err
	}}
}

func reportView(r agent.Report) control.Report {
	return control.Report{
		Run: string(r.Run), Termination: string(r.Termination), Code: string(r.Code), Message: r.Message, Text: r.Text,
		Turns: r.Turns, Usage: control.Usage{
			Prompt: r.Usage.Prompt, Completion: r.Usage.Completion, Cached: r.Usage.Cached, Cost: r.Usage.Cost,
			CostKnown: r.Usage.CostKnown,
		},
	}
}
