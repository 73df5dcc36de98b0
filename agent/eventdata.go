package agent

import (
	"encoding/json"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
)

// RunStarted opens a run: what is to be achieved and under which rules.
type RunStarted struct {
	Kind      Kind         `json:"kind"`
	Subject   string       `json:"subject,omitempty"`
	Goal      string       `json:"goal"` // the goal's fingerprint
	Verify    string       `json:"verify,omitempty"`
	MaxSteps  int          `json:"max_steps"`
	Strict    bool         `json:"strict,omitempty"`
	Resumed   bool         `json:"resumed,omitempty"`
	Refused   int          `json:"refused,omitempty"`
	Judge     outcome.Mode `json:"judge"`
	Proposals int          `json:"proposals"`
	Beam      int          `json:"beam_width"`
	HasModel  bool         `json:"has_model"`
	Interface string       `json:"interface,omitempty"`
	Mode      string       `json:"mode,omitempty"`
	Provider  string       `json:"provider,omitempty"`
	Model     string       `json:"model,omitempty"`
	Sandbox   string       `json:"sandbox,omitempty"`
}

// IdentityInjected says that a transcript got its identity block.
type IdentityInjected struct {
	Name autonomy.AgentName `json:"name"`
	Role autonomy.Role      `json:"role"`
	Team autonomy.TeamName  `json:"team"`
}

// SkillsSelected names the skills of a turn, best first.
type SkillsSelected struct {
	Names []string `json:"names"`
}

// CandidatesRanked holds every path of a turn whole, best first. Position is the number of actions done before.
type CandidatesRanked struct {
	Certain  bool            `json:"certain,omitempty"`
	Position int             `json:"position"`
	Paths    []action.Ranked `json:"paths"`
}

// ActionSelected says which action is up.
type ActionSelected struct {
	Call        string          `json:"call"`
	Tool        string          `json:"tool"`
	Name        string          `json:"name,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty"`
	Fingerprint string          `json:"fingerprint"`
	Source      action.Source   `json:"source"`
	Claim       bool            `json:"claim,omitempty"`
	Risk        action.Risk     `json:"risk"`
	Effect      string          `json:"expected_effect,omitempty"`
	Plan        string          `json:"verification_plan,omitempty"`
}

