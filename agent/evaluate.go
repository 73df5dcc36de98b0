package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/outcome"
)

// trailLines is how many of the last actions a judge is shown.
const trailLines = 20

// remember counts one action's result in whatever depends on it.
func (r *run) remember(source action.Source, a action.Action, o action.Observation) {
	if o.Status == action.OK && source != action.FromRunbook && !a.Redacted && !a.Claim {
		r.done = append(r.done, Done{r.tally.position, a})
	}
	r.tally.observe(source, a, o)
	if o.Status == action.Failed || o.Status == action.Denied || o.Status == action.Inadmissible {
		name := a.Name
		if name == "" {
			name = a.Tool
		}
		r.report.Failure = &Failure{Step: name, Exit: o.Exit, Tail: tail(o.Output, tailLines)}
	}
	line := fmt.Sprintf("%s: %s", r.Mask(describe(a)), o.Status)
	if o.Exit != nil {
		line += fmt.Sprintf(", exit %d", *o.Exit)
	}
	if r.trail = append(r.trail, line); len(r.trail) > trailLines {
		r.trail = r.trail[1:]
	}
}

// evaluate is step 5: judge a claim, then decide whether the run goes on. What the model has to know of it becomes the
// next user message.
func (r *run) evaluate(ctx context.Context, x execution) (ending, error) {
	judged, err := r.judge(ctx, x)
	if err != nil {
		return ending{}, err
	}
	end := r.tally.decide(x, judged)
	event := OutcomeEvaluated{Verdict: outcome.Continue, Judged: judged, Reason: x.reason}
	switch {
	case end.termination == Achieved:
		event.Verdict = outcome.Achieved
	case end.ends() || x.hasFailed():
		event.Verdict = outcome.Blocked
	}
	if end.ends() {
		event.Reason = end.message
	}
	if r.tally.nudge {
		r.tally.nudge = false
		event.Nudge = "The same call has given the same result three times. Try something else."
	}
	if err := r.emit(event); err != nil {
		return ending{}, err
	}
	if end.ends() {
		return end, nil
	}
	if judged != nil {
		if err := r.tell(refusal(*judged)); err != nil {
			return ending{}, err
		}
	}
	return ending{}, r.tell(event.Nudge)
}

func (x execution) hasFailed() bool {
	for _, o := range x.observations {
		switch o.Status {
		case action.Failed, action.Denied, action.Inadmissible:
			return true
		}
	}
	return false
}

// judge has a claim judged; nil means that there was none, or that the judgement was interrupted.
func (r *run) judge(ctx context.Context, x execution) (*outcome.Outcome, error) {
	if x.claim == nil {
		return nil, nil
	}
	summary := claimSummary(*x.claim, x.path.Text)
	o, err := r.Evaluator.Evaluate(ctx, outcome.Claim{
		Subject: r.Mask(r.goal.Subject), Description: r.Mask(r.goal.Description), Verify: r.goal.Verify, Text: summary,
		Trail: r.trail, Runbook: x.path.Source == action.FromRunbook, Judge: r.goal.Judge, Model: r.judgeModel(),
	})
	if cause := context.Cause(ctx); err == nil && cause != nil && o.Verdict != outcome.Achieved {
		err = cause // a check that was killed by us says nothing
	}
	if err != nil {
		if err := r.interruption(ctx, err); err != nil {
			return nil, fmt.Errorf("judge the claim: %w", err)
		}
		return nil, nil
	}
	if o.Verdict == outcome.Achieved {
		r.report.Summary, r.report.Verified = summary, o.Verified
		if x.path.Source != action.FromRunbook {
			claim := *x.claim
			claim.Arguments, claim.Call = nil, ""
			r.done = append(r.done, Done{r.tally.position, claim})
		}
	} else if o.Exit != nil || o.Output != "" {
		r.report.Failure = &Failure{Step: "verify", Exit: o.Exit, Tail: tail(o.Output, tailLines)}
	} else {
		r.report.Failure = &Failure{Step: "completion claim", Tail: o.Reason}
	}
	return &o, nil
}

// claimSummary is what the claimant says was done.
func claimSummary(a action.Action, text string) string {
	var args struct {
		Summary string `json:"summary"`
	}
	if err := json.Unmarshal(a.Arguments, &args); err == nil && args.Summary != "" {
		return args.Summary
	}
	return text
}

// refusal is what the model is told of a claim that was not accepted.
func refusal(o outcome.Outcome) string {
	text := "Your claim that the goal is reached was not accepted: " + escape(o.Reason)
	if o.Exit != nil {
		text += fmt.Sprintf("\n[exit %d]", *o.Exit)
	}
	return text + outputBlock(o.Output) + "\nGo on until it is, or call idle and say why you can't."
}
