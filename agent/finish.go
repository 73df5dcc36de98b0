package agent

import (
	"context"
	"errors"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/internal/machine"
)

// broken says how a run ends that was stopped by an error, and records it.
func (r *run) broken(ctx context.Context, err error) ending {
	var (
		logged   *logError
		budget   *BudgetError
		model    *llm.Error
		panicked *panicError
		stopping = context.Cause(ctx)
	)
	switch {
	case errors.As(err, &logged):
		return ending{Failed, CodeLog, err.Error()}
	case errors.As(err, &panicked):
		return r.noted(Fault{FaultPanic, err.Error() + "\n" + panicked.stack}, ending{Failed, CodePanic, err.Error()})
	case errors.As(err, &budget):
		r.report.Scope = budget.Scope
		return ending{Blocked, CodeBudget, err.Error()}
	case errors.Is(stopping, errWallTime):
		r.report.Scope = ScopeRun
		limit := r.WallTime.Seconds()
		return r.noted(BudgetRefused{ScopeRun, "time", limit, limit}, ending{Blocked, CodeBudget, errWallTime.Error()})
	case errors.Is(err, ErrStopped):
		return r.noted(Fault{FaultStopped, err.Error()}, ending{Cancelled, "", err.Error()})
	case stopping != nil:
		return r.noted(Fault{FaultStopped, stopping.Error()}, ending{Cancelled, "", stopping.Error()})
	case errors.As(err, &model):
		if model.Class == llm.Empty {
			return ending{NoCandidates, CodeEmpty, err.Error()}
		}
		r.report.Class, r.report.RetryAfter = model.Class, model.RetryAfter
		return ending{Failed, CodeModel, err.Error()}
	}
	kind, code := Blame(err)
	return r.noted(Fault{kind, err.Error()}, ending{Failed, code, err.Error()})
}

// Blame tells whether the machine or the harness is to blame for an error that ended a run, or kept it from beginning.
func Blame(err error) (FaultKind, Code) {
	if machine.InTrouble(err) {
		return FaultMachine, CodeMachine
	}
	return FaultHarness, CodeHarness
}

// noted records what ended the run.
func (r *run) noted(d Data, e ending) ending {
	if err := r.emit(d); err != nil {
		return ending{Failed, CodeLog, err.Error()}
	}
	return e
}

// finish closes the log and completes the report. A run whose log can't be closed has failed, whatever it did.
func (r *run) finish(end ending) Report {
	if end.termination == Achieved {
		if err := r.learn(); err != nil {
			end = ending{Failed, CodeLog, err.Error()}
		}
	}
	rep := &r.report
	rep.Termination, rep.Code, rep.Message = end.termination, end.code, end.message
	rep.Turns, rep.Steps, rep.Refused = r.tally.asked, r.tally.ran, r.tally.refused
	if end.termination == Achieved {
		rep.Failure = nil
	} else {
		rep.Verified, rep.Summary = false, ""
	}
	if end.code == CodeLog {
		return *rep
	}
	err := r.emit(LearningReview{Result: "no_learning"})
	if err == nil {
		err = r.emit(RunFinished{
			Termination: rep.Termination, Code: rep.Code, Class: rep.Class, Scope: rep.Scope, Message: rep.Message,
			Text: rep.Text, Summary: rep.Summary, Verified: rep.Verified, Turns: rep.Turns, Steps: rep.Steps,
			RetryAfterMS: rep.RetryAfter.Milliseconds(), Usage: rep.Usage,
		})
	}
	if err == nil {
		err = r.Transcript.Sync()
	}
	if err != nil {
		rep.Termination, rep.Code, rep.Message, rep.Verified = Failed, CodeLog, err.Error(), false
	}
	return *rep
}

// learn hands the actions of an achieved run to the Learner. That it fails is an event, not a failed run. A further round
// of an attempt does not know what stood before its own actions, so it teaches nothing.
func (r *run) learn() error {
	if r.Learner == nil || !r.goal.Kind.Claims() || r.goal.Resumed {
		return nil
	}
	learned, err := r.Learner.Achieved(r.goal.Fingerprint(), r.done)
	if err != nil {
		return r.fault(FaultLearner, err)
	}
	for _, l := range learned {
		if err := r.emit(l); err != nil {
			return err
		}
	}
	return nil
}
