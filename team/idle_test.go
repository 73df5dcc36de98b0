package team_test

import (
	"context"
	"slices"
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

func TestIdleChecksThirteenTimesThenShutsDown(t *testing.T) {
	onStage(t, func(s *stage) {
		s.cfg.NoRevive = true // whose looks at the mailbox would be counted as well
		s.open()
		s.spawn("alice")
		s.pass(59 * time.Second)
		s.wantPhase("alice", team.Idle)
		s.pass(time.Second)
		s.wantPhase("alice", team.Shutdown)
		var want []time.Duration
		for at := time.Duration(0); at <= 60*time.Second; at += 5 * time.Second {
			want = append(want, at)
		}
		var got []time.Duration
		for _, at := range s.mail.looks("alice") {
			got = append(got, at.Sub(s.start))
		}
		if !slices.Equal(got, want) {
			t.Errorf("looked at %v, want %v", got, want)
		}
		if n := s.board.count(&s.board.bests); n != 13 {
			t.Errorf("looked for a task %d times, want 13", n)
		}
		if n := len(s.worker.seen()); n != 0 {
			t.Errorf("%d jobs while idle", n)
		}
	})
}

func TestSlowLookDoesNotShiftTheTicks(t *testing.T) {
	onStage(t, func(s *stage) {
		s.cfg.NoRevive = true
		s.mail.slow = time.Second
		s.open()
		s.spawn("alice")
		s.pass(62 * time.Second)
		looks := s.mail.looks("alice")
		if last := looks[len(looks)-1].Sub(s.start); len(looks) != 13 || last != 60*time.Second {
			t.Errorf("%d looks, the last at %v, want 13 and 60s", len(looks), last)
		}
	})
}

func TestHintsCauseExtraChecksAndShiftNothing(t *testing.T) {
	onStage(t, func(s *stage) {
		s.cfg.NoRevive = true
		s.open()
		s.spawn("alice")
		s.pass(7 * time.Second)
		s.sup.MailHint("alice")
		synctest.Wait()
		s.pass(53 * time.Second)
		s.wantPhase("alice", team.Shutdown)
		looks := s.mail.looks("alice")
		if len(looks) != 14 {
			t.Fatalf("looked %d times, want 14", len(looks))
		}
		if at := looks[2].Sub(s.start); at != 7*time.Second {
			t.Errorf("the hint was followed at %v, want 7s", at)
		}
		if at := looks[3].Sub(s.start); at != 10*time.Second {
			t.Errorf("the tick after the hint was at %v, want 10s", at)
		}
	})
}

func TestIdleLooksAtMailThenOwnTaskThenTheBoard(t *testing.T) {
	onStage(t, func(s *stage) {
		s.board.put(board.Task{ID: 1})
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			if job.Kind == team.PromptJob {
				if _, err := s.sup.Claim(ctx, "alice", 1); err != nil {
					t.Error(err)
				}
				_, _ = s.mail.Send(ctx, inbox.Message{Kind: inbox.KindMessage, From: "user", To: "alice", Content: "hi"})
				s.board.put(board.Task{ID: 2, Priority: 9})
			}
			if job.Kind == team.TaskJob && job.Task.ID == 1 {
				d, err := job.Receive(ctx)
				if err != nil || len(d.Messages) != 1 {
					t.Errorf("mail did not join the run of the own task: %v %v", d.Messages, err)
				} else if err := d.Ack(ctx); err != nil {
					t.Error(err)
				}
			}
			return achieve(ctx, job)
		}
		s.open()
		s.spawn("alice", func(spec *team.Spec) { spec.Prompt = "begin" })
		var order []any
		for _, job := range s.worker.seen() {
			if job.Task != nil {
				order = append(order, job.Task.ID)
			} else {
				order = append(order, job.Kind)
			}
		}
		want := []any{team.PromptJob, autonomy.TaskID(1), autonomy.TaskID(2)}
		if !slices.Equal(order, want) {
			t.Errorf("worked on %v, want %v", order, want)
		}
	})
}

func TestMailBeatsANewClaim(t *testing.T) {
	onStage(t, func(s *stage) {
		s.board.put(board.Task{ID: 1})
		_, _ = s.mail.Send(s.ctx, inbox.Message{Kind: inbox.KindMessage, From: "user", To: "alice", Content: "hi"})
		s.open()
		s.spawn("alice")
		jobs := s.worker.seen()
		if len(jobs) != 2 || jobs[0].Kind != team.MailJob || jobs[1].Kind != team.TaskJob {
			t.Fatalf("jobs: %v", jobs)
		}
	})
}

