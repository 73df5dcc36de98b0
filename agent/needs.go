package agent

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
)

// State is what a proposer may know of the run.
type State struct {
	Goal      Goal
	Turn      int  // counted from 1
	Position  int  // actions that succeeded so far
	Steps     int  // runbook steps that succeeded so far
	Uncertain bool // a step failed or a claim was refused: nothing of a runbook is certain any more
	Deviated  bool // a recipe failed, or something other than a certain recipe ran
	Model     bool // a model can be asked
}

// Proposer offers paths for the next turn: the runbook, the recipes. The model is asked by the Loop itself, and only
// when no Proposer is certain.
type Proposer interface {
	Propose(ctx context.Context, s State) ([]action.Path, error)
}

// Briefer is a Proposer that has something to tell the model when its own certainty has ended.
type Briefer interface {
	Brief(s State) string
}

// Executor is the gateway as the Loop sees it. Assess has no side effects. Admit may wait for a person. Execute takes
// an Admission once; a failed action is an Observation, an error means that the machinery failed, or with
// machine.InTrouble that the machine has no room for the action. Execute is called
// from several goroutines at once for read-only actions.
type Executor interface {
	Assess(a action.Action) action.Action
	Admit(ctx context.Context, a action.Action) (action.Admission, error)
	Execute(ctx context.Context, a action.Action, adm action.Admission) (action.Observation, error)
}

// Evaluator judges a completion claim. An error means that it could not judge.
type Evaluator interface {
	Evaluate(ctx context.Context, c outcome.Claim) (outcome.Outcome, error)
}

// Recorder is the durable log of one run. It syncs by itself after an approval_decision that was asked for and after
// run_finished. It is called from one goroutine at a time. An error ends the run as failed.
type Recorder interface {
	Record(e Event) error
}

// Skill is a procedure chosen for the goal.
type Skill struct {
	Name string
	Body string
}

// Skills chooses the skills that fit a goal and the latest state, best first.
type Skills interface {
	Select(goal, state string) ([]Skill, error)
}

// Letter is one message of a mailbox as the model is shown it.
type Letter struct {
	ID        autonomy.MessageID `json:"id"`
	Type      string             `json:"type"`
	From      string             `json:"from"`
	Content   string             `json:"content"`
	Timestamp string             `json:"timestamp,omitempty"`
	ReplyTo   autonomy.MessageID `json:"replyTo,omitempty"`
}

// Delivery is mail that was read and not yet acknowledged. The Loop calls Ack, if there is one, after the transcript
// holds the letters durably.
type Delivery struct {
	Letters []Letter
	Ack     func() error
}

// Mail brings messages between turns. Poll never waits. A receive from Interrupts (which may be nil) means that mail
// has come that is worth cancelling the call in flight.
type Mail interface {
	Poll(ctx context.Context) (Delivery, bool, error)
	Interrupts() <-chan struct{}
}

// Compactor shortens a transcript between turns. Compact is called before each model request and with force after an
// overflow; it reports whether it changed anything.
type Compactor interface {
	Compact(ctx context.Context, t *Transcript, model llm.Client, force bool) (bool, error)
}

// Learner takes note of the actions by which a goal was achieved and says what it learned from them.
type Learner interface {
	Achieved(goal string, done []Done) ([]RecipeLearned, error)
}

// Done is one action that succeeded in an achieved run, as a Learner sees it. Runbook actions and redacted ones are
// left out; the accepted claim is the last.
type Done struct {
	Position int // actions that succeeded before it
	Action   action.Action
}

// Scope says whose budget it is.
type Scope string

// The scopes.
const (
	ScopeRun    Scope = "run"
	ScopeTask   Scope = "task"
	ScopeMember Scope = "member"
	ScopeTeam   Scope = "team"
)

// Budget is what a run may spend. Reserve is called before a request with the expected tokens; settle, called once,
// replaces the reservation by what was used. A *BudgetError refuses.
type Budget interface {
	Reserve(tokens int) (settle func(llm.Usage), err error)
}

// BudgetError says which budget is used up.
type BudgetError struct {
	Scope Scope
	Kind  string // "tokens", "cost" or "time"
	Limit float64
	Used  float64
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("the %s's budget of %s is used up (%s of %s)", e.Scope, e.Kind, amount(e.Kind, e.Used), amount(e.Kind, e.Limit))
}

// amount is a number of a budget for people: dollars, seconds as a duration, tokens with their thousands apart.
func amount(kind string, n float64) string {
	switch kind {
	case "cost":
		return fmt.Sprintf("$%.4g", n)
	case "time":
		return (time.Duration(n) * time.Second).String()
	}
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
