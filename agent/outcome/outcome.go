// Package outcome decides whether a claim that a goal is reached holds: first by what the program itself can check, and
// where that decides nothing by asking a model that has no part in the work. No tool argument declares success.
package outcome

import "github.com/autonomy-team/autonomy/agent/llm"

// Verdict is the answer to a completion claim.
type Verdict string

// The verdicts. Continue refuses the claim and the run goes on; Blocked ends it.
const (
	Continue Verdict = "continue"
	Achieved Verdict = "achieved"
	Blocked  Verdict = "blocked"
)

// Mode says when a model is asked about a claim.
type Mode string

// The modes. Auto asks where no verify command decides, Never accepts such a claim as unverified, Always asks also
// after verify has passed.
const (
	Auto   Mode = "auto"
	Never  Mode = "never"
	Always Mode = "always"
)

// Who decided.
const (
	ByVerify = "verify" // the goal's own command
	BySteps  = "steps"  // the checks of a runbook's steps
	ByJudge  = "judge"  // a model
	ByNobody = ""       // accepted unverified
)

// Claim is what is to be judged.
type Claim struct {
	Subject     string
	Description string
	Verify      string   // the goal's command; "" = none
	Text        string   // what the claimant says
	Trail       []string // the last actions, one line each, oldest first
	Runbook     bool     // every step of the runbook has passed; no judge is asked
	Judge       Mode     // "" = Auto
	Model       llm.Client
}

// Outcome is the judgement. Its JSON form is part of the run's log.
type Outcome struct {
	Verdict  Verdict `json:"verdict"`
	Verified bool    `json:"verified"`
	Denied   bool    `json:"denied,omitempty"` // nobody can judge: verify may not run
	By       string  `json:"by,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Exit     *int    `json:"exit,omitempty"`   // of the verify command
	Output   string  `json:"output,omitempty"` // of the verify command, capped
}
