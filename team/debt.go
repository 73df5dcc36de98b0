package team

import (
	"context"
	"slices"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// debt is a write to the board that failed when its member had no time left to try again.
type debt struct {
	member autonomy.AgentName
	ref    board.Ref
	run    autonomy.RunID
	end    board.End // nil = the attempt behind a lost claim has stopped
	err    error     // of the last try
}

// owe takes over a write. It is tried again at every tick and a last time when the team stops.
func (s *Supervisor) owe(d debt) {
	s.mu.Lock()
	s.debts = append(s.debts, d)
	s.mu.Unlock()
	s.emit(Event{Kind: EventError, Actor: d.member, Task: d.ref.ID, Claim: d.ref.Claim, Run: d.run, Reason: "write the board: " + d.err.Error()})
}

// owes reports whether an end of a claim is owed: then nothing else may be written for it, least of all a release, which
// would lose the result.
func (s *Supervisor) owes(ref board.Ref) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.debts, func(d debt) bool { return d.ref == ref && d.end != nil })
}

// pay tries all owed writes. Only the goroutine of Serve calls it.
func (s *Supervisor) pay(ctx context.Context) {
	s.mu.Lock()
	debts := slices.Clone(s.debts) // they stay owed until they are paid
	s.mu.Unlock()
	var left []debt
	for _, d := range debts {
		var err error
		if d.end == nil {
			err = s.cfg.Board.Stopped(ctx, d.ref)
		} else {
			_, err = s.cfg.Board.Finish(ctx, d.ref, d.end)
		}
		switch {
		case err == nil:
			s.taskChanged(d.ref.ID)
		case s.void(d.ref, err):
		default:
			d.err = err
			left = append(left, d)
		}
	}
	s.mu.Lock()
	s.debts = append(left, s.debts[len(debts):]...)
	s.mu.Unlock()
}

// Unwritten is what the board has not taken yet. When Serve has returned it is what the board will not take any more.
func (s *Supervisor) Unwritten() []*UnwrittenError {
	s.mu.Lock()
	defer s.mu.Unlock()
	owed := make([]*UnwrittenError, len(s.debts))
	for i, d := range s.debts {
		owed[i] = &UnwrittenError{Member: d.member, Task: d.ref.ID, Claim: d.ref.Claim, Run: d.run, End: d.end, Err: d.err}
	}
	return owed
}
