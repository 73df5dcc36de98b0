package team_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/team"
)

// asleep is a stage whose named members have shut down.
func asleep(s *stage, names ...autonomy.AgentName) {
	s.open()
	for _, name := range names {
		s.spawn(name)
	}
	s.pass(time.Minute)
	for _, name := range names {
		s.wantPhase(name, team.Shutdown)
	}
}

func TestReadyTaskRevivesOne(t *testing.T) {
	onStage(t, func(s *stage) {
		asleep(s, "alice", "bob")
		s.worker.set(untilStopped)
		s.drop(board.Task{ID: 1})
		s.wantPhase("alice", team.Working)
		s.wantPhase("bob", team.Shutdown)
		s.drop(board.Task{ID: 2})
		s.wantPhase("bob", team.Working)
		if n := len(s.memory.resets); n != 2 {
			t.Errorf("%d transcripts were reset, want the two of the spawns", n)
		}
	})
}

func TestSeveralReadyTasksReviveAsMany(t *testing.T) {
	onStage(t, func(s *stage) {
		asleep(s, "a", "b", "c", "d")
		s.worker.set(untilStopped)
		s.board.put(board.Task{ID: 1})
		s.board.put(board.Task{ID: 2})
		s.drop(board.Task{ID: 3})
		working := 0
		for _, st := range s.sup.Members() {
			if st.Phase == team.Working {
				working++
			}
		}
		if working != 3 {
			t.Errorf("%d work on 3 tasks", working)
		}
	})
}

func TestIdleMemberIsPreferredToAReviver(t *testing.T) {
	onStage(t, func(s *stage) {
		asleep(s, "alice")
		s.spawn("bob")
		s.drop(board.Task{ID: 1})
		s.wantPhase("alice", team.Shutdown)
		if owner := s.board.task(1).Owner; owner != "bob" {
			t.Errorf("worked by %q, want bob", owner)
		}
	})
}

func TestTaskForAnotherRoleRevivesThatRole(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		s.spawn("alice")
		s.spawn("bob", func(spec *team.Spec) { spec.Role = "tester" })
		s.pass(time.Minute)
		s.drop(board.Task{ID: 1, Role: "tester"})
		s.wantPhase("alice", team.Shutdown)
		s.wantStatus(1, board.Completed)
	})
}

func TestMailRevivesAndIdleNoticesDoNot(t *testing.T) {
	onStage(t, func(s *stage) {
		asleep(s, "alice")
		_, _ = s.mail.Send(s.ctx, inbox.Message{Kind: inbox.KindError, From: "bob", To: "alice", Content: "no model; stored"})
		s.sup.MailHint("alice")
		s.pass(10 * time.Second)
		s.wantPhase("alice", team.Shutdown)
		receipt, err := s.sup.Send(s.ctx, message("user", "alice", "hello"))
		if err != nil || receipt.Queued {
			t.Fatalf("send: %+v %v", receipt, err)
		}
		synctest.Wait()
		s.wantPhase("alice", team.Idle)
		jobs := s.worker.seen()
		if len(jobs) != 1 || len(jobs[0].Mail) != 2 {
			t.Errorf("jobs: %v, want one with all unread mail", jobs)
		}
	})
}

func TestNoReviveForbids(t *testing.T) {
	onStage(t, func(s *stage) {
		s.cfg.NoRevive = true
		asleep(s, "alice")
		receipt, err := s.sup.Send(s.ctx, message("user", "alice", "hello"))
		if err != nil || !receipt.Queued || receipt.Note != "queued; not running" {
			t.Errorf("send: %+v %v", receipt, err)
		}
		s.drop(board.Task{ID: 1})
		s.pass(time.Minute)
		s.wantPhase("alice", team.Shutdown)
	})
}

