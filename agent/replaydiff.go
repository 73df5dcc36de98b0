package agent

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/autonomy-team/autonomy/agent/action"
)

// difference says in which way a decision is not the recorded one; "" if it is.
func difference(was, is Data) string {
	switch was := was.(type) {
	case CandidatesRanked:
		return rankingDifference(was, is.(CandidatesRanked))
	case ActionSelected:
		return selectionDifference(was, is.(ActionSelected))
	case ApprovalDecision:
		return unequal("decision", was, is.(ApprovalDecision))
	case Observed:
		return observationDifference(was, is.(Observed))
	case OutcomeEvaluated:
		return outcomeDifference(was, is.(OutcomeEvaluated))
	case RunFinished:
		return finishDifference(was, is.(RunFinished))
	default:
		return ""
	}
}

func unequal[T comparable](what string, was, is T) string {
	if was == is {
		return ""
	}
	return fmt.Sprintf("%s was %v, is %v", what, was, is)
}

// firstOf is the first of some differences.
func firstOf(diffs ...string) string {
	for _, d := range diffs {
		if d != "" {
			return d
		}
	}
	return ""
}

// rankingDifference compares order, scores and reasons; the paths themselves were taken from the log.
func rankingDifference(was, is CandidatesRanked) string {
	if was.Certain != is.Certain || was.Position != is.Position || len(was.Paths) != len(is.Paths) {
		return fmt.Sprintf("was certain %v, position %d, %d paths; is certain %v, position %d, %d paths",
			was.Certain, was.Position, len(was.Paths), is.Certain, is.Position, len(is.Paths))
	}
	for i := range was.Paths {
		a, b := &was.Paths[i], &is.Paths[i]
		if a.Score != b.Score || a.Dropped != b.Dropped || a.Source != b.Source || a.Reply != b.Reply || !sameActions(a.Actions, b.Actions) {
			return fmt.Sprintf("place %d of the ranking was %s %v %q, is %s %v %q", i+1, a.Source, a.Score, a.Dropped, b.Source, b.Score, b.Dropped)
		}
	}
	return ""
}

func sameActions(a, b []action.Action) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Call != b[i].Call || a[i].Fingerprint != b[i].Fingerprint {
			return false
		}
	}
	return true
}

func selectionDifference(was, is ActionSelected) string {
	if !bytes.Equal(was.Arguments, is.Arguments) {
		return "the arguments differ from those of the path"
	}
	was.Arguments, is.Arguments = nil, nil
	if reflect.DeepEqual(was, is) {
		return ""
	}
	return fmt.Sprintf("was %+v, is %+v", was, is)
}

// observationDifference compares what the Loop decides about an observation; the rest was taken from the log.
func observationDifference(was, is Observed) string {
	return firstOf(unequal("call", was.Call, is.Call), unequal("tool", was.Tool, is.Tool),
		unequal("status", was.Status, is.Status), unequal("output", was.Output, is.Output))
}

func outcomeDifference(was, is OutcomeEvaluated) string {
	return firstOf(unequal("verdict", was.Verdict, is.Verdict), unequal("nudge", was.Nudge, is.Nudge),
		unequal("a judgement", was.Judged != nil, is.Judged != nil), unequal("reason", was.Reason, is.Reason))
}

// finishDifference compares how the run ended. Messages may quote errors of the machine and are left out.
func finishDifference(was, is RunFinished) string {
	was.Message, is.Message = "", ""
	if was.Code == CodePanic {
		was.Turns = is.Turns // whether it was inside the request is not in the log
	}
	return unequal("end", was, is)
}
