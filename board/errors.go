package board

import (
	"errors"
	"fmt"

	"github.com/autonomy-team/autonomy"
)

// Sentinels for errors.Is. The struct types below carry the details.
var (
	ErrNotFound  = errors.New("no such task")
	ErrNotReady  = errors.New("task is not ready")
	ErrClaimLost = errors.New("claim lost")
	// ErrInput is the cause of an *InvalidError that is about values a caller gave and not about what a file holds.
	ErrInput = errors.New("the values make no acceptable task")
	// ErrNothing is the answer of ClaimNext when no ready task suits the claimant. It is a normal outcome.
	ErrNothing = errors.New("no ready task to claim")
)

// NotFoundError names the task that is not on the board. It is ErrNotFound.
type NotFoundError struct {
	ID       autonomy.TaskID
	Archived bool // it was put away
}

func (e *NotFoundError) Error() string {
	if e.Archived {
		return fmt.Sprintf("task %d is in the archive", e.ID)
	}
	return fmt.Sprintf("no task %d on the board", e.ID)
}

// Is makes errors.Is(err, ErrNotFound) true.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// InvalidError says why a file is not an acceptable task. Line and Column are 1-based and 0 when the reason has no
// place in the text (a symbolic link, a bad name).
type InvalidError struct {
	Path   string
	Line   int
	Column int // in code points
	Reason string
	Err    error // the cause, when there is one
}

func (e *InvalidError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.Reason)
}

func (e *InvalidError) Unwrap() error { return e.Err }

// where renders the reason for a list, where the file is known already.
func (e *InvalidError) where() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

// UnreadableError says that the disk refused to give a task's file. The file may be in order.
type UnreadableError struct {
	ID  autonomy.TaskID
	Err error
}

func (e *UnreadableError) Error() string { return fmt.Sprintf("read task %d: %v", e.ID, e.Err) }

func (e *UnreadableError) Unwrap() error { return e.Err }

// NotReadyError says why a task cannot be claimed or completed now. It is ErrNotReady.
type NotReadyError struct {
	ID     autonomy.TaskID
	Reason string
}

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("task %d is not ready: %s", e.ID, e.Reason)
}

// Is makes errors.Is(err, ErrNotReady) true.
func (e *NotReadyError) Is(target error) bool { return target == ErrNotReady }

// ClaimedError tells the loser of a race who owns the task. It is ErrNotReady as well.
type ClaimedError struct {
	ID    autonomy.TaskID
	Owner autonomy.AgentName // "" when the file does not say
}

func (e *ClaimedError) Error() string {
	if e.Owner == "" {
		return fmt.Sprintf("task %d is already claimed", e.ID)
	}
	return fmt.Sprintf("task %d is already claimed by %s", e.ID, e.Owner)
}

// Is makes errors.Is(err, ErrNotReady) true.
func (e *ClaimedError) Is(target error) bool { return target == ErrNotReady }

// IneligibleError says why a ready task is not for this claimant.
type IneligibleError struct {
	ID     autonomy.TaskID
	Name   autonomy.AgentName
	Reason string
}

func (e *IneligibleError) Error() string {
	return fmt.Sprintf("task %d is not for %s: %s", e.ID, e.Name, e.Reason)
}

// HoldsError refuses a second task to a member, who owns at most one.
type HoldsError struct {
	Name autonomy.AgentName
	ID   autonomy.TaskID // the task held; 0 while a claim of this member is under way
}

func (e *HoldsError) Error() string {
	if e.ID == 0 {
		return fmt.Sprintf("%s is claiming a task already", e.Name)
	}
	return fmt.Sprintf("%s already holds task %d", e.Name, e.ID)
}

// LostError says how a claim ended without its holder. It is ErrClaimLost.
type LostError struct {
	Ref
	Reason string // in words, for the member: "owner was changed to bob"
}

func (e *LostError) Error() string {
	return fmt.Sprintf("claim of task %d lost: %s", e.ID, e.Reason)
}

// Is makes errors.Is(err, ErrClaimLost) true.
func (e *LostError) Is(target error) bool { return target == ErrClaimLost }

// StateError refuses a verb that the task's status does not allow.
type StateError struct {
	ID   autonomy.TaskID
	Verb string // "release"
	Why  string // "it is completed"
}

func (e *StateError) Error() string { return fmt.Sprintf("cannot %s task %d: %s", e.Verb, e.ID, e.Why) }

// BlockerError refuses a list of blockers.
type BlockerError struct {
	Blocker autonomy.TaskID
	Reason  string // "there is no task 9", "it would make a cycle: 4 → 5 → 4"
}

func (e *BlockerError) Error() string { return fmt.Sprintf("blocked by %d: %s", e.Blocker, e.Reason) }

// FolderError says why the board's folder cannot be used at all: it is missing, a link, or not a folder. The last
// snapshot stays, and nothing is claimed until the folder is back.
type FolderError struct {
	Path   string
	Reason string
	Err    error
}

func (e *FolderError) Error() string { return fmt.Sprintf("board folder %s: %s", e.Path, e.Reason) }

func (e *FolderError) Unwrap() error { return e.Err }
