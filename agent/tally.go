package agent

import (
	"hash/fnv"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/outcome"
)

// The limits of a run.
const (
	failuresInARow = 3 // failed actions, then blocked
	emptyTurns     = 3 // turns in which nothing could run, then no_candidates or approval_denied
	refusedClaims  = 2 // then blocked
	repeatsNudge   = 3 // of one action with one result since the last successful write: a hint
	repeatsBlocked = 5 // then blocked
	cutReplies     = 2 // a cut text is continued so often
)

// ending is how a run ends; the zero value means that it goes on.
type ending struct {
	termination Termination
	code        Code
	message     string
}

func (e ending) ends() bool { return e.termination != "" }

// repeat is one action with one result.
type repeat struct {
	fingerprint string
	result      uint64
}

// tally is all that a run's decisions depend on. It is pure: the same observations in the same order give the same
// decisions, which is what makes a replay possible.
type tally struct {
	goal  Goal
	model bool

	facts     action.Facts
	position  int  // actions that succeeded
	steps     int  // runbook steps that succeeded
	ran       int  // actions that ran
	asked     int  // model turns
	uncertain bool // see State
	deviated  bool // see State

	failed  int  // actions failed in a row
	flawed  bool // an action has failed, whatever came after it
	denied  int  // turns in a row in which all was denied
	invalid int  // turns in a row of unknown or invalid calls only
	refused int  // claims
	cut     int  // replies cut in a row
	repeats map[repeat]int
	nudge   bool // an action has just reached repeatsNudge
	stuck   bool // an action has reached repeatsBlocked
	stepBad bool // a runbook step failed, was denied or could not run
}

func newTally(g Goal, model bool) *tally {
	return &tally{
		goal: g, model: model, uncertain: g.Resumed, deviated: g.Resumed, refused: g.Refused, repeats: map[repeat]int{},
		facts: action.Facts{Done: map[string]bool{}, Failures: map[string]int{}},
	}
}

// observe counts one action that was selected.
func (t *tally) observe(source action.Source, a action.Action, o action.Observation) {
	switch o.Status {
	case action.OK:
		t.ran++
		t.failed = 0
		if a.Claim {
			return // judged, not done
		}
		t.position++
		t.facts.Done[a.Fingerprint] = true
		if source == action.FromRunbook {
			t.steps++
		}
	case action.Failed:
		t.ran++
		t.failed++
		t.flawed = true
		t.facts.Failures[a.Fingerprint]++
	}
	if bad := o.Status == action.Failed || o.Status == action.Denied || o.Status == action.Inadmissible; bad {
		switch source {
		case action.FromRunbook:
			t.uncertain, t.stepBad = true, true
		default:
			t.deviated = true
		}
	}
	if source != action.FromRunbook && (o.Status == action.OK || o.Status == action.Failed) {
		t.repeated(a, o)
	}
}

// repeated counts an action with its result since the last successful write. Runbook steps do not take part: a person
// may well have written the same step five times.
func (t *tally) repeated(a action.Action, o action.Observation) {
	if o.Status == action.OK && o.Wrote {
		clear(t.repeats)
		return
	}
	h := fnv.New64a()
	h.Write([]byte(o.Status))
	h.Write([]byte(o.Output))
	key := repeat{a.Fingerprint, h.Sum64()}
	t.repeats[key]++
	switch n := t.repeats[key]; {
	case n >= repeatsBlocked:
		t.stuck = true
	case n == repeatsNudge:
		t.nudge = true
	}
}

// decide says after a turn whether the run goes on. judged is nil when no claim was judged.
func (t *tally) decide(x execution, judged *outcome.Outcome) ending {
	t.streaks(x)
	if judged != nil {
		if e := t.claimed(x, *judged); e.ends() {
			return e
		}
	} else if e := t.answered(x); e.ends() {
		return e
	}
	return t.limits(x)
}

// streaks counts turns in a row in which nothing ran.
func (t *tally) streaks(x execution) {
	count := func(n *int, holds bool) {
		if holds {
			*n++
		} else {
			*n = 0
		}
	}
	nothing := !x.ran && len(x.path.Actions) > 0 && !x.aborted
	count(&t.denied, nothing && x.denied)
	count(&t.invalid, nothing && !x.denied && !x.path.Cut)
	count(&t.cut, x.path.Cut)
	t.deviated = t.deviated || x.path.Source == action.FromModel
}

func (t *tally) claimed(x execution, o outcome.Outcome) ending {
	switch {
	case o.Verdict == outcome.Achieved:
		return ending{Achieved, "", o.Reason}
	case o.Denied:
		return ending{ApprovalDenied, "", o.Reason}
	case o.Verdict == outcome.Blocked:
		return ending{Blocked, CodeEvaluator, o.Reason}
	}
	t.refused++
	t.uncertain, t.deviated = true, true
	if t.refused >= refusedClaims || !t.model {
		return ending{Blocked, CodeRefused, "the completion claim was refused: " + o.Reason}
	}
	return ending{}
}

// answered ends a run by what the model did other than claim: an answer, or idle.
func (t *tally) answered(x execution) ending {
	claims := t.goal.Kind.Claims()
	switch {
	case x.idle && claims:
		return ending{Blocked, CodeIdle, "idle was called with the goal unfinished"}
	case x.ended && !claims:
		return ending{Achieved, CodeAnswered, "the turn was ended"}
	case len(x.path.Actions) == 0 && !x.path.Cut && !claims:
		return ending{Achieved, CodeAnswered, "answered"}
	default:
		return ending{}
	}
}

func (t *tally) limits(x execution) ending {
	first := t.goal.Strict || (t.stepBad && !t.model)
	switch {
	case t.stuck:
		return ending{Blocked, CodeRepeat, "the same action with the same result, five times"}
	case t.flawed && t.goal.Strict:
		return ending{Blocked, CodeFailures, "an action failed in a strict run"}
	case t.failed > 0 && first:
		return ending{Blocked, CodeStep, "a step failed and there is no model to go on with"}
	case t.failed >= failuresInARow:
		return ending{Blocked, CodeFailures, "three failed actions in a row"}
	case t.denied > 0 && (first || t.denied >= emptyTurns):
		return ending{ApprovalDenied, "", "nothing that was proposed was allowed: " + x.reason}
	case t.invalid > 0 && t.stepBad && !t.model:
		return ending{NoCandidates, "", "the step can't run: " + x.reason}
	case t.invalid >= emptyTurns:
		return ending{NoCandidates, "", "only unknown or invalid calls: " + x.reason}
	case t.cut > cutReplies:
		return ending{NoCandidates, CodeEmpty, "the reply was cut at its length limit again and again"}
	default:
		return ending{}
	}
}
