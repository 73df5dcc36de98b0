package board

import (
	"time"

	"github.com/autonomy-team/autonomy"
)

// Entry is one file of the board as it is shown.
type Entry struct {
	ID        autonomy.TaskID // 0 for a file whose name gives none
	Path      string
	Task      Task // what could be read, also of an invalid file
	Readiness Readiness
	Blockers  []autonomy.TaskID // effective ones: blockedBy, and every task that says it blocks this one
	Err       *InvalidError
	Stale     bool // the disk refused the last look; Task is the last good content
}

// Changes is what a look at the board found.
type Changes struct {
	Ready   []autonomy.TaskID // newly ready since the last Changes, in the order in which they are taken
	Lost    []*LostError      // claims made through this Dir that are no longer in force, each told once
	Changed []autonomy.TaskID // files that appeared, changed or vanished
	// Next is when Recheck has something to do: a file that looked half-written, or a task whose notBefore passes.
	// Zero means nothing is due.
	Next time.Time
}

// Draft is a task to be created. Fields mean what they mean in Task.
type Draft struct {
	Subject     string
	Description string
	ActiveForm  string
	Owner       autonomy.AgentName // assigns the task
	BlockedBy   []autonomy.TaskID  // each must exist
	Priority    int64
	Role        autonomy.Role
	Requires    []string
	Steps       []Step
	Verify      string
	Worktree    bool
	NotBefore   time.Time
	CreatedBy   autonomy.AgentName // "" = a person
	Metadata    []byte             // a JSON object
}

// Patch is an edit of the fields that may be edited through the board; nil leaves a field alone.
type Patch struct {
	Subject     *string
	Description *string
	Priority    *int64
	BlockedBy   *[]autonomy.TaskID
	Metadata    []byte // a JSON object that replaces the old one
}

// Reaped is a claim that was taken from an instance that died, or a leftover that was put in order.
type Reaped struct {
	Ref
	By       autonomy.AgentName
	Instance autonomy.InstanceID
	Held     bool // the owner died once too often; a person is asked
	Leftover bool // a person had taken the task already: no death was counted
}

// Checked is one name of the folder, as task check prints it.
type Checked struct {
	File   string          `json:"file"`
	State  CheckState      `json:"state"`
	ID     autonomy.TaskID `json:"id,omitempty"`
	Ready  bool            `json:"ready"`
	Reason string          `json:"reason,omitempty"`
	Error  *CheckError     `json:"error,omitempty"`
}

// CheckState says what the board makes of a name.
type CheckState string

// The states of a name.
const (
	CheckAccepted CheckState = "accepted"
	CheckInvalid  CheckState = "invalid"
	CheckIgnored  CheckState = "ignored"
)

// CheckError is the place and the words of a fault.
type CheckError struct {
	Line    int    `json:"line"` // 0 = concerns the whole file
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// Explanation says all that is known about why a task is, or is not, being worked.
type Explanation struct {
	Entry    Entry
	Blockers []Blocker
	Members  []Suitability // one per claimant asked about, in that order
	Nobody   bool          // ready, and none of the claimants may take it
}

// Blocker is one effective blocker and how it stands.
type Blocker struct {
	ID       autonomy.TaskID
	State    NodeState
	Archived bool
}

// Suitability says whether one member may take the task.
type Suitability struct {
	Name   autonomy.AgentName
	OK     bool
	Reason string
}