func TestR10_IdleIsFreeAndQuiet(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		for _, name := range []autonomy.AgentName{"a", "b", "c", "d"} {
			s.spawn(name)
		}
		s.pass(70 * time.Second)
		if n := len(s.worker.seen()); n != 0 {
			t.Errorf("%d runs while idle", n)
		}
		for _, name := range []autonomy.AgentName{"a", "b", "c", "d"} {
			var phases []team.Phase
			for _, ev := range s.log.of(team.EventState, name) {
				phases = append(phases, ev.To)
			}
			if want := []team.Phase{team.Idle, team.Shutdown}; !slices.Equal(phases, want) {
				t.Errorf("%s: transitions to %v, want %v", name, phases, want)
			}
			if mail := s.mail.in(name); len(mail) != 0 {
				t.Errorf("%s got mail: %v", name, mail)
			}
		}
		if mail := s.mail.in(team.Lead); len(mail) != 0 {
			t.Errorf("the lead got mail about idling: %v", mail)
		}
	})
}

func TestR14_CompletionWakes(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			if job.Task.ID == 1 {
				time.Sleep(12 * time.Second)
			}
			return achieve(ctx, job)
		}
		s.open()
		s.spawn("alice")
		s.spawn("bob", func(spec *team.Spec) { spec.Role = "tester" })
		s.drop(board.Task{ID: 1, Role: "coder"}, board.Task{ID: 2, Role: "tester", BlockedBy: []autonomy.TaskID{1}})
		s.pass(12*time.Second - time.Millisecond)
		s.wantStatus(2, board.Pending)
		s.pass(2 * time.Millisecond)
		s.wantStatus(2, board.Completed)
	})
}

func TestReadyTaskWakesOneOfMany(t *testing.T) {
	onStage(t, func(s *stage) {
		s.cfg.MaxTeammates = 512
		s.worker.set(untilStopped)
		s.open()
		for i := range 512 {
			s.spawn(autonomy.AgentName("m" + string(rune('a'+i/26%26)) + string(rune('a'+i%26)) + string(rune('a'+i/676))))
		}
		before := s.board.count(&s.board.bests)
		s.drop(board.Task{ID: 1}, board.Task{ID: 2}, board.Task{ID: 3})
		if n := s.board.count(&s.board.bests) - before; n != 3 {
			t.Errorf("%d members looked for 3 tasks", n)
		}
		if n := len(s.worker.seen()); n != 3 {
			t.Errorf("%d jobs, want 3", n)
		}
	})
}

func TestTaskOfferedToOneWhoTakesAnotherGoesToTheNext(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.set(untilStopped)
		s.open()
		s.spawn("alice")
		s.spawn("bob")
		// Alice is woken for 1 and takes 2, which is better; bob must hear of 1 before his next tick.
		s.board.put(board.Task{ID: 2, Priority: 5, Owner: "alice"})
		s.board.put(board.Task{ID: 1})
		s.board.ready[2] = true
		s.sup.BoardHint()
		synctest.Wait()
		if owner := s.board.task(1).Owner; owner != "bob" {
			t.Errorf("task 1 is %q's, want bob's", owner)
		}
		if owner := s.board.task(2).Owner; owner != "alice" {
			t.Errorf("task 2 is %q's, want alice's", owner)
		}
	})
}

// A member that idles because its account rests is not left with a task that it holds and does not work.
func TestClaimOfAnIdleMemberIsWorkedAtOnce(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			if job.Member.Name == "bob" {
				return agent.Report{Termination: agent.Failed, Class: llm.Rate}
			}
			return untilStopped(ctx, job)
		}
		s.open()
		for _, name := range []autonomy.AgentName{"bob", "alice"} {
			if _, err := s.sup.Spawn(s.ctx, team.Spec{Name: name, Model: "m"}, false); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		s.drop(board.Task{ID: 1})
		s.wantPhase("bob", team.Backoff)
		s.wantPhase("alice", team.Idle)
		if _, err := s.sup.Claim(s.ctx, "alice", 1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.wantPhase("alice", team.Working)
	})
}
