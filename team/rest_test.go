package team_test

import (
	"context"
	"strings"
	"sync/atomic"
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

func TestR06_OwnWorkFirstThenStalled(t *testing.T) {
	onStage(t, func(s *stage) {
		var rounds []int
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			rounds = append(rounds, job.Round)
			_ = job.Entered(ctx)
			return agent.Report{Termination: agent.Blocked, Code: agent.CodeIdle, Turns: 1}
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		if took := time.Since(s.start); took != 0 {
			t.Errorf("resumed after %v, want at once", took)
		}
		if len(rounds) != 4 || rounds[3] != 3 {
			t.Errorf("rounds %v, want 0 1 2 3", rounds)
		}
		got := s.board.task(1)
		if got.Status != board.Pending || got.Failure == nil || got.Failure.Code != "stalled" || got.Failure.Count != 1 {
			t.Errorf("task after the stall: %+v %+v", got, got.Failure)
		}
		// The next attempts begin to count anew; the third failure is for good.
		s.pass(30 * time.Second)
		s.pass(60 * time.Second)
		s.wantStatus(1, board.Failed)
		if len(rounds) != 12 {
			t.Errorf("%d rounds in three attempts, want 12", len(rounds))
		}
		for _, ev := range s.log.of(team.EventShutdown, "alice") {
			if ev.Time.Before(s.start.Add(90 * time.Second)) {
				t.Errorf("shut down at %v with a task to come", ev.Time.Sub(s.start))
			}
		}
	})
}

func TestR09_ModelErrorsAreBoundedAndLoud(t *testing.T) {
	onStage(t, func(s *stage) {
		var at []time.Duration
		var working atomic.Bool
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			if working.Load() {
				return achieve(ctx, job)
			}
			at = append(at, time.Since(s.start))
			return agent.Report{Termination: agent.Failed, Code: agent.CodeModel, Class: llm.Rate, Message: "429"}
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		s.wantPhase("alice", team.Backoff)
		s.wantStatus(1, board.Pending)
		if f := s.board.task(1).Failure; f != nil {
			t.Errorf("counted: %+v", f)
		}
		s.pass(time.Hour)
		want := []float64{0, 30, 90, 210, 450, 930, 1530, 2130, 2730, 3330}
		if len(at) != len(want) {
			t.Fatalf("tried at %v, want %v", at, want)
		}
		for i, w := range want {
			if at[i].Seconds() != w {
				t.Errorf("try %d at %v, want %vs", i, at[i], w)
			}
		}
		mail := s.mail.in(team.Lead)
		if len(mail) != 1 || mail[0].Kind != inbox.KindError || !strings.Contains(mail[0].Content, "rate") {
			t.Errorf("the lead was told %v, want once with the code", mail)
		}
		working.Store(true)
		s.pass(10 * time.Minute)
		s.wantStatus(1, board.Completed)
	})
}

func TestMembersOfOneKeyLetOneTryFirst(t *testing.T) {
	onStage(t, func(s *stage) {
		var calls atomic.Int32
		var working atomic.Bool
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			calls.Add(1)
			time.Sleep(time.Second)
			if working.Load() {
				return achieve(ctx, job)
			}
			return agent.Report{Termination: agent.Failed, Class: llm.Server, RetryAfter: 45 * time.Second}
		}
		s.open()
		for _, name := range []autonomy.AgentName{"a", "b", "c", "d"} {
			s.spawn(name)
		}
		for id := range autonomy.TaskID(4) {
			s.board.put(board.Task{ID: id + 1})
		}
		s.drop()
		s.pass(2 * time.Second)
		if calls.Load() != 4 {
			t.Fatalf("%d calls, want 4", calls.Load())
		}
		s.pass(45 * time.Second)
		if calls.Load() != 5 {
			t.Fatalf("%d calls when the wait was over, want one more", calls.Load()-4)
		}
		working.Store(true)
		s.pass(45 * time.Second)
		s.pass(time.Second)
		if calls.Load() < 9 {
			t.Errorf("after the first success %d calls, want all to go on", calls.Load()-5)
		}
		if mail := s.mail.in(team.Lead); len(mail) != 1 {
			t.Errorf("the lead was told %d times of one trouble", len(mail))
		}
	})
}

func TestBackoffWithoutEndWaitsForAPerson(t *testing.T) {
	for _, class := range []llm.Class{llm.Auth, llm.NoModel, llm.Protocol} {
		t.Run(string(class), func(t *testing.T) {
			onStage(t, func(s *stage) {
				s.worker.do = func(context.Context, team.Job) agent.Report {
					return agent.Report{Termination: agent.Failed, Class: class, Message: "no"}
				}
				s.open()
				s.spawn("alice")
				s.drop(board.Task{ID: 1})
				s.pass(48 * time.Hour)
				st, _ := s.sup.Member("alice")
				if st.Phase != team.Backoff || !st.Endless || !st.Until.IsZero() || st.Reason != "no" {
					t.Errorf("after two days: %+v", st)
				}
				if n := len(s.worker.seen()); n != 1 {
					t.Errorf("%d runs, want 1", n)
				}
			})
		})
	}
}

func TestMemberThatRestsHoldsNothing(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.set(func(ctx context.Context, job team.Job) agent.Report {
			if _, err := s.sup.Claim(ctx, "alice", 1); err != nil {
				t.Error(err)
			}
			_ = job.Entered(ctx)
			return agent.Report{Termination: agent.Failed, Class: llm.Auth}
		})
		s.open()
		s.board.put(board.Task{ID: 1})
		s.spawn("alice", func(spec *team.Spec) { spec.Prompt = "take a task" })
		s.wantPhase("alice", team.Backoff)
		s.wantStatus(1, board.Pending)
	})
}

