package team_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/team"
)

func TestR20_OneNameOneWorker(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.set(untilStopped)
		s.open()
		s.spawn("alice")
		if _, err := s.sup.Spawn(s.ctx, team.Spec{Name: "alice"}, false); !is[*team.LiveError](err) {
			t.Errorf("a live name: %v", err)
		}
		s.drop(board.Task{ID: 1})
		if err := s.sup.Stop(s.ctx, "alice", false); err != nil {
			t.Fatal(err)
		}
		_, _ = s.sup.Send(s.ctx, message("user", "alice", "for the next holder"))
		s.memory.resets = nil
		s.spawn("alice")
		if !slices.Equal(s.memory.resets, []autonomy.AgentName{"alice"}) {
			t.Errorf("transcripts reset: %v", s.memory.resets)
		}
		if jobs := s.worker.seen(); jobs[len(jobs)-1].Kind != team.MailJob {
			t.Errorf("the new holder did not find the mail first: %v", jobs)
		}
		if err := s.sup.Stop(s.ctx, "alice", true); err != nil {
			t.Fatal(err)
		}
		s.memory.resets = nil
		if _, err := s.sup.Spawn(s.ctx, team.Spec{Name: "alice"}, true); err != nil || len(s.memory.resets) != 0 {
			t.Errorf("resume: %v, reset %v", err, s.memory.resets)
		}
		synctest.Wait()
	})
}

func TestR23_NoIsolationThatIsNotReal(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		_, err := s.sup.Spawn(s.ctx, team.Spec{Name: "alice", Worktree: true}, false)
		if !errors.Is(err, team.ErrNoWorktree) || len(s.sup.Members()) != 0 {
			t.Errorf("spawn: %v", err)
		}
	})
}

func TestNamesOfMembers(t *testing.T) {
	good := []autonomy.AgentName{"a", "alice", "a1", "a-b_c", autonomy.AgentName("x" + strings.Repeat("y", 31))}
	bad := []autonomy.AgentName{
		"", "Alice", "1a", "-a", "a b", "../x", "a.b", "é", autonomy.AgentName(strings.Repeat("x", 33)), "a\n",
		"lead", "all", "user", "supervisor",
	}
	for _, name := range good {
		if err := team.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range bad {
		if err := team.CheckName(name); !is[*team.NameError](err) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSpawnThatIsNotOnDiskDidNotHappen(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		s.spawn("alice")
		s.memory.full = true
		if _, err := s.sup.Spawn(s.ctx, team.Spec{Name: "bob"}, false); !errors.Is(err, errFull) {
			t.Errorf("spawn: %v", err)
		}
		if n := len(s.sup.Members()); n != 1 {
			t.Errorf("%d members", n)
		}
		if err := s.sup.Stop(s.ctx, "alice", false); !errors.Is(err, errFull) {
			t.Errorf("stop: %v", err)
		}
		s.wantPhase("alice", team.Stopped)
		if err := s.sup.Remove(s.ctx, "alice"); !errors.Is(err, errFull) || len(s.sup.Members()) != 1 {
			t.Errorf("remove: %v", err)
		}
		s.memory.full = false
		if err := s.sup.Remove(s.ctx, "alice"); err != nil || len(s.sup.Members()) != 0 {
			t.Errorf("remove: %v", err)
		}
	})
}

func TestRemoveRefusesALiveMember(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		s.spawn("alice")
		if err := s.sup.Remove(s.ctx, "alice"); !is[*team.LiveError](err) {
			t.Errorf("remove: %v", err)
		}
		if err := s.sup.Remove(s.ctx, "bob"); !is[*team.UnknownNameError](err) {
			t.Errorf("remove of nobody: %v", err)
		}
	})
}

func TestRosterBringsBackWhoShouldRun(t *testing.T) {
	roster := []team.Enrolled{
		{Spec: team.Spec{Name: "alice", Model: "m"}, Desired: team.Running},
		{Spec: team.Spec{Name: "bob", Model: "m"}, Desired: team.NotWanted},
	}
	t.Run("recover", func(t *testing.T) {
		onStage(t, func(s *stage) {
			s.memory.roster = slices.Clone(roster)
			s.board.put(board.Task{ID: 1})
			sup, err := team.New(s.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := sup.Recover(s.ctx); err != nil {
				t.Fatal(err)
			}
			s.serve(sup)
			s.wantPhase("alice", team.Idle)
			s.wantPhase("bob", team.Stopped)
			s.wantStatus(1, board.Completed)
			if n := len(s.memory.resets); n != 0 {
				t.Errorf("%d transcripts were reset", n)
			}
		})
	})
	t.Run("enroll", func(t *testing.T) {
		onStage(t, func(s *stage) {
			s.memory.roster = slices.Clone(roster)
			s.open()
			if err := s.sup.Enroll(s.ctx); err != nil {
				t.Fatal(err)
			}
			s.wantPhase("alice", team.Shutdown)
			s.drop(board.Task{ID: 1})
			s.pass(time.Second)
			s.wantPhase("alice", team.Idle)
			s.wantPhase("bob", team.Stopped)
			s.wantStatus(1, board.Completed)
		})
	})
}

func TestConfigNamesTheField(t *testing.T) {
	tests := []struct {
		name string
		edit func(*team.Config)
	}{
		{"Instance", func(c *team.Config) { c.Instance = "" }},
		{"Board", func(c *team.Config) { c.Board = nil }},
		{"Mail", func(c *team.Config) { c.Mail = nil }},
		{"Worker", func(c *team.Config) { c.Worker = nil }},
		{"Transcripts", func(c *team.Config) { c.Transcripts = nil }},
		{"Roster", func(c *team.Config) { c.Roster = nil }},
		{"Events", func(c *team.Config) { c.Events = nil }},
		{"Poll", func(c *team.Config) { c.Poll = -1 }},
		{"IdleTimeout", func(c *team.Config) { c.IdleTimeout = -1 }},
		{"Grace", func(c *team.Config) { c.Grace = -1 }},
		{"StopTimeout", func(c *team.Config) { c.StopTimeout = -1 }},
		{"MaxTeammates", func(c *team.Config) { c.MaxTeammates = -1 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := &memory{}
			cfg := team.Config{
				Instance: "i", Board: newBoard(), Mail: newMail(), Worker: &fakeWorker{}, Transcripts: m, Roster: m,
				Events: &eventLog{},
			}
			if _, err := team.New(cfg); err != nil {
				t.Fatal(err)
			}
			test.edit(&cfg)
			if _, err := team.New(cfg); err == nil || !strings.Contains(err.Error(), test.name) {
				t.Errorf("error %v does not name the field", err)
			}
		})
	}
}
