package team

import (
	"errors"

	"github.com/autonomy-team/autonomy/board"
)

// finished decides the end of a team that should exit when idle; nil = it goes on. The conditions are those of the
// manual: there is a roster, each member is at rest for good, no task is claimed by a member, and no task is, or will be
// when its back-off is over, ready for a member that can be brought back.
func (s *Supervisor) finished() *IdleError {
	var comeback []board.Claimant
	room := s.live() < s.cfg.MaxTeammates
	members := 0
	for _, t := range s.all() {
		st := t.snapshot()
		if st.Name == Lead {
			continue
		}
		members++
		if st.Phase.Live() && !(st.Phase == Backoff && st.Endless) {
			return nil
		}
		if room && s.revivable(st) {
			comeback = append(comeback, s.claimant(t))
		}
	}
	if members == 0 {
		return nil
	}
	idle := &IdleError{}
	for _, entry := range s.cfg.Board.List() {
		task := entry.Task
		if task.Status == board.InProgress && task.Claim != nil && task.Claim.Instance != "" {
			return nil
		}
		if willBeReady(entry.Readiness) {
			for _, who := range comeback {
				if ok, _ := board.Eligible(task, who); ok {
					return nil
				}
			}
		}
		switch {
		case entry.Err != nil:
			idle.Bad++
		case task.Status != board.Completed && task.Status != board.Cancelled:
			idle.Left = append(idle.Left, task.ID)
		}
	}
	return idle
}

// willBeReady reports whether a task is ready or becomes so without anybody's help.
func willBeReady(r board.Readiness) bool {
	switch r.Kind {
	case board.KindRetry, board.KindUnsettled, board.KindStopping:
		return true
	}
	return r.Ready
}

// joined is errors.Join of a slice, nil when there are none.
func joined(errs []error) error { return errors.Join(errs...) }
