package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/autonomy-team/autonomy/agent/action"
)

// execution is what step 4 did: the path that was taken and what each of its actions came to.
type execution struct {
	path         action.Ranked
	observations []action.Observation // one for each action of the path, none for a claim that is no call
	ran          bool                 // something ran, or nothing had to
	denied       bool                 // something was denied
	aborted      bool                 // the turn was cut short from outside
	ended        bool                 // an action ended the turn
	idle         bool                 // and it was idle
	claim        *action.Action       // a completion claim to be judged
	reason       string               // why the last inadmissible or denied action was not run
}

// idleTool is the name of the tool by which a member says that it has nothing more to do.
const idleTool = "idle"

// sideBySide is how many read-only actions run at once.
const sideBySide = 8

// execute is step 4: walk the ranking and run the first path of which anything may run. If there is none, the best one
// stands as taken, with the reasons as its results.
func (r *run) execute(ctx context.Context, p proposal, ranking []action.Ranked) (execution, error) {
	var first execution
	for i, path := range ranking {
		if path.Dropped != "" {
			break
		}
		w := &walk{run: r, proposal: p, x: execution{path: path}}
		err := w.all(ctx)
		if w.x.ran || err != nil {
			return w.x, errors.Join(err, w.close())
		}
		if i == 0 {
			first = w.x
		}
	}
	w := &walk{run: r, proposal: p, x: first}
	return first, w.close()
}

// walk takes one path.
type walk struct {
	run      *run
	proposal proposal
	x        execution
	opened   bool // the path is in the transcript
	halted   bool // a writing call failed or was denied: no further one runs
	over     bool // an action of a strict run failed: nothing more runs
	cause    error
}

// all walks the actions: neighbouring read-only ones side by side, the others one after the other.
func (w *walk) all(ctx context.Context) error {
	actions := w.x.path.Actions
	if len(actions) == 0 {
		w.x.ran = true
		return w.open()
	}
	for i := 0; i < len(actions); {
		n := 1
		for actions[i].ReadOnly && i+n < len(actions) && actions[i+n].ReadOnly {
			n++
		}
		if err := w.batch(ctx, actions[i:i+n]); err != nil {
			return err
		}
		i += n
	}
	return w.cause
}

// batch selects, admits and runs actions that may run side by side.
func (w *walk) batch(ctx context.Context, actions []action.Action) error {
	observed := make([]action.Observation, len(actions))
	admitted := make([]*action.Admission, len(actions))
	for i, a := range actions {
		o, adm, err := w.admit(ctx, a)
		if err != nil {
			return err
		}
		observed[i], admitted[i] = o, adm
	}
	if err := w.perform(ctx, actions, admitted, observed); err != nil {
		return err
	}
	for i, a := range actions {
		if claimed(a) {
			if observed[i].Status == action.OK {
				w.x.claim = &actions[i]
			}
			continue
		}
		if err := w.note(a, observed[i]); err != nil {
			return err
		}
	}
	return nil
}

// admit decides about one action. Without an admission the observation says why.
func (w *walk) admit(ctx context.Context, a action.Action) (action.Observation, *action.Admission, error) {
	o := action.Observation{Call: a.Call, Tool: a.Tool}
	path := w.x.path
	err := w.run.emit(ActionSelected{
		Call: a.Call, Tool: a.Tool, Name: a.Name, Arguments: a.Arguments, Fingerprint: a.Fingerprint,
		Source: path.Source, Claim: a.Claim, Risk: a.Risk, Effect: a.Effect, Plan: a.Plan,
	})
	if err != nil {
		return o, nil, err
	}
	if o.Status, o.Output = w.hindrance(a); o.Status != "" {
		return o, nil, nil
	}
	if claimed(a) {
		o.Status = action.OK
		w.x.ran = true
		return o, nil, w.open()
	}
	adm, err := w.run.Executor.Admit(ctx, a)
	if err != nil {
		cause := context.Cause(ctx)
		if cause == nil && errors.Is(err, ErrStopped) {
			cause = ErrStopped
		}
		if cause == nil {
			return o, nil, fmt.Errorf("admit %s: %w", a.Tool, err)
		}
		w.abort(cause)
		o.Status, o.Output = action.Aborted, "not run: "+cause.Error()
		return o, nil, nil
	}
	err = w.run.emit(ApprovalDecision{
		Call: a.Call, Decision: adm.Decision, Reason: adm.Reason, By: adm.By,
		Request: adm.Request, Asked: adm.Asked, WaitedMS: adm.Waited.Milliseconds(),
	})
	if err != nil {
		return o, nil, err
	}
	if adm.Decision != action.Allow {
		o.Status, o.Output = action.Denied, adm.Reason
		w.x.denied, w.x.reason = true, adm.Reason
		w.halted = w.halted || !a.ReadOnly
		return o, nil, nil
	}
	w.x.ran = true
	return o, &adm, w.open()
}

