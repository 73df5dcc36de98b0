package team_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/team"
)

func TestR08_StopAlwaysEnds(t *testing.T) {
	waits := func(ctx context.Context, job team.Job) agent.Report {
		job.Progress(team.Progress{Approval: "bash rm"})
		<-ctx.Done()
		return agent.Report{Termination: agent.Cancelled}
	}
	limited := func(context.Context, team.Job) agent.Report {
		return agent.Report{Termination: agent.Failed, Class: llm.Rate}
	}
	tests := []struct {
		phase team.Phase
		work  func(context.Context, team.Job) agent.Report
		task  bool
		now   bool
		took  time.Duration
	}{
		{team.Idle, achieve, false, false, 0},
		{team.Working, untilStopped, true, false, 0},
		{team.Working, func(ctx context.Context, _ team.Job) agent.Report { // deaf to a stop, not to force
			<-ctx.Done()
			return agent.Report{Termination: agent.Failed, Class: llm.Transport}
		}, true, false, 30 * time.Second},
		{team.Working, waits, true, true, 0},
		{team.WaitingApproval, waits, true, false, 30 * time.Second},
		{team.Backoff, limited, true, false, 0},
	}
	for _, test := range tests {
		t.Run(string(test.phase), func(t *testing.T) {
			onStage(t, func(s *stage) {
				s.worker.set(test.work)
				s.open()
				s.spawn("alice")
				if test.task {
					s.drop(board.Task{ID: 1})
				}
				if !test.now {
					s.wantPhase("alice", test.phase)
				}
				began := time.Now()
				if err := s.sup.Stop(s.ctx, "alice", test.now); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("took %v, want %v", took, test.took)
				}
				s.wantPhase("alice", team.Stopped)
				if test.task {
					s.wantStatus(1, board.Pending)
					if f := s.board.task(1).Failure; f != nil {
						t.Errorf("a stop was counted: %+v", f)
					}
				}
				if desired := s.memory.roster[0].Desired; desired != team.NotWanted {
					t.Errorf("the roster wants %s", desired)
				}
			})
		})
	}
}

func TestStopOfAMemberThatIsNotLive(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		s.spawn("alice")
		s.pass(time.Minute)
		s.wantPhase("alice", team.Shutdown)
		if err := s.sup.Stop(s.ctx, "alice", false); err != nil {
			t.Fatal(err)
		}
		s.wantPhase("alice", team.Stopped)
		s.drop(board.Task{ID: 1})
		s.wantPhase("alice", team.Stopped)
		if err := s.sup.Stop(s.ctx, "nobody", false); !is[*team.UnknownNameError](err) {
			t.Errorf("stop of nobody: %v", err)
		}
	})
}

func TestStopWaitsNoLongerThanItsCaller(t *testing.T) {
	onStage(t, func(s *stage) {
		release := make(chan struct{})
		s.worker.do = deaf(release)
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		ctx, cancel := context.WithTimeout(s.ctx, time.Second)
		defer cancel()
		if err := s.sup.Stop(ctx, "alice", true); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stop: %v", err)
		}
		s.wantPhase("alice", team.Stopping)
		s.wantStatus(1, board.InProgress) // never given back while its processes may run
		close(release)
		synctest.Wait()
		s.wantPhase("alice", team.Stopped)
		s.wantStatus(1, board.Pending)
	})
}

func TestServeNamesWhoDidNotStop(t *testing.T) {
	onStage(t, func(s *stage) {
		release := make(chan struct{})
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			if job.Member.Name == "alice" {
				<-release
			}
			return untilStopped(ctx, job)
		}
		s.open()
		s.spawn("alice")
		s.spawn("bob")
		s.drop(board.Task{ID: 1, Owner: "alice"}, board.Task{ID: 2, Owner: "bob"})
		began := time.Now()
		err := s.close()
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("took %v, want 10s", took)
		}
		var stuck *team.StuckError
		if !errors.As(err, &stuck) || len(stuck.Names) != 1 || stuck.Names[0] != "alice" {
			t.Errorf("serve: %v", err)
		}
		s.wantStatus(2, board.Pending)
		close(release)
		synctest.Wait()
	})
}

func TestServeEndsGracefully(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			select { // a safe point three seconds away
			case <-time.After(3 * time.Second):
			case <-ctx.Done():
			}
			return achieve(ctx, job)
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		if err := s.close(); err != nil {
			t.Errorf("serve: %v", err)
		}
		s.wantStatus(1, board.Completed)
		if st := s.memory.roster[0]; st.Desired != team.Running {
			t.Errorf("the roster wants %s", st.Desired)
		}
	})
}

