package team

import (
	"time"

	"github.com/autonomy-team/autonomy"
)

// Status is a member as it is now, read off the record that its own goroutine keeps.
type Status struct {
	Spec
	Phase        Phase            `json:"phase"`
	Desired      Desired          `json:"desired"`
	Task         autonomy.TaskID  `json:"task,omitempty"`
	Claim        autonomy.ClaimID `json:"claim,omitempty"`
	Subject      string           `json:"subject,omitempty"`     // of the task
	ActiveForm   string           `json:"active_form,omitempty"` // of the task
	Attempt      int              `json:"attempt,omitempty"`     // of the task
	Run          autonomy.RunID   `json:"run,omitempty"`         // the run under way, else the last one
	Since        time.Time        `json:"since"`                 // when the phase began
	LastActivity time.Time        `json:"last_activity"`
	Tokens       int              `json:"tokens"`              // prompt and completion since the daemon started
	Reason       string           `json:"reason,omitempty"`    // of a back-off, a stop or a failure; what an idle member can't do
	Until        time.Time        `json:"until,omitzero"`      // of a back-off that ends by itself
	Endless      bool             `json:"endless,omitempty"`   // a back-off until a person acts
	IdleLeft     time.Duration    `json:"idle_left,omitempty"` // nanoseconds until an idle member shuts down
	Unread       int              `json:"unread,omitempty"`    // mail; filled by Supervisor.Members
	Approval     string           `json:"approval,omitempty"`  // what it waits for in waiting_approval
}
