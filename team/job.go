package team

import (
	"context"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
)

// JobKind says what a job is about.
type JobKind string

// The kinds of a job.
const (
	TaskJob   JobKind = "task"   // an attempt of a claimed task
	MailJob   JobKind = "mail"   // unread mail and no task of its own
	PromptJob JobKind = "prompt" // what the member was spawned with
	LineJob   JobKind = "line"   // what a person said to the lead
)

// Job is one piece of work for one member. Its functions may be called from any goroutine until Work returns.
type Job struct {
	Kind   JobKind
	Member Spec

	// Task is the claimed task of a TaskJob, as it was when the job was made.
	Task *board.Task
	// Round counts the rounds of the same attempt of Task, or of the same mail or prompt: 0 at first. In a later round
	// the opening is in the transcript already and a nudge to go on enters instead.
	Round int
	// Refused is how many completion claims were refused in the earlier rounds of the same attempt.
	Refused int
	// Mail opens a MailJob.
	Mail []inbox.Message
	// Text opens a PromptJob or a LineJob.
	Text string
	// Notes are told to the member first, each as a user message: "task #3 was taken: owner was changed to bob".
	Notes []string

	// Entered is called once, after the notes and the opening are in the durable transcript. For mail that is the moment
	// it is acknowledged. Without the call the same job comes again.
	Entered func(context.Context) error
	// Receive fetches mail that came since, between two turns; an empty Delivery means none.
	Receive func(context.Context) (Delivery, error)
	// Progress keeps the member's status current.
	Progress func(Progress)

	// Stop is closed when the work must end at its next safe point, with termination cancelled.
	Stop <-chan struct{}
	// Interrupt gets a value when a sender wants the model call in flight cancelled; the work itself goes on.
	Interrupt <-chan struct{}
}

// Delivery is mail to be put into a transcript. Ack is called after it is durable there; without it the same mail comes
// again.
type Delivery struct {
	Messages []inbox.Message
	Ack      func(context.Context) error
}

// Progress is what a worker tells about a job under way. Zero fields change nothing.
type Progress struct {
	Run      autonomy.RunID
	Tokens   int    // used since the last Progress
	Approval string // waits for a person's answer to this
	Answered bool   // no longer waits
}

// Worker does jobs. Work is called on the member's own goroutine, one job a member at a time, many members at once. It
// returns only when every process that it started for the job is gone, soon after ctx ends at the latest. What was used
// is in the Report's Usage, whether or not Progress told it. A panic is recovered by the Teammate.
type Worker interface {
	Work(ctx context.Context, job Job) agent.Report
}