func TestPanicCostsTheTaskNotTheTeam(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			if job.Member.Name == "alice" {
				panic("boom")
			}
			return achieve(ctx, job)
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1, Owner: "alice"})
		st, _ := s.sup.Member("alice")
		if st.Phase != team.Backoff || st.Reason != "panic: boom" || st.Until != s.start.Add(30*time.Second) {
			t.Errorf("after a panic: %+v", st)
		}
		if f := s.board.task(1).Failure; f == nil || f.Code != "panic" || f.Count != 1 {
			t.Errorf("the task's failure: %+v", f)
		}
		if mail := s.mail.in(team.Lead); len(mail) != 1 || !strings.Contains(mail[0].Content, "boom") {
			t.Errorf("the lead was told %v", mail)
		}
		s.spawn("bob")
		s.drop(board.Task{ID: 2})
		s.wantStatus(2, board.Completed)
	})
}

func TestFivePanicsInAQuarterOfAnHourAreOneTooMany(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.do = func(context.Context, team.Job) agent.Report { panic("boom") }
		s.open()
		s.spawn("alice")
		for id := range autonomy.TaskID(9) {
			s.board.put(board.Task{ID: id + 1})
		}
		s.drop()
		s.pass(time.Hour)
		st, _ := s.sup.Member("alice")
		if st.Phase != team.Failed || st.Since != s.start.Add(450*time.Second) {
			t.Errorf("%s since %v, want failed since 7m30s", st.Phase, st.Since.Sub(s.start))
		}
		if mail := s.mail.in(team.Lead); len(mail) != 2 {
			t.Errorf("the lead was told %d times, want of the first and of the end", len(mail))
		}
		s.worker.set(achieve)
		s.spawn("alice") // by hand
		s.wantPhase("alice", team.Idle)
	})
}

func TestPanicOfTheBoardIsSurvived(t *testing.T) {
	onStage(t, func(s *stage) {
		var broken atomic.Bool
		broken.Store(true)
		s.board.fail = func(op string) error {
			if broken.Load() && op == "claim" {
				panic("board")
			}
			return nil
		}
		s.open()
		s.spawn("alice")
		s.wantPhase("alice", team.Backoff)
		broken.Store(false)
		s.drop(board.Task{ID: 1})
		s.pass(30 * time.Second)
		s.wantStatus(1, board.Completed)
	})
}

func TestResultIsKeptUntilTheDiskTakesIt(t *testing.T) {
	onStage(t, func(s *stage) {
		var full atomic.Bool
		full.Store(true)
		s.board.fail = func(op string) error {
			if full.Load() && op == "finish" {
				return errFull
			}
			return nil
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		s.pass(20 * time.Second)
		s.wantStatus(1, board.InProgress)
		if st, _ := s.sup.Member("alice"); !strings.Contains(st.Reason, "no space left") {
			t.Errorf("the member does not say why it waits: %q", st.Reason)
		}
		full.Store(false)
		s.pass(30 * time.Second)
		s.wantStatus(1, board.Completed)
		if n := len(s.worker.seen()); n != 1 {
			t.Errorf("worked %d times", n)
		}
	})
}

// A person who saves the file while an attempt ends must not make the member work the task again.
func TestResultIsKeptWhileTheFileIsHalfWritten(t *testing.T) {
	onStage(t, func(s *stage) {
		var half atomic.Bool
		half.Store(true)
		s.board.fail = func(op string) error {
			if half.Load() && op == "finish" {
				return &board.InvalidError{Path: "task_1.json", Reason: "unexpected end of file"}
			}
			return nil
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		s.pass(8 * time.Second)
		s.wantStatus(1, board.InProgress)
		half.Store(false)
		s.pass(10 * time.Second)
		s.wantStatus(1, board.Completed)
		if n := len(s.worker.seen()); n != 1 {
			t.Errorf("worked %d times", n)
		}
	})
}

func TestUnwrittenEndIsNamedAtTheEnd(t *testing.T) {
	onStage(t, func(s *stage) {
		var full atomic.Bool
		full.Store(true)
		s.board.fail = func(op string) error {
			if full.Load() && op == "finish" {
				return errFull
			}
			return nil
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		err := s.close()
		if !is[*team.UnwrittenError](err) || !strings.Contains(err.Error(), "run run") {
			t.Errorf("serve: %v", err)
		}
		owed := s.sup.Unwritten()
		if len(owed) != 1 || owed[0].Run != "run" || owed[0].Claim == "" {
			t.Errorf("owed: %+v, want the one end", owed)
		} else if _, ok := owed[0].End.(board.Complete); !ok {
			t.Errorf("owed: %T, want the completion", owed[0].End)
		}
		full.Store(false)
		_, _ = s.board.Finish(s.ctx, s.board.task1Ref(), board.Release{})
	})
}

func TestStoppedMembersDebtIsPaidLater(t *testing.T) {
	onStage(t, func(s *stage) {
		var full atomic.Bool
		full.Store(true)
		s.board.fail = func(op string) error {
			if full.Load() && op == "finish" {
				return errFull
			}
			return nil
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		if err := s.sup.Stop(s.ctx, "alice", false); err != nil {
			t.Fatal(err)
		}
		full.Store(false)
		s.pass(5 * time.Second)
		s.wantStatus(1, board.Completed)
		synctest.Wait()
	})
}