func TestTaskTakenAwayCancelsThenStopsThenTells(t *testing.T) {
	onStage(t, func(s *stage) {
		release := make(chan struct{})
		var notes []string
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			notes = append(notes, job.Notes...)
			if job.Task.ID == 1 && job.Member.Name == "alice" {
				<-ctx.Done()
				<-release // its processes take a while to go
				return agent.Report{Termination: agent.Failed, Class: llm.Transport}
			}
			return achieve(ctx, job)
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		s.spawn("bob")
		s.board.seize(1, "bob")
		s.sup.BoardHint("task_1.json")
		synctest.Wait()
		s.wantPhase("alice", team.Working)
		s.wantStatus(1, board.Pending) // not offered to bob before alice has stopped
		close(release)
		synctest.Wait()
		s.wantPhase("alice", team.Idle)
		s.wantStatus(1, board.Completed)
		if owner := s.board.task(1).Owner; owner != "bob" {
			t.Errorf("done by %q, want bob", owner)
		}
		if lost := s.log.of(team.EventClaimLost, "alice"); len(lost) != 1 {
			t.Errorf("claim_lost events: %v", lost)
		}
		s.drop(board.Task{ID: 2, Owner: "alice"})
		if len(notes) != 1 || notes[0] != "task #1 was taken: owner was changed to bob" {
			t.Errorf("alice was told %q", notes)
		}
		s.drop(board.Task{ID: 3, Owner: "alice"})
		if len(notes) != 1 {
			t.Errorf("alice was told again: %q", notes)
		}
	})
}

// A removed file that is restored brings its claim back: the holder takes the task up again, and must hear when it is
// taken a second time.
func TestTaskTakenTwiceUnderOneClaim(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.do = func(ctx context.Context, _ team.Job) agent.Report {
			<-ctx.Done()
			return agent.Report{Termination: agent.Cancelled}
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		held := s.board.task(1)
		for range 2 {
			s.wantPhase("alice", team.Working)
			s.board.seize(1, "bob")
			s.sup.BoardHint("task_1.json")
			synctest.Wait()
			s.wantPhase("alice", team.Idle)
			s.board.put(held)
			s.pass(6 * time.Second)
		}
		if lost := s.log.of(team.EventClaimLost, "alice"); len(lost) != 2 {
			t.Errorf("claim_lost events: %v", lost)
		}
	})
}

func TestTaskTakenFromACompletion(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			if job.Task.ID == 1 && job.Member.Name == "alice" {
				s.board.seize(1, "bob") // between the last look and the completion
			}
			return achieve(ctx, job)
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		s.wantStatus(1, board.Pending)
		if n := len(s.board.stopped); n != 1 {
			t.Errorf("Stopped was called %d times", n)
		}
		if n := len(s.log.of(team.EventCompleted, "")); n != 0 {
			t.Errorf("%d completions in the log", n)
		}
		if n := len(s.log.of(team.EventClaimLost, "")); n != 1 {
			t.Errorf("%d claim_lost in the log", n)
		}
	})
}

func TestR15_InterruptReachesTheCallInFlight(t *testing.T) {
	onStage(t, func(s *stage) {
		var after time.Duration
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			began := time.Now()
			select {
			case <-job.Interrupt:
				after = time.Since(began)
			case <-ctx.Done():
				return agent.Report{Termination: agent.Cancelled}
			}
			d, err := job.Receive(ctx)
			if err != nil || len(d.Messages) != 1 || d.Messages[0].Content != "look here" {
				t.Errorf("mail after the interrupt: %v %v", d.Messages, err)
			} else if err := d.Ack(ctx); err != nil {
				t.Error(err)
			}
			return achieve(ctx, job)
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		s.pass(2 * time.Second)
		m := message("user", "alice", "look here")
		m.Interrupt = true
		if _, err := s.sup.Send(s.ctx, m); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if after != 2*time.Second {
			t.Errorf("interrupted after %v, want at once", after-2*time.Second)
		}
		s.wantStatus(1, board.Completed)
		if n := len(s.log.of(team.EventMailDelivered, "alice")); n != 1 {
			t.Errorf("%d mail_delivered events", n)
		}
	})
}

func TestR11_StateShownIsStateReal(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.do = func(ctx context.Context, job team.Job) agent.Report {
			job.Progress(team.Progress{Run: "r7", Tokens: 40})
			<-ctx.Done()
			return agent.Report{Termination: agent.Cancelled}
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 7, Subject: "paint", ActiveForm: "painting"})
		st, _ := s.sup.Member("alice")
		if st.Task != 7 || st.Subject != "paint" || st.ActiveForm != "painting" || st.Attempt != 1 || st.Run != "r7" ||
			st.Tokens != 40 || st.Phase != team.Working {
			t.Errorf("status of a working member: %+v", st)
		}
		if err := s.sup.Stop(s.ctx, "alice", true); err != nil {
			t.Fatal(err)
		}
		st, _ = s.sup.Member("alice")
		if st.Task != 0 || st.Phase != team.Stopped {
			t.Errorf("status of a stopped member: %+v", st)
		}
		s.board.put(board.Task{ID: 7, Status: board.Completed})
		s.spawn("bob")
		s.pass(20 * time.Second)
		if st, _ = s.sup.Member("bob"); st.IdleLeft != 40*time.Second {
			t.Errorf("idle left: %v, want 40s", st.IdleLeft)
		}
	})
}

func TestGoroutineThatEndsIsShownAsFailed(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.do = func(context.Context, team.Job) agent.Report {
			goexit()
			return agent.Report{}
		}
		s.open()
		s.spawn("alice")
		s.drop(board.Task{ID: 1})
		s.wantPhase("alice", team.Failed)
		s.wantStatus(1, board.Pending)
	})
}