// ApprovalDecision says whether an action may run and who decided.
type ApprovalDecision struct {
	Call     string          `json:"call"`
	Decision action.Decision `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	By       string          `json:"by,omitempty"`
	Request  string          `json:"request,omitempty"`
	Asked    bool            `json:"asked,omitempty"`
	WaitedMS int64           `json:"waited_ms,omitempty"`
}

// Observed is what an action did.
type Observed struct {
	action.Observation
}

// OutcomeEvaluated closes a turn. Verdict is blocked when an action failed, was denied or could not be admitted, or
// when a claim was judged so; Judged is the judgement of a claim, nil without one. Nudge is what the loop guard tells
// the model.
type OutcomeEvaluated struct {
	Verdict outcome.Verdict  `json:"verdict"`
	Reason  string           `json:"reason,omitempty"`
	Judged  *outcome.Outcome `json:"judged,omitempty"`
	Nudge   string           `json:"nudge,omitempty"`
}

// RecipeLearned says that an action has earned its place as a recipe.
type RecipeLearned struct {
	Goal        string `json:"goal"`
	Position    int    `json:"position"`
	Fingerprint string `json:"fingerprint"`
	Tool        string `json:"tool"`
	State       string `json:"state"`
}

// LearningReview says what a look back at the run gave.
type LearningReview struct {
	Result string `json:"result"` // "no_learning"
}

// RunFinished closes a run.
type RunFinished struct {
	Termination  Termination `json:"termination"`
	Code         Code        `json:"code,omitempty"`
	Class        llm.Class   `json:"class,omitempty"`
	Scope        Scope       `json:"scope,omitempty"`
	Message      string      `json:"message,omitempty"`
	Text         string      `json:"text,omitempty"`
	Summary      string      `json:"summary,omitempty"`
	Verified     bool        `json:"verified"`
	Turns        int         `json:"turns"` // model turns
	Steps        int         `json:"steps"` // actions that ran
	RetryAfterMS int64       `json:"retry_after_ms,omitempty"`
	Usage        llm.Usage   `json:"usage"`
}

// Compacted says that the transcript was shortened.
type Compacted struct {
	Forced bool `json:"forced,omitempty"` // after an overflow
	Before int  `json:"before"`           // messages
	After  int  `json:"after"`
}

// MailDelivered names the messages that entered the transcript.
type MailDelivered struct {
	IDs []autonomy.MessageID `json:"ids"`
}

// BudgetRefused says that a budget is used up.
type BudgetRefused struct {
	Scope Scope   `json:"scope"`
	Kind  string  `json:"kind"`
	Limit float64 `json:"limit"`
	Used  float64 `json:"used"`
}

// ModelCall is one request to a model, or one failed try of it (Try > 0, Final false).
type ModelCall struct {
	Purpose      string         `json:"purpose"`
	Provider     string         `json:"provider,omitempty"`
	Model        string         `json:"model,omitempty"`
	Stop         llm.StopReason `json:"stop,omitempty"`
	Usage        llm.Usage      `json:"usage"`
	LatencyMS    int64          `json:"latency_ms,omitempty"`
	Try          int            `json:"try,omitempty"`
	Final        bool           `json:"final"`
	Class        llm.Class      `json:"class,omitempty"` // "" = it succeeded
	Status       int            `json:"status,omitempty"`
	Message      string         `json:"message,omitempty"`
	WaitMS       int64          `json:"wait_ms,omitempty"`
	RetryAfterMS int64          `json:"retry_after_ms,omitempty"`
	Changed      string         `json:"changed,omitempty"`
	RequestID    string         `json:"request_id,omitempty"`
	Warnings     []string       `json:"warnings,omitempty"`
}

// FaultKind says what an error event is about.
type FaultKind string

// The kinds of fault. Interrupted, WallTime and Stopped came from outside; a replay takes them from the log.
const (
	FaultStopped     FaultKind = "cancelled"   // the context ended
	FaultInterrupted FaultKind = "interrupted" // urgent mail cancelled the call in flight
	FaultHarness     FaultKind = "harness"
	FaultMachine     FaultKind = "machine" // no descriptors, processes, memory or disk left
	FaultEvaluator   FaultKind = "evaluator"
	FaultProposer    FaultKind = "proposer"
	FaultLearner     FaultKind = "learner"
	FaultSkills      FaultKind = "skills"
	FaultMail        FaultKind = "mail"
	FaultCompactor   FaultKind = "compactor"
	FaultPanic       FaultKind = "panic"
)

// Fault is something that went wrong outside the actions.
type Fault struct {
	Kind    FaultKind `json:"kind"`
	Message string    `json:"message"`
}

func (RunStarted) eventType() EventType       { return TypeRunStarted }
func (IdentityInjected) eventType() EventType { return TypeIdentityInjected }
func (SkillsSelected) eventType() EventType   { return TypeSkillsSelected }
func (CandidatesRanked) eventType() EventType { return TypeCandidatesRanked }
func (ActionSelected) eventType() EventType   { return TypeActionSelected }
func (ApprovalDecision) eventType() EventType { return TypeApprovalDecision }
func (Observed) eventType() EventType         { return TypeObservation }
func (OutcomeEvaluated) eventType() EventType { return TypeOutcomeEvaluated }
func (RecipeLearned) eventType() EventType    { return TypeRecipeLearned }
func (LearningReview) eventType() EventType   { return TypeLearningReview }
func (RunFinished) eventType() EventType      { return TypeRunFinished }
func (Compacted) eventType() EventType        { return TypeCompacted }
func (MailDelivered) eventType() EventType    { return TypeMailDelivered }
func (BudgetRefused) eventType() EventType    { return TypeBudget }
func (ModelCall) eventType() EventType        { return TypeModelCall }
func (Fault) eventType() EventType            { return TypeError }
