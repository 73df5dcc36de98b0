// Package agent works one goal through five-step turns to a termination.
package agent

import (
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/llm"
)

// Termination is why a run ended. The set is closed.
type Termination string

// The terminations.
const (
	Achieved       Termination = "achieved"
	Blocked        Termination = "blocked"
	NoCandidates   Termination = "no_candidates"
	ApprovalDenied Termination = "approval_denied"
	MaxSteps       Termination = "max_steps_reached"
	Failed         Termination = "failed"
	Cancelled      Termination = "cancelled"
)

// Code refines a Termination. It is an open set of words for people and the log; those below are acted on.
type Code string

// The codes that somebody acts on.
const (
	CodeAnswered     Code = "answered"      // achieved: a run on mail, a prompt or a line ended with text
	CodeIdle         Code = "idle"          // blocked: idle was called with the task unfinished
	CodeRepeat       Code = "repeat"        // blocked: the same action with the same result, again and again
	CodeBudget       Code = "budget"        // blocked: the budget of the run or the task is used up
	CodeMemberBudget Code = "member_budget" // failed: that of the member
	CodeTeamBudget   Code = "team_budget"   // failed: that of the team
	CodeLog          Code = "log"           // failed: the event log cannot be written
	CodePanic        Code = "panic"         // failed: the program's own fault
)

// Report is how a run ended.
type Report struct {
	Run         autonomy.RunID
	Termination Termination
	Code        Code
	Class       llm.Class // of a failed run: what kind of model error it was, "" when it was none
	Message     string    // one line for people
	Text        string    // the model's last words
	Summary     string    // what was done, for the task's result
	Turns       int       // model turns
	Steps       int       // actions that ran
	Verified    bool      // verify, or the steps' own checks, passed
	Usage       llm.Usage
	Failure     *Failure      // the action that failed last, nil if none did
	RetryAfter  time.Duration // of a failed run: the wait the provider asked for, 0 when it did not say
}

// Failure is the action that failed last.
type Failure struct {
	Step string // the name of the step, else its tool
	Exit *int   // exit status, nil when there was none
	Tail string // the last 20 lines of its output
}
