package agent

import (
	"strings"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/llm"
)

// Termination is why a run ended. The set is closed.
type Termination string

// The terminations.
const (
	Achieved        Termination = "achieved"
	Blocked         Termination = "blocked"
	NoCandidates    Termination = "no_candidates"
	ApprovalDenied  Termination = "approval_denied"
	MaxStepsReached Termination = "max_steps_reached"
	Failed          Termination = "failed"
	Cancelled       Termination = "cancelled"
)

// Code refines a termination; "" where nothing needs to be added.
type Code string

// The codes.
const (
	CodeAnswered  Code = "answered"  // achieved: a run that is not judged ended with text
	CodeRepeat    Code = "repeat"    // blocked: the same action with the same result again and again
	CodeBudget    Code = "budget"    // blocked: a budget is used up; Report.Scope says whose
	CodeIdle      Code = "idle"      // blocked: idle was called with the task unfinished
	CodeFailures  Code = "failures"  // blocked: three failed actions in a row, or the first of a strict run
	CodeStep      Code = "step"      // blocked: a runbook step failed and there is no model
	CodeRefused   Code = "refused"   // blocked: the completion claim was refused for good
	CodeEvaluator Code = "evaluator" // blocked: the evaluator says the goal can't be reached
	CodeEmpty     Code = "empty"     // no_candidates: the model said nothing
	CodeModel     Code = "model"     // failed: the model; Report.Class says why
	CodeLog       Code = "log"       // failed: the event log or the transcript can't be written
	CodeHarness   Code = "harness"   // failed: a tool's own machinery broke
	CodeMachine   Code = "machine"   // failed: no descriptors, processes, memory or disk left; nobody here is to blame
	CodePanic     Code = "panic"     // failed: a bug in this program
)

// Report is how a run ended and what it leaves to its caller.
type Report struct {
	Run         autonomy.RunID
	Termination Termination
	Code        Code
	Class       llm.Class     // of a model error
	RetryAfter  time.Duration // the wait a model server asked for
	Scope       Scope         // whose budget is used up
	Message     string        // one line for people
	Text        string        // the model's last text
	Summary     string        // what was achieved, in the words of the claim
	Verified    bool          // a command or check of ours proved the claim, not only somebody's word
	Turns       int           // model turns
	Steps       int           // actions that ran
	Refused     int           // claims of the attempt that were refused, earlier rounds included
	Usage       llm.Usage
	Failure     *Failure             // the last failed action or check of a run that was not achieved
	Mail        []autonomy.MessageID // what entered this run
}

// Failure is the action or check that went wrong last, short enough for a task file.
type Failure struct {
	Step string // the step's name, else the tool; "verify" for the goal's own command
	Exit *int
	Tail string // the last lines of its output
}

// tailLines is how much of a failed command's output people see in a task.
const tailLines = 20

// tail is the last n lines of s, at most 4 kB.
func tail(s string, n int) string {
	s = strings.TrimRight(s, "\n")
	lines := strings.Split(s, "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	s = strings.Join(lines, "\n")
	if const4k := 4096; len(s) > const4k {
		s = "…" + strings.ToValidUTF8(s[len(s)-const4k:], "")
	}
	return s
}
