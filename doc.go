// Package autonomy holds the identifiers that every part of the program shares.
//
// The program runs a team of agents on a board of plain JSON files. The packages below this one are named after what
// they hold: board (tasks), inbox (mail), team (who works), agent (how a goal is worked). This package knows none of
// them and has no behaviour, so that anything may import it.
package autonomy

// AgentName names a teammate: ^[a-z][a-z0-9_-]{0,31}$, unique in a team ignoring case.
type AgentName string

// Role is a free label that says what kind of task a teammate takes, for example "coder".
type Role string

// TeamName names a team; the default is "default".
type TeamName string

// TaskID is the N of task_N.json: 1 or more, never issued twice.
type TaskID int64

// RunID identifies one run of the agent loop. It is a ULID, so ids sort by the time the run began.
type RunID string

// ClaimID identifies one claim of a task and fences late writers: whoever holds another id no longer owns the task.
// It is a ULID.
type ClaimID string

// InstanceID identifies one life of a daemon. It lives exactly as long as that daemon holds .team/daemon.lock.
type InstanceID string

// MessageID identifies a mail message: a ULID, or for a line that was dropped by hand a hash of its place and content.
type MessageID string