// hindrance is why an action can't even be decided about.
func (w *walk) hindrance(a action.Action) (action.Status, string) {
	because := func(s string) (action.Status, string) {
		w.x.reason = s
		return action.Inadmissible, s
	}
	switch {
	case w.cause != nil:
		return action.Aborted, "not run: " + w.cause.Error()
	case w.x.ended:
		return action.NotRun, "not run: the turn had ended"
	case a.Problem != "":
		return because(a.Problem)
	case a.Unavailable && a.Invalid != "":
		return because(a.Invalid) // the gateway names the tools there are
	case a.Unavailable:
		return because("unknown tool " + a.Tool)
	case a.Invalid != "":
		return because(a.Invalid)
	case w.over || w.halted && !a.ReadOnly:
		return action.NotRun, "not run: an earlier call of this turn failed or was denied"
	default:
		return "", ""
	}
}

// perform runs the admitted actions of a batch and waits for all of them.
func (w *walk) perform(ctx context.Context, actions []action.Action, admitted []*action.Admission, observed []action.Observation) error {
	errs := make([]error, len(actions))
	do := func(i int) {
		observed[i], errs[i] = w.run.perform(ctx, actions[i], *admitted[i])
	}
	if len(actions) == 1 || w.run.again {
		for i := range actions {
			if admitted[i] != nil {
				do(i)
			}
		}
	} else {
		var all sync.WaitGroup
		free := make(chan struct{}, sideBySide)
		for i := range actions {
			if admitted[i] != nil {
				free <- struct{}{}
				all.Go(func() {
					do(i)
					<-free
				})
			}
		}
		all.Wait()
	}
	if cause := context.Cause(ctx); cause != nil {
		w.abort(cause)
	}
	return errors.Join(errs...)
}

// perform runs one admitted action. A panic of the executor fails the run, not the process.
func (r *run) perform(ctx context.Context, a action.Action, adm action.Admission) (o action.Observation, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("execute %s: panic: %v", a.Tool, p)
		}
	}()
	o, err = r.Executor.Execute(ctx, a, adm)
	o.Call, o.Tool = a.Call, a.Tool
	switch cause := context.Cause(ctx); {
	case r.again && err == nil:
		return o, nil
	case cause != nil && (err != nil || o.Status != action.OK): // what was killed by us has not failed
		o.Status, o.Output = action.Aborted, "cancelled: "+cause.Error()
		return o, nil
	case err != nil:
		return o, fmt.Errorf("execute %s: %w", a.Tool, err)
	default:
		return o, nil
	}
}

func (w *walk) abort(cause error) {
	w.x.aborted = true
	if w.cause == nil {
		w.cause = cause
	}
}

// note records what one action came to.
func (w *walk) note(a action.Action, o action.Observation) error {
	r, x := w.run, &w.x
	if err := r.emit(Observed{o}); err != nil {
		return err
	}
	x.observations = append(x.observations, o)
	r.remember(x.path.Source, a, o)
	if o.Status == action.Failed {
		w.halted = w.halted || !a.ReadOnly
		w.over = r.goal.Strict
	}
	if o.Status == action.OK && a.Claim {
		x.claim = &a
	}
	if o.Status == action.OK && (o.EndTurn || a.Claim) {
		x.ended = true
		x.idle = x.idle || a.Tool == idleTool
	}
	return nil
}
