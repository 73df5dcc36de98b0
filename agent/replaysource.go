package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
	"github.com/autonomy-team/autonomy/internal/machine"
)

// loggedError is a model error as the log has it, with the text it had.
type loggedError struct {
	text string
	err  *llm.Error
}

func (e *loggedError) Error() string { return e.text }
func (e *loggedError) Unwrap() error { return e.err }

// came is what happened outside between the place reached and the next decision of a given type.
type came struct {
	decision Data  // nil if something else came before it
	err      error // what came instead
	asked    bool  // the model was asked
	usage    llm.Usage
}

// ahead looks from the place reached to the next decision. Interruptions end the contexts as they did in the run. What
// is left of an earlier turn that was interrupted has had its effect.
func (p *player) ahead() came {
	var c came
	for _, e := range p.log[p.at:] {
		if e.Turn < p.again.turn && !endsRun(e.Data) {
			continue
		}
		switch d := e.Data.(type) {
		case ModelCall:
			if !d.Final {
				continue
			}
			c.asked = true
			if c.err = nil; d.Class != "" {
				c.err = &loggedError{d.Message, &llm.Error{Class: d.Class, RetryAfter: time.Duration(d.RetryAfterMS) * time.Millisecond}}
			} else {
				c.usage = c.usage.Add(d.Usage)
			}
		case BudgetRefused:
			if d.Kind == "time" && d.Scope == ScopeRun {
				p.stop(errWallTime)
				c.err = errWallTime
				return c
			}
			c.err = &BudgetError{d.Scope, d.Kind, d.Limit, d.Used}
			c.asked = true
		case Fault:
			if err := p.faulted(d); err != nil {
				c.err = err
				return c
			}
		default:
			if !outside(d) {
				c.decision = d
				return c
			}
		}
	}
	return c
}

// endsRun reports whether an event tells that the whole run was ended from outside. It bears the number of the turn
// before when that was seen between two turns.
func endsRun(d Data) bool {
	switch d := d.(type) {
	case Fault:
		return d.Kind != FaultInterrupted
	case BudgetRefused:
		return d.Scope == ScopeRun && d.Kind == "time"
	default:
		return !outside(d)
	}
}

// faulted is the error behind a fault that ended a run or a turn; nil for one that did not.
func (p *player) faulted(d Fault) error {
	switch d.Kind {
	case FaultStopped:
		err := errors.New(d.Message)
		p.stop(err)
		return err
	case FaultInterrupted:
		p.interrupt(errInterrupted)
		return errInterrupted
	case FaultPanic:
		err := &panicError{what: d.Message}
		p.stop(err)
		return err
	case FaultHarness:
		return errors.New(d.Message)
	case FaultMachine:
		return machine.Trouble(errors.New(d.Message))
	default:
		return nil
	}
}

// Propose gives the paths that no model proposed.
func (p *player) Propose(ctx context.Context, _ State) ([]action.Path, error) {
	c := p.ahead()
	if cause := context.Cause(ctx); cause != nil && !c.asked {
		return nil, cause
	}
	return paths(c, false), nil
}

// ask gives the paths that the model proposed, or the error that came instead.
func (p *player) ask(context.Context) ([]action.Path, []llm.Response, error) {
	c := p.ahead()
	p.again.report.Usage = p.again.report.Usage.Add(c.usage)
	if _, ranked := c.decision.(CandidatesRanked); ranked {
		return paths(c, true), nil, nil
	}
	if c.err != nil {
		return nil, nil, c.err
	}
	return nil, nil, p.diverge("the replay asks the model in turn %d, the log does not", p.again.turn)
}

func paths(c came, model bool) (list []action.Path) {
	ranked, ok := c.decision.(CandidatesRanked)
	if !ok {
		return nil
	}
	for _, r := range ranked.Paths {
		if (r.Source == action.FromModel) == model {
			list = append(list, r.Path)
		}
	}
	return list
}

