package board

import (
	"fmt"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy"
)

// Kind says which rule decided a Readiness. The words are stable; Reason is for people.
type Kind string

// The kinds, in order of precedence: the first that applies is the answer.
const (
	KindUnsettled  Kind = "unsettled"  // does not parse yet, may be half-written; looked at again shortly
	KindInvalid    Kind = "invalid"    // reported, waits for a person
	KindUnreadable Kind = "unreadable" // the disk refused; tried again at every poll
	KindStatus     Kind = "status"     // not pending
	KindUntrusted  Kind = "untrusted"
	KindHeld       Kind = "held"
	KindCycle      Kind = "cycle"
	KindMissing    Kind = "missing"
	KindDead       Kind = "dead"
	KindWaiting    Kind = "waiting"
	KindStopping   Kind = "stopping" // an attempt that lost the task has not ended yet
	KindRetry      Kind = "retry"    // notBefore is not past
	KindReady      Kind = "ready"
)

// Readiness says whether a task could be claimed now, whoever asks, and if not, why.
type Readiness struct {
	Ready  bool
	Kind   Kind
	Reason string    // "" when ready
	Until  time.Time // of KindRetry: when it becomes ready by itself
}

// Facts is what the task itself does not say but its readiness hangs on.
type Facts struct {
	Invalid    *InvalidError
	Unsettled  bool
	Unreadable string             // the disk's words
	Refused    string             // the gate's words, "" = admitted
	Stopping   autonomy.AgentName // the member whose attempt has not ended, "" = none
	Acyclic    bool               // the caller knows that the task is in no ring, which spares the search
}

// Ready decides the readiness of one task. It is the one predicate that claim, list, explain and complete share.
func Ready(t Task, facts Facts, g *Graph, now time.Time) Readiness {
	no := func(kind Kind, format string, args ...any) Readiness {
		return Readiness{Kind: kind, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case facts.Invalid != nil:
		return no(KindInvalid, "invalid: %s", facts.Invalid.where())
	case facts.Unsettled:
		return no(KindUnsettled, "does not parse yet, looking again")
	case facts.Unreadable != "":
		return no(KindUnreadable, "unreadable: %s", facts.Unreadable)
	case t.Status != Pending:
		return no(KindStatus, "%s", statusReason(t))
	case facts.Refused != "":
		return no(KindUntrusted, "%s", facts.Refused)
	case t.Held != nil:
		return no(KindHeld, "held: %s", t.Held.Reason)
	}
	if kind, reason := blocked(t.ID, g, facts.Acyclic); kind != "" {
		return no(kind, "%s", reason)
	}
	if facts.Stopping != "" {
		return no(KindStopping, "%s is stopping", facts.Stopping)
	}
	if t.NotBefore.After(now) {
		r := no(KindRetry, "retry in %s", span(t.NotBefore.Sub(now)))
		r.Until = t.NotBefore
		return r
	}
	return Readiness{Ready: true, Kind: KindReady}
}

// blocked answers what the dependencies say, "" when all are completed.
func blocked(id autonomy.TaskID, g *Graph, acyclic bool) (Kind, string) {
	var missing, waiting, dead []string
	for _, b := range g.Blockers(id) {
		switch state := g.State(b); state {
		case StateCompleted:
		case StateMissing:
			missing = append(missing, fmt.Sprint(b))
		case StateOpen:
			waiting = append(waiting, fmt.Sprint(b))
		default:
			dead = append(dead, fmt.Sprintf("%d %s", b, state))
		}
	}
	if len(missing)+len(waiting)+len(dead) == 0 {
		return "", ""
	}
	if !acyclic {
		if cycle := g.Cycle(id); cycle != nil {
			return KindCycle, "cycle: " + arrows(cycle)
		}
	}
	switch {
	case missing != nil:
		return KindMissing, "missing dependency: " + strings.Join(missing, ", ")
	case dead != nil:
		return KindDead, "dead dependency: " + strings.Join(dead, ", ")
	}
	return KindWaiting, "waiting on " + strings.Join(waiting, ", ")
}

func statusReason(t Task) string {
	switch {
	case t.Status == InProgress && t.Owner != "":
		return "in progress: " + string(t.Owner)
	case t.Status == InProgress:
		return "in progress"
	case t.Status == Failed && t.Failure != nil && t.Failure.Code != "":
		return "failed: " + t.Failure.Code
	}
	return string(t.Status)
}

// arrows renders 4 → 5 → 4.
func arrows(ids []autonomy.TaskID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	return strings.Join(words, " → ")
}

// span renders a wait for people, rounded up so that it never says 0 s.
func span(d time.Duration) string {
	ceil := func(unit time.Duration) int64 { return int64((d + unit - 1) / unit) }
	switch {
	case d <= 2*time.Minute:
		return fmt.Sprintf("%d s", ceil(time.Second))
	case d <= 2*time.Hour:
		return fmt.Sprintf("%d min", ceil(time.Minute))
	case d <= 48*time.Hour:
		return fmt.Sprintf("%d h", ceil(time.Hour))
	}
	return fmt.Sprintf("%d days", ceil(24*time.Hour))
}
