package team

import (
	"fmt"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/board"
)

// maxResumes is how often an attempt that its member left unfinished goes on before it counts as stalled.
const maxResumes = 3

// ending is what follows from how a run ended. It is the table of docs/states.md, section "How an attempt ends".
type ending struct {
	end   board.End // what becomes of the task; nil = it is kept and goes on at once
	pause *pause    // nil = the member goes to IDLE
	crash string    // not "" = the member's code panicked, with this value
}

// pause is why a member backs off, and for how long.
type pause struct {
	code    string
	reason  string
	wait    time.Duration // what the provider asked for; 0 = the usual steps
	endless bool          // until a person acts
	shared  bool          // of the account: those with the same key wait together, and one of them tries first
}

// endOf decides what follows. round counts how often the attempt was resumed before; it does not matter to a run
// without a task, whose ending.end is not looked at.
func endOf(r agent.Report, round int) ending {
	switch r.Termination {
	case agent.Achieved:
		return ending{end: board.Complete{Result: resultOf(r)}}
	case agent.Blocked:
		return endOfBlocked(r, round)
	case agent.ApprovalDenied:
		return ending{end: board.Hold{Reason: reasonOf(r)}}
	case agent.Failed:
		return endOfFailed(r)
	case agent.Cancelled:
		// Nobody here asked for it: those who do are looked at before this table.
		return ending{end: board.Release{Reason: "cancelled"}, pause: &pause{code: "cancelled", reason: reasonOf(r)}}
	}
	return ending{end: failureOf(r)}
}

// endOfBlocked tells a member that left off from one that cannot go on, and a task's budget from that of who works it.
func endOfBlocked(r agent.Report, round int) ending {
	switch {
	case r.Code == agent.CodeBudget && (r.Scope == agent.ScopeMember || r.Scope == agent.ScopeTeam):
		p := &pause{code: string(r.Code), reason: reasonOf(r), endless: true}
		return ending{end: board.Release{Reason: p.reason}, pause: p}
	case r.Code != agent.CodeIdle:
		return ending{end: failureOf(r)}
	case round < maxResumes:
		return ending{}
	}
	return ending{end: board.Fail{Code: "stalled", Message: fmt.Sprintf("left unfinished %d times", round+1)}}
}

// endOfFailed tells whose fault it was: the provider's is not counted against the task.
func endOfFailed(r agent.Report) ending {
	p := &pause{code: codeOf(r), reason: reasonOf(r), wait: r.RetryAfter}
	switch r.Code {
	case agent.CodePanic:
		return ending{end: failureOf(r), crash: r.Message}
	case agent.CodeLog, agent.CodeMachine:
		return ending{end: board.Release{Reason: p.reason}, pause: p}
	}
	switch r.Class {
	case llm.Auth, llm.NoModel, llm.Protocol:
		p.endless = true
	case llm.Quota, llm.Rate, llm.Server, llm.Transport, llm.Cut:
		p.shared = true
	default:
		return ending{end: failureOf(r)}
	}
	return ending{end: board.Release{Reason: p.reason}, pause: p}
}

func resultOf(r agent.Report) board.Result {
	summary := r.Summary
	if summary == "" {
		summary = r.Text
	}
	return board.Result{Summary: summary, RunID: r.Run, Verified: r.Verified, Usage: usageOf(r.Usage)}
}

// failureOf is a counted failure: the code, and the step with its exit status and last lines.
func failureOf(r agent.Report) board.Fail {
	return board.Fail{Code: codeOf(r), Message: reasonOf(r)}
}

func codeOf(r agent.Report) string {
	switch {
	case r.Class != "":
		return string(r.Class)
	case r.Code != "":
		return string(r.Code)
	}
	return string(r.Termination)
}

// reasonOf puts what is known of the end into words.
func reasonOf(r agent.Report) string {
	var b strings.Builder
	b.WriteString(r.Message)
	if f := r.Failure; f != nil {
		line := f.Step
		if f.Exit != nil {
			line += fmt.Sprintf(": exit status %d", *f.Exit)
		}
		// The message often says the same, in its own words.
		if !strings.Contains(r.Message, line) {
			b.WriteString(separator(&b, "; ") + line)
		}
		if !strings.Contains(r.Message, f.Tail) {
			b.WriteString("\n" + f.Tail)
		}
	}
	if b.Len() == 0 {
		return codeOf(r)
	}
	return b.String()
}

func separator(b *strings.Builder, s string) string {
	if b.Len() == 0 {
		return ""
	}
	return s
}
