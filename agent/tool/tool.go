// Package tool says what a tool is: its specification, a call, a result, and the registry of toolsets. One sub-package
// holds each toolset. Only the gateway calls a tool.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/action"
)

// Spec describes a tool to the model, to people and to the gateway.
type Spec struct {
	Name        string
	Toolset     string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object; made from a Go struct by SchemaOf
	ReadOnly    bool            // never writes: calls may run side by side
	Default     bool            // whether the toolset is on by default
}

// Call is one invocation. The gateway builds it; Arguments are valid against the schema.
type Call struct {
	ID        string
	Arguments json.RawMessage
	Timeout   time.Duration // 0 = the tool's default
	Env       Env
}

// Env says where and for whom a call runs. It never comes from a model.
type Env struct {
	Workspace string // absolute path of the workspace
	Dir       string // working directory: the workspace or the task's worktree
	Actor     autonomy.AgentName
	Role      autonomy.Role
	Task      autonomy.TaskID
	Claim     autonomy.ClaimID
	Run       autonomy.RunID
	Person    bool // the call is a person's command (steps and verify of a person's task in a trusted workspace)
}

// Result is what a call returns to the model. A failed command is a Result with IsError; a Go error from Call means
// that the harness itself failed.
type Result struct {
	Content   string
	IsError   bool
	Exit      *int
	EndTurn   bool
	Truncated bool
	File      string // where the whole output lies when Truncated
}

// Tool is one capability. Call may run on any goroutine, several at once when the Spec says ReadOnly. It returns when
// the effect is done or the context ended, with every process it started gone (except those process_start owns).
type Tool interface {
	Spec() Spec
	Call(ctx context.Context, call Call) (Result, error)
}

// Assessment is the worst case of a call, from the arguments alone.
type Assessment struct {
	Risk        action.Risk
	SideEffects bool
	Effect      string
	Plan        string // "" = nothing to verify
	Reason      string // why this level, for policy explain
	Refused     bool   // on the list of actions that are never asked
}

// Assessor is a tool that knows the risk of a call. A tool without it is High with side effects. Assess must not touch
// anything but names and metadata of files.
type Assessor interface {
	Assess(args json.RawMessage, env Env) Assessment
}

// Verifier is a tool whose effect can be checked afterwards. Verify reports whether the effect is there and what was
// looked at.
type Verifier interface {
	Verify(ctx context.Context, call Call, result Result) (ok bool, found string)
}

// Limiter is a tool whose calls may take longer or shorter than the usual ten minutes. Limit says how long this call may
// take; the gateway ends its context shortly after.
type Limiter interface {
	Limit(call Call) time.Duration
}
