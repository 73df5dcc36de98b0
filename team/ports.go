package team

import (
	"context"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
)

// Board is the store of tasks. *board.Dir is one. All methods may be called from any goroutine.
type Board interface {
	Snapshot
	Claims
	Attempts
}

// Snapshot is the team's one view of the tasks. Only Refresh and Recheck look at the disk.
type Snapshot interface {
	// Refresh looks at the named files, or at all that may have changed.
	Refresh(ctx context.Context, names ...string) (board.Changes, error)
	// Recheck does what Changes.Next announced.
	Recheck(ctx context.Context) (board.Changes, error)
	List() []board.Entry
	Get(id autonomy.TaskID) (board.Entry, error)
}

// Claims gives tasks to members.
type Claims interface {
	// BestFor names the task that ClaimNext would try first.
	BestFor(who board.Claimant) (autonomy.TaskID, bool)
	ClaimNext(ctx context.Context, who board.Claimant) (board.Task, error)
	Claim(ctx context.Context, id autonomy.TaskID, who board.Claimant) (board.Task, error)
	// Own returns the unfinished task that a member holds.
	Own(name autonomy.AgentName, instance autonomy.InstanceID) (board.Task, bool)
}

// Attempts ends what was claimed.
type Attempts interface {
	Finish(ctx context.Context, ref board.Ref, end board.End) (board.Task, error)
	// Stopped says that nothing of the attempt behind a lost claim runs any more.
	Stopped(ctx context.Context, ref board.Ref) error
	Reap(ctx context.Context) ([]board.Reaped, error)
}

// Mail is the store of mailboxes. *inbox.Dir is one.
type Mail interface {
	Send(ctx context.Context, m inbox.Message) (inbox.Message, error)
	Waiting(name autonomy.AgentName) (bool, error)
	Receive(ctx context.Context, name autonomy.AgentName) (inbox.Batch, error)
	Ack(ctx context.Context, name autonomy.AgentName, cursor inbox.Cursor) error
	Unread(ctx context.Context, name autonomy.AgentName) (int, error)
}

// Transcripts is what the supervisor does with conversations outside of a job.
type Transcripts interface {
	// Store puts mail into a member's durable transcript and returns the messages that were not in it before.
	Store(ctx context.Context, member Spec, mail []inbox.Message) ([]inbox.Message, error)
	// Reset puts the transcript of a name aside, so that its next holder begins a new one. None is fine.
	Reset(ctx context.Context, name autonomy.AgentName) error
}

// Roster is the durable list of members. *RosterFile is one. Only the supervisor writes it.
type Roster interface {
	// Load returns the members in the order of the list; none when there is no roster yet.
	Load(ctx context.Context) ([]Enrolled, error)
	// Save returns after the whole list is durable.
	Save(ctx context.Context, team autonomy.TeamName, members []Enrolled) error
}

// Events takes what happened, after it did, under no lock. Emit must not block for long; what it cannot write is its own
// to report.
type Events interface{ Emit(Event) }
