package team_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy/board"
)

func TestIdleMemberSaysWhatItCannotDo(t *testing.T) {
	onStage(t, func(s *stage) {
		var locked atomic.Bool
		locked.Store(true)
		s.board.fail = func(op string) error {
			if locked.Load() && op == "claim" {
				return errors.New("the board is locked")
			}
			return nil
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		time.Sleep(time.Second)
		synctest.Wait()
		const want = "claim a task: the board is locked"
		if m := s.sup.Members()[0]; m.Phase != "idle" || m.Reason != want {
			t.Errorf("alice is %s (%s)", m.Phase, m.Reason)
		}
		if got := s.sup.Troubles(); len(got) != 1 || got[0] != want {
			t.Errorf("troubles %q", got)
		}
		locked.Store(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if m := s.sup.Members()[0]; m.Reason != "" || len(s.sup.Troubles()) != 0 {
			t.Errorf("alice is %s (%s) though all is well: %q", m.Phase, m.Reason, s.sup.Troubles())
		}
	})
}