func TestR24_TheTeamIsBounded(t *testing.T) {
	onStage(t, func(s *stage) {
		s.cfg.MaxTeammates = 2
		s.worker.set(untilStopped)
		s.memory.roster = []team.Enrolled{
			{Spec: team.Spec{Name: "a", Model: "m"}, Desired: team.Running},
			{Spec: team.Spec{Name: "b", Model: "m"}, Desired: team.Running},
			{Spec: team.Spec{Name: "c", Model: "m"}, Desired: team.Running},
		}
		s.open()
		sup := s.sup
		if err := sup.Recover(s.ctx); err != nil {
			t.Fatal(err)
		}
		for id := range autonomy.TaskID(3) {
			s.board.put(board.Task{ID: id + 1})
		}
		s.drop()
		s.wantPhase("a", team.Working)
		s.wantPhase("b", team.Working)
		s.wantPhase("c", team.Shutdown)
		if _, err := sup.Spawn(s.ctx, team.Spec{Name: "d"}, false); !is[*team.FullError](err) {
			t.Errorf("a third live member: %v", err)
		}
		if err := sup.Stop(s.ctx, "a", true); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.wantPhase("c", team.Working)
	})
}

func TestExitWhenIdle(t *testing.T) {
	onStage(t, func(s *stage) {
		s.cfg.ExitWhenIdle = true
		s.board.put(board.Task{ID: 1})
		s.board.put(board.Task{ID: 2, BlockedBy: []autonomy.TaskID{1}})
		s.board.put(board.Task{ID: 3, Status: board.Cancelled})
		s.open()
		s.pass(time.Hour) // nobody was ever spawned
		s.spawn("alice")
		s.pass(59 * time.Second)
		select {
		case err := <-s.result:
			t.Fatalf("ended while alice idles: %v", err)
		default:
		}
		s.pass(2 * time.Second)
		s.wantIdle(true)
	})
}

func TestExitWhenIdleWaitsForARetryAndTellsFailure(t *testing.T) {
	onStage(t, func(s *stage) {
		s.cfg.ExitWhenIdle, s.cfg.IdleTimeout = true, 5*time.Second
		s.worker.do = func(context.Context, team.Job) agent.Report {
			return agent.Report{Termination: agent.Blocked, Code: agent.CodeStep}
		}
		s.board.put(board.Task{ID: 1})
		s.board.put(board.Task{ID: 2, BlockedBy: []autonomy.TaskID{1}})
		s.open()
		s.spawn("alice")
		s.pass(94 * time.Second)
		s.wantStatus(1, board.Failed)
		s.pass(2 * time.Second)
		s.wantIdle(false)
	})
}

func TestExitWhenIdleWithABackoffWithoutEnd(t *testing.T) {
	onStage(t, func(s *stage) {
		s.cfg.ExitWhenIdle = true
		s.worker.do = func(context.Context, team.Job) agent.Report {
			return agent.Report{Termination: agent.Failed, Class: llm.Auth}
		}
		s.board.put(board.Task{ID: 1})
		s.open()
		s.spawn("alice")
		s.wantIdle(false)
	})
}

func TestExitWhenIdleIgnoresWhatNobodyMayTake(t *testing.T) {
	onStage(t, func(s *stage) {
		s.cfg.ExitWhenIdle = true
		s.board.put(board.Task{ID: 1, Role: "painter"})
		s.board.put(board.Task{ID: 2, Status: board.InProgress, Owner: "eve", Claim: &board.Claim{By: "eve"}})
		s.open()
		s.spawn("alice")
		s.pass(61 * time.Second)
		s.wantIdle(false)
		s.board.put(board.Task{ID: 2, Status: board.Completed})
	})
}

// wantIdle expects Serve to have ended because nothing was left.
func (s *stage) wantIdle(done bool) {
	s.t.Helper()
	select {
	case err := <-s.result:
		s.cancel = nil
		var idle *team.IdleError
		if !errors.Is(err, team.ErrIdle) || !errors.As(err, &idle) {
			s.t.Fatalf("serve: %v", err)
		}
		if idle.Done() != done {
			s.t.Errorf("done is %v: %v", idle.Done(), err)
		}
	default:
		s.t.Fatalf("serve goes on: %+v", s.sup.Members())
	}
}
