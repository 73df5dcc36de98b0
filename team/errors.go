package team

import (
	"errors"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// Sentinels for errors.Is.
var (
	// ErrIdle is how Serve ends when ExitWhenIdle is set and nothing is left that a member could do. It is an *IdleError.
	ErrIdle = errors.New("nothing left to do")
	// ErrNotServing is the answer to calls that need the members' goroutines while Serve does not run.
	ErrNotServing = errors.New("the team is not running")
	// ErrNoModel is the answer to a line for a lead that has no model.
	ErrNoModel = errors.New("needs a model: autonomy model setup")
	// ErrNoWorktree refuses a member that wants worktrees of its own: isolation is real or the spawn fails.
	ErrNoWorktree = errors.New("this version makes no worktrees")
	// ErrNoLead is the answer to a line while there is no lead.
	ErrNoLead = errors.New("there is no lead")
)

// NameError says why a member cannot be called so.
type NameError struct {
	Name   autonomy.AgentName
	Reason string
}

func (e *NameError) Error() string { return fmt.Sprintf("name %q: %s", string(e.Name), e.Reason) }

// LiveError refuses to spawn or to remove a member that runs.
type LiveError struct {
	Name  autonomy.AgentName
	Phase Phase
}

func (e *LiveError) Error() string { return fmt.Sprintf("%s is running (%s)", e.Name, e.Phase) }

// FullError refuses one more live member.
type FullError struct{ Max int }

func (e *FullError) Error() string {
	return fmt.Sprintf("the team is full: the limit is %d running (--max-teammates)", e.Max)
}

// RosterError says what is wrong with the roster's file. It is never taken for an empty roster, and never overwritten.
type RosterError struct {
	Path string
	Err  error
}

func (e *RosterError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap gives what is wrong.
func (e *RosterError) Unwrap() error { return e.Err }

// UnknownNameError names who could have been meant.
type UnknownNameError struct {
	Name  autonomy.AgentName
	Valid []autonomy.AgentName
}

func (e *UnknownNameError) Error() string {
	names := make([]string, len(e.Valid))
	for i, name := range e.Valid {
		names[i] = string(name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("nobody is called %q; the team has no members", string(e.Name))
	}
	return fmt.Sprintf("nobody is called %q; valid names: %s", string(e.Name), strings.Join(names, ", "))
}

// IdleError tells what is left on the board when a team that should exit when idle does. It is ErrIdle.
type IdleError struct {
	Left []autonomy.TaskID // neither completed nor cancelled; empty = all done
	Bad  int               // files that are no acceptable task
}

// Done reports whether every task is completed or cancelled.
func (e *IdleError) Done() bool { return len(e.Left) == 0 && e.Bad == 0 }

func (e *IdleError) Error() string {
	if e.Done() {
		return "nothing left to do: every task is completed or cancelled"
	}
	return fmt.Sprintf("nothing left that a member could do: %d tasks unfinished, %d files invalid", len(e.Left), e.Bad)
}

// Is makes errors.Is(err, ErrIdle) true.
func (e *IdleError) Is(target error) bool { return target == ErrIdle }

// StuckError names the members whose goroutine or processes had not ended when the time to stop was over.
type StuckError struct{ Names []autonomy.AgentName }

func (e *StuckError) Error() string {
	names := make([]string, len(e.Names))
	for i, name := range e.Names {
		names[i] = string(name)
	}
	return "did not stop in time: " + strings.Join(names, ", ")
}

// UnwrittenError is an end of an attempt that the board did not take before the team stopped. The task is given back
// by the next start; the run's log has the result.
type UnwrittenError struct {
	Member autonomy.AgentName
	Task   autonomy.TaskID
	Claim  autonomy.ClaimID
	Run    autonomy.RunID
	End    board.End // nil = only that the attempt behind a lost claim has stopped
	Err    error
}

func (e *UnwrittenError) Error() string {
	return fmt.Sprintf("the end of task %d by %s was not written (its result is in run %s): %v", e.Task, e.Member, e.Run, e.Err)
}

func (e *UnwrittenError) Unwrap() error { return e.Err }

// errClosing refuses to start anybody while Serve ends.
var errClosing = errors.New("the team is stopping")

// takenError is why an attempt's context ends when the task was taken away.
type takenError struct{ reason string }

func (e *takenError) Error() string { return "the task was taken: " + e.reason }

// errStopped is why a member's context ends when it is to stop.
var errStopped = errors.New("the member is to stop")
