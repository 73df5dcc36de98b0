package board

import (
	"encoding/json"
	"time"

	"github.com/autonomy-team/autonomy"
)

// Status is where a task stands, as written in its file.
type Status string

// The statuses a task file may carry. Anything else is shown as invalid and never claimed.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Cancelled  Status = "cancelled"
)

// Task is one task file, decoded. The file is the only truth; a Task is a copy of it at one moment. Fields and their
// meaning are documented in docs/formats/task.md.
type Task struct {
	ID          autonomy.TaskID
	Subject     string
	Description string
	ActiveForm  string
	Status      Status
	Owner       autonomy.AgentName // "" = free; of a pending task: assigned to that member
	BlockedBy   []autonomy.TaskID
	Blocks      []autonomy.TaskID // read as the reverse edge, never written by the board
	Priority    int64
	Role        autonomy.Role
	Requires    []string // names of toolsets or tools
	Steps       []Step
	Verify      string
	Worktree    bool
	NotBefore   time.Time
	CreatedBy   autonomy.AgentName // "" = a person
	Metadata    json.RawMessage
	Attempt     int
	Claim       *Claim
	Held        *Held
	Result      *Result
	Failure     *Failure
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Step is one entry of a task's runbook: a shell command, or a tool with its arguments.
type Step struct {
	Name      string
	Run       string          // a shell command; exclusive with Tool
	Tool      string          // a tool's name
	Arguments json.RawMessage // of Tool: a JSON object
	Timeout   time.Duration   // 0 = the default of the tool; a number of seconds or a Go duration in the file
	Expect    *Expect
}

// Expect is what a step must show beyond having run.
type Expect struct {
	Exit     *int   // wanted exit status; nil = 0
	Contains string // text the output must contain
	File     string // path, relative to the workspace, that must exist afterwards
}

// Claim says who holds a task. ID is the fencing token.
type Claim struct {
	ID       autonomy.ClaimID
	By       autonomy.AgentName
	Instance autonomy.InstanceID // "" = a person, whose claim is never reaped
	At       time.Time
	Assigned bool // the task had been assigned to By before the claim, so a release keeps the owner
}

// Held says that a task waits for a person.
type Held struct {
	Reason string
	At     time.Time
}

// Result is what a completion left.
type Result struct {
	Summary    string
	RunID      autonomy.RunID
	FinishedAt time.Time
	Verified   bool
	Usage      json.RawMessage // token counts and cost, written by the one who ran it
}

// Failure is the last failure of a task. Count is of failed attempts, Deaths of owners that died in a row.
type Failure struct {
	Code    string
	Message string
	Count   int
	Deaths  int
	At      time.Time
}
