package outcome

import (
	"context"
	"errors"
	"fmt"
)

// Checker runs a goal's verify command through the gateway. ok says that it passed; err that it could not be run at
// all, a *DeniedError that it was not allowed to.
type Checker func(ctx context.Context) (ok bool, exit int, output string, err error)

// DeniedError says that the verify command may not run. Nothing that the claimant does can change that.
type DeniedError struct{ Reason string }

func (e *DeniedError) Error() string { return "verify may not run: " + e.Reason }

// Evaluator judges claims: by the verify command first, by a model where that decides nothing.
type Evaluator struct {
	// Verify runs the claim's verify command; nil if the goal has none.
	Verify Checker
}

// Evaluate judges one claim. An error means that the judgement itself failed.
func (e Evaluator) Evaluate(ctx context.Context, c Claim) (Outcome, error) {
	var checked Outcome
	if c.Verify != "" {
		if e.Verify == nil {
			return Outcome{}, fmt.Errorf("verify %q: nothing here can run it", c.Verify)
		}
		var err error
		if checked, err = e.check(ctx); err != nil {
			return Outcome{}, fmt.Errorf("run verify: %w", err)
		}
		if checked.Verdict != Achieved || c.Judge != Always {
			return checked, nil
		}
	}
	switch {
	case c.Runbook && checked.By == "":
		return Outcome{Verdict: Achieved, Verified: true, By: BySteps, Reason: "every step passed its checks"}, nil
	case c.Runbook, c.Judge == Never, c.Model == nil:
		if checked.By == "" {
			return Outcome{Verdict: Achieved, By: ByNobody, Reason: "accepted without a check"}, nil
		}
		return checked, nil
	}
	judged, err := ask(ctx, c, checked)
	if err != nil {
		return Outcome{}, err
	}
	judged.Verified = checked.Verified
	judged.Exit, judged.Output = checked.Exit, checked.Output
	return judged, nil
}

func (e Evaluator) check(ctx context.Context) (Outcome, error) {
	ok, exit, output, err := e.Verify(ctx)
	if denied := (*DeniedError)(nil); errors.As(err, &denied) {
		return Outcome{Verdict: Blocked, Denied: true, By: ByVerify, Reason: denied.Error()}, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Verdict: Continue, By: ByVerify, Exit: &exit, Output: tail(output)}
	if ok {
		o.Verdict, o.Verified, o.Reason = Achieved, true, "verify passed"
	} else {
		o.Reason = fmt.Sprintf("verify did not pass (exit status %d)", exit)
	}
	return o, nil
}
