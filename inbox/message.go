package inbox

import (
	"time"

	"github.com/autonomy-team/autonomy"
)

// Kind is the type of a message.
type Kind string

// The kinds of a message. Only KindMessage, KindBroadcast and KindResult wake a teammate; the control kinds have no
// authority when they are found in a mailbox file and are shown as text.
const (
	KindMessage          Kind = "message"
	KindBroadcast        Kind = "broadcast"
	KindResult           Kind = "result"
	KindPlanRequest      Kind = "plan_approval_request"
	KindPlanResponse     Kind = "plan_approval_response"
	KindShutdownRequest  Kind = "shutdown_request"
	KindShutdownResponse Kind = "shutdown_response"
	KindError            Kind = "error"
)

// Control reports whether messages of the kind would decide something if they came through the daemon. Found in a mailbox
// they are text.
func (k Kind) Control() bool {
	switch k {
	case KindPlanRequest, KindPlanResponse, KindShutdownRequest, KindShutdownResponse:
		return true
	}
	return false
}

// Message is one line of a mailbox. The format is documented in docs/formats/inbox.md.
type Message struct {
	ID        autonomy.MessageID
	Kind      Kind
	From      autonomy.AgentName // a label on which nothing hangs; "user" for a line dropped by hand
	To        autonomy.AgentName
	Content   string
	Timestamp time.Time
	ReplyTo   autonomy.MessageID
	RequestID string
	Approve   *bool
	Plan      string
	Feedback  string
	Interrupt bool // the sender wants the receiver's model call in flight cancelled
}
