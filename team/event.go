package team

import (
	"time"

	"github.com/autonomy-team/autonomy"
)

// EventKind is the wire name of a team event.
type EventKind string

// The closed set of team events.
const (
	EventSpawned       EventKind = "spawned"        // a member was put on the roster, or came back
	EventState         EventKind = "state"          // a member went from one phase to another
	EventClaimed       EventKind = "claimed"        // a member took a task
	EventClaimLost     EventKind = "claim_lost"     // the task was taken from it
	EventReleased      EventKind = "released"       // the task was given back, uncounted
	EventReaped        EventKind = "reaped"         // a claim of a dead instance was undone
	EventCompleted     EventKind = "completed"      // the task is done
	EventFailed        EventKind = "failed"         // an attempt failed, or is held for a person
	EventMailDelivered EventKind = "mail_delivered" // mail is in a transcript
	EventShutdown      EventKind = "shutdown"       // a member ended
	EventError         EventKind = "error"          // something that a person should see
)

// Event is one record of the team log. Fields that do not apply are zero.
type Event struct {
	Kind     EventKind            `json:"type"`
	Time     time.Time            `json:"at"`
	Actor    autonomy.AgentName   `json:"actor,omitempty"`
	Task     autonomy.TaskID      `json:"task,omitempty"`
	Claim    autonomy.ClaimID     `json:"claim,omitempty"`
	Run      autonomy.RunID       `json:"run_id,omitempty"`
	From     Phase                `json:"from,omitempty"` // of a state
	To       Phase                `json:"to,omitempty"`   // of a state
	Code     string               `json:"code,omitempty"` // of a failed
	Reason   string               `json:"reason,omitempty"`
	Messages []autonomy.MessageID `json:"messages,omitempty"` // of a mail_delivered
}