// Assess leaves the action as the log has it, after a look at whether its fingerprint is really its own.
func (p *player) Assess(a action.Action) action.Action {
	if !a.Redacted && !a.Claim && a.Fingerprint != action.Fingerprint(a.Tool, a.Arguments) {
		_ = p.diverge("action %s: its fingerprint is not that of its arguments", a.Call)
	}
	return a
}

// Admit gives the decision that was made.
func (p *player) Admit(_ context.Context, a action.Action) (action.Admission, error) {
	c := p.ahead()
	if d, ok := c.decision.(ApprovalDecision); ok && d.Call == a.Call {
		return action.Admission{
			Decision: d.Decision, Reason: d.Reason, By: d.By, Request: d.Request, Asked: d.Asked,
			Waited: time.Duration(d.WaitedMS) * time.Millisecond, Token: p,
		}, nil
	}
	return action.Admission{}, p.aborted()
}

// aborted ends the context by the next interruption in the log, which the Loop then finds; without one it is the error
// that came instead.
func (p *player) aborted() error {
	for _, e := range p.log[p.at:] {
		switch d := e.Data.(type) {
		case Fault:
			if err := p.faulted(d); err != nil {
				return err
			}
		case BudgetRefused:
			p.stop(errWallTime)
			return errWallTime
		}
	}
	return p.diverge("the log does not say what ended turn %d", p.again.turn)
}

// Execute gives the observation that was made.
func (p *player) Execute(_ context.Context, a action.Action, _ action.Admission) (action.Observation, error) {
	for i := p.at; i < len(p.log); i++ {
		switch d := p.log[i].Data.(type) {
		case Observed:
			if d.Call != a.Call {
				continue
			}
			p.endAfter(i)
			return d.Observation, nil
		case Fault:
			if err := p.faulted(d); err != nil {
				return action.Observation{}, err
			}
		case OutcomeEvaluated, RunFinished:
			return action.Observation{}, fmt.Errorf("call %s was not observed", a.Call)
		}
	}
	return action.Observation{}, fmt.Errorf("call %s was not observed", a.Call)
}

// endAfter ends the contexts if the run or the turn was interrupted right after the observation at event i, and after
// those of actions that did not run, so that the Loop stops where it did.
func (p *player) endAfter(i int) {
	for i++; i < len(p.log); i++ {
		switch d := p.log[i].Data.(type) {
		case Observed:
			if d.Status == action.OK || d.Status == action.Failed || d.Status == action.Aborted {
				return
			}
		case Fault:
			if d.Kind == FaultStopped || d.Kind == FaultInterrupted && !p.judgedNext(i+1) {
				_ = p.faulted(d)
			}
			return
		case BudgetRefused:
			if d.Kind == "time" && d.Scope == ScopeRun {
				p.stop(errWallTime)
			}
			return
		case ActionSelected: // one that was not even decided about any more
			if o, ok := p.after(i).(Observed); ok && o.Status == action.Aborted {
				_ = p.aborted()
			}
			return
		default:
			return
		}
	}
}

// after is the event after event i, nil at the end.
func (p *player) after(i int) Data {
	if i++; i < len(p.log) {
		return p.log[i].Data
	}
	return nil
}

// judgedNext reports whether the turn went on to its evaluation: then it was the judgement that was interrupted.
func (p *player) judgedNext(i int) bool {
	for ; i < len(p.log) && outside(p.log[i].Data); i++ {
	}
	return i < len(p.log) && p.log[i].Type == TypeOutcomeEvaluated
}

// Evaluate gives the verdict that was reached.
func (p *player) Evaluate(context.Context, outcome.Claim) (outcome.Outcome, error) {
	c := p.ahead()
	p.again.report.Usage = p.again.report.Usage.Add(c.usage)
	if d, ok := c.decision.(OutcomeEvaluated); ok && d.Judged != nil {
		return *d.Judged, nil
	}
	if c.err != nil {
		return outcome.Outcome{}, c.err
	}
	return outcome.Outcome{}, p.diverge("the replay judges a claim in turn %d, the log does not", p.again.turn)
}
