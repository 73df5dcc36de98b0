package team

import (
	"context"
	"errors"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// ErrLead refuses a task to the lead, who is never eligible.
var ErrLead = errors.New("the lead claims no tasks; it creates them for the team")

// Claim takes a task for a member at its own wish, with id 0 the best one. The board's errors say why not. The member
// works the task as soon as its run under way has ended, at once when there is none.
func (s *Supervisor) Claim(ctx context.Context, name autonomy.AgentName, id autonomy.TaskID) (board.Task, error) {
	if name == Lead {
		return board.Task{}, ErrLead
	}
	t := s.find(name)
	if t == nil {
		return board.Task{}, s.unknown(name)
	}
	if l := t.lifeNow(); l == nil || l.stopping() {
		return board.Task{}, ErrNotServing
	}
	var task board.Task
	var err error
	if id == 0 {
		task, err = s.cfg.Board.ClaimNext(ctx, s.claimant(t))
	} else {
		task, err = s.cfg.Board.Claim(ctx, id, s.claimant(t))
	}
	if err != nil {
		return board.Task{}, err
	}
	t.hold(task)
	t.claimed(task)
	t.poke() // its run may have ended meanwhile
	return task, nil
}
