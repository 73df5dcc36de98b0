// Package action says what an agent may do and how candidate ways are compared: actions, the paths they form, their
// scores, and what was observed when one ran. It is pure: no clock, no disk, no network.
package action

import (
	"encoding/json"
	"time"
)

// Risk is the worst case of an action, computed by the program from tool and arguments. A model may raise it, never
// lower it.
type Risk string

// The levels, ordered. What falls under which is written in SECURITY.md.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// Source says who proposed a path.
type Source string

// The sources of paths.
const (
	FromRunbook Source = "runbook"
	FromRecipe  Source = "action_skill"
	FromModel   Source = "model"
)

// ClaimTool is the name of the tool by which a model claims that its task is done, and of the claim in events.
const ClaimTool = "complete_task"

// Action is one governed tool call. A proposer fills the first block; the gateway's assessment fills the second. Its
// JSON form is part of the run's log.
type Action struct {
	Call      string          `json:"call"` // unique in its path; for a model's call the provider's id
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`  // a JSON object; nil only for a claim that is no tool call
	Purpose   string          `json:"purpose,omitempty"`    // why, in the words of the proposer; "" if not stated
	Name      string          `json:"name,omitempty"`       // of a runbook step, for people
	Timeout   time.Duration   `json:"timeout_ns,omitempty"` // 0 = the tool's default
	Expect    *Expect         `json:"expect,omitempty"`     // what the result must show beyond success; runbook steps only
	Claim     bool            `json:"claim,omitempty"`      // the completion claim: complete_task, or the end of a runbook
	Problem   string          `json:"problem,omitempty"`    // why it can't be admitted, found by the proposer (unparsable arguments, cut reply)
	// Direct says that the words are those of the task itself or of a person at the command line (a step, verify, tools
	// call), not of a model or a recipe. The gateway takes it for a person's command only where the task is a person's. It
	// is never stored, so that nothing that was learned or replayed carries it.
	Direct bool `json:"-"`

	Risk        Risk   `json:"risk,omitempty"`
	SideEffects bool   `json:"side_effects,omitempty"`
	Effect      string `json:"expected_effect,omitempty"`   // the stated purpose, else the tool's
	Plan        string `json:"verification_plan,omitempty"` // how the effect is verified afterwards
	ReadOnly    bool   `json:"read_only,omitempty"`         // may run beside others
	Fingerprint string `json:"fingerprint,omitempty"`       // SHA-256 of the canonical JSON of tool and redacted arguments
	Redacted    bool   `json:"redacted,omitempty"`          // the arguments held a secret: never a recipe
	Unavailable bool   `json:"unavailable,omitempty"`       // the tool is unknown or not offered
	Invalid     string `json:"invalid,omitempty"`           // the arguments do not fit the schema
}

// Expect is what a runbook step must show.
type Expect struct {
	Exit     *int   `json:"exit,omitempty"` // nil = 0
	Contains string `json:"contains,omitempty"`
	File     string `json:"file,omitempty"`
}

// Path is a list of actions proposed together. The first admissible path of a ranking runs, whole.
type Path struct {
	Source   Source   `json:"source"`
	Actions  []Action `json:"actions"`
	Certain  bool     `json:"certain,omitempty"`  // nothing else is asked, nothing is scored
	Evidence int      `json:"evidence,omitempty"` // successes behind a recipe; 0 else
	Text     string   `json:"text,omitempty"`
	Reply    int      `json:"reply,omitempty"` // index of the model reply behind it, for --proposals; 0 first
	Cut      bool     `json:"cut,omitempty"`   // the reply was cut at its length limit: its text is no answer
}

// Decision is the gateway's answer to an action.
type Decision string

// The decisions. Ask becomes one of the others before anything runs.
const (
	Allow   Decision = "allow"
	Ask     Decision = "ask"
	Deny    Decision = "deny"
	Refuse  Decision = "refuse" // never asked, never allowed
	Expired Decision = "expired"
)

// Admission is the gateway's leave to run one action once. Only the gateway makes one, and it refuses an Admission whose
// Token it did not issue for that very action.
type Admission struct {
	Decision Decision
	Reason   string
	By       string // who decided: "policy", a person, "nobody"
	Request  string // id of the approval request, when a person was asked
	Asked    bool
	Waited   time.Duration
	Token    any // the gateway's own, used once; nil unless Decision is Allow
}

// Status is how an action ended.
type Status string

// The statuses of an observation.
const (
	OK           Status = "ok"
	Failed       Status = "failed"
	Denied       Status = "denied"
	Inadmissible Status = "inadmissible" // unknown tool or invalid arguments
	NotRun       Status = "not_run"      // an earlier writing call of the path failed or was denied, or superseded
	Aborted      Status = "cancelled"
)

// Observation is what an action did, as the proposer is told and as the log keeps it.
type Observation struct {
	Call      string        `json:"call"`
	Tool      string        `json:"tool"`
	Status    Status        `json:"status"`
	Output    string        `json:"output,omitempty"` // capped; redacted
	Exit      *int          `json:"exit,omitempty"`
	Verified  *bool         `json:"verified,omitempty"` // nil = the action has nothing to verify
	Check     string        `json:"check,omitempty"`    // what the verification found
	Truncated bool          `json:"truncated,omitempty"`
	File      string        `json:"file,omitempty"` // where the whole output is, when truncated
	Duration  time.Duration `json:"duration_ns,omitempty"`
	Wrote     bool          `json:"wrote,omitempty"`    // a side effect happened or may have
	EndTurn   bool          `json:"end_turn,omitempty"` // the tool ends the run's turn (idle, complete_task)
}
