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

func noModel(spec *team.Spec) { spec.Model = "" }

func TestR04_SendThatCannotArriveFails(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		s.spawn("alice")
		s.spawn("bob")
		for _, name := range []autonomy.AgentName{"carol", "Alice", "../x", "", "supervisor", "a b"} {
			if _, err := s.sup.Send(s.ctx, message("user", name, "hi")); err == nil {
				t.Errorf("send to %q went well", name)
			}
		}
		_, err := s.sup.Send(s.ctx, message("user", "carol", "hi"))
		if want := `nobody is called "carol"; valid names: alice, bob, lead, user, all`; err == nil || err.Error() != want {
			t.Errorf("send to carol: %v", err)
		}
		if n := len(s.mail.boxes); n != 0 {
			t.Errorf("%d mailboxes were made", n)
		}
		for _, name := range []autonomy.AgentName{team.Lead, team.User, "alice"} {
			if _, err := s.sup.Send(s.ctx, message("bob", name, "hi")); err != nil {
				t.Errorf("send to %s: %v", name, err)
			}
		}
		if err := s.sup.Stop(s.ctx, "bob", false); err != nil {
			t.Fatal(err)
		}
		receipt, err := s.sup.Send(s.ctx, message("user", "bob", "hi"))
		if err != nil || !receipt.Queued || receipt.Note != "queued; not running" || len(receipt.IDs) != 1 {
			t.Errorf("send to a stopped member: %+v %v", receipt, err)
		}
	})
}

func TestSendToAllReachesAllButTheSender(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		for _, name := range []autonomy.AgentName{"a", "b", "c"} {
			s.spawn(name)
		}
		receipt, err := s.sup.Send(s.ctx, inbox.Message{From: "a", To: team.All, Content: "hi"})
		if err != nil || len(receipt.IDs) != 2 {
			t.Fatalf("send: %+v %v", receipt, err)
		}
		synctest.Wait()
		for name, want := range map[autonomy.AgentName]int{"a": 0, "b": 1, "c": 1} {
			got := s.mail.in(name)
			if len(got) != want || want == 1 && got[0].Kind != inbox.KindBroadcast {
				t.Errorf("%s got %v", name, got)
			}
		}
		if mail := append(s.mail.in("a"), s.mail.in(team.User)...); len(mail) != 0 {
			t.Errorf("a broadcast was answered: %v", mail)
		}
	})
}

func TestRunOnMailAnswersEachMessage(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.set(func(ctx context.Context, job team.Job) agent.Report {
			if err := job.Entered(ctx); err != nil {
				t.Error(err)
			}
			_, _ = s.mail.Send(ctx, message("bob", job.Member.Name, "and this"))
			d, err := job.Receive(ctx)
			if err != nil {
				t.Error(err)
			} else if err := d.Ack(ctx); err != nil {
				t.Error(err)
			}
			return agent.Report{Termination: agent.Achieved, Code: agent.CodeAnswered, Text: "the answer"}
		})
		s.open()
		s.spawn("bob", noModel)
		first, _ := s.mail.Send(s.ctx, message("user", "alice", "one"))
		_, _ = s.mail.Send(s.ctx, inbox.Message{Kind: inbox.KindBroadcast, From: "bob", To: "alice", Content: "all"})
		_, _ = s.mail.Send(s.ctx, message("stranger", "alice", "who"))
		s.spawn("alice")
		got := s.mail.in(team.User)
		if len(got) != 1 || got[0].Kind != inbox.KindResult || got[0].ReplyTo != first.ID || got[0].Content != "the answer" ||
			got[0].From != "alice" {
			t.Errorf("the user got %v", got)
		}
		if got := s.mail.in("bob"); len(got) != 1 || got[0].Kind != inbox.KindResult {
			t.Errorf("bob got %v", got)
		}
		if n := len(s.worker.seen()); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
	})
}

func TestMailToAMemberWithoutAModelIsStoredAndAnswered(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		s.spawn("alice", noModel)
		s.spawn("bob")
		sent, err := s.sup.Send(s.ctx, message("bob", "alice", "hi"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.sup.Send(s.ctx, inbox.Message{From: "bob", To: team.All, Content: "hi all"})
		synctest.Wait()
		if got := s.memory.stored["alice"]; len(got) != 2 {
			t.Errorf("stored %v", got)
		}
		got := s.mail.in("bob")
		if len(got) != 1 || got[0].Kind != inbox.KindError || got[0].Content != "no model; stored" || got[0].ReplyTo != sent.IDs[0] {
			t.Errorf("bob got %v", got)
		}
		if n := len(s.worker.seen()); n != 0 {
			t.Errorf("%d runs", n)
		}
		if n, _ := s.mail.Unread(s.ctx, "alice"); n != 0 {
			t.Errorf("%d unread", n)
		}
	})
}

func TestPromptIsWorkedFirstAndItsResultGoesToWhoSpawned(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		s.spawn("bob", noModel)
		s.spawn("alice", func(spec *team.Spec) { spec.Prompt, spec.SpawnedBy = "build it", "bob" })
		jobs := s.worker.seen()
		if len(jobs) != 1 || jobs[0].Kind != team.PromptJob || jobs[0].Text != "build it" {
			t.Fatalf("jobs %v", jobs)
		}
		if got := s.mail.in("bob"); len(got) != 1 || got[0].Kind != inbox.KindResult || got[0].Content != "done" {
			t.Errorf("bob got %v", got)
		}
		if p := s.memory.roster[1].Prompt; p != "" {
			t.Errorf("the roster still has the prompt %q", p)
		}
		if _, err := s.sup.Spawn(s.ctx, team.Spec{Name: "eve", Prompt: "x"}, false); err == nil {
			t.Error("a prompt without a model was taken")
		}
	})
}

func TestPromptInterruptedByABackoffGoesOn(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.set(func(ctx context.Context, job team.Job) agent.Report {
			if job.Round == 0 {
				_ = job.Entered(ctx)
				return agent.Report{Termination: agent.Failed, Class: llm.Server, Turns: 1}
			}
			return achieve(ctx, job)
		})
		s.open()
		s.spawn("alice", func(spec *team.Spec) { spec.Prompt = "build it" })
		s.wantPhase("alice", team.Backoff)
		s.pass(30 * time.Second)
		if got := s.mail.in(team.User); len(got) != 1 || got[0].Content != "done" {
			t.Errorf("the user got %v", got)
		}
		if n := len(s.worker.seen()); n != 2 {
			t.Errorf("%d runs, want 2", n)
		}
	})
}

func TestMailThatATranscriptDoesNotTakeIsTriedAgainLater(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.set(func(context.Context, team.Job) agent.Report {
			return agent.Report{Termination: agent.Failed, Code: agent.CodeHarness, Message: "disk"}
		})
		s.open()
		s.spawn("alice")
		_, _ = s.sup.Send(s.ctx, message("user", "alice", "hi"))
		synctest.Wait()
		s.wantPhase("alice", team.Backoff)
		s.pass(29 * time.Second)
		if n := len(s.worker.seen()); n != 1 {
			t.Errorf("%d runs before the rest is over", n)
		}
		s.worker.set(achieve)
		s.pass(time.Second)
		if got := s.mail.in(team.User); len(got) != 1 {
			t.Errorf("the user got %v", got)
		}
	})
}

func TestTaskTakenByToolIsResumedAfterTheRun(t *testing.T) {
	onStage(t, func(s *stage) {
		s.worker.set(func(ctx context.Context, job team.Job) agent.Report {
			if job.Kind == team.MailJob {
				if _, err := s.sup.Claim(ctx, "alice", 0); err != nil {
					t.Error(err)
				}
				if _, err := s.sup.Claim(ctx, "alice", 2); !is[*board.HoldsError](err) {
					t.Errorf("a second claim: %v", err)
				}
			}
			return achieve(ctx, job)
		})
		s.open()
		s.spawn("alice")
		s.board.put(board.Task{ID: 1})
		s.board.put(board.Task{ID: 2})
		_, _ = s.sup.Send(s.ctx, message("user", "alice", "take something"))
		synctest.Wait()
		var ids []autonomy.TaskID
		for _, job := range s.worker.seen() {
			if job.Task != nil {
				ids = append(ids, job.Task.ID)
				if job.Round != 0 {
					t.Errorf("task %d: round %d", job.Task.ID, job.Round)
				}
			}
		}
		if !slices.Equal(ids, []autonomy.TaskID{1, 2}) {
			t.Errorf("worked %v", ids)
		}
		if _, err := s.sup.Claim(s.ctx, team.Lead, 0); err != team.ErrLead {
			t.Errorf("the lead's claim: %v", err)
		}
	})
}

func TestLeadWorksLines(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		if _, err := s.sup.Line(s.ctx, "hi"); err != team.ErrNoLead {
			t.Errorf("without a lead: %v", err)
		}
		if err := s.sup.Lead(s.ctx, team.Spec{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.sup.Line(s.ctx, "hi"); err != team.ErrNoModel {
			t.Errorf("without a model: %v", err)
		}
		synctest.Wait()
		if err := s.sup.Lead(s.ctx, team.Spec{Model: "m"}); err != nil {
			t.Fatal(err)
		}
		s.drop(board.Task{ID: 1})
		_, _ = s.sup.Send(s.ctx, message("user", team.Lead, "mail wakes the lead never"))
		s.pass(10 * time.Minute)
		s.wantPhase(team.Lead, team.Idle)
		s.wantStatus(1, board.Pending)
		report, err := s.sup.Line(s.ctx, "hi")
		if err != nil || report.Text != "done" {
			t.Errorf("line: %+v %v", report, err)
		}
		s.worker.set(untilStopped)
		ctx, cancel := context.WithTimeout(s.ctx, time.Second)
		defer cancel()
		if report, err = s.sup.Line(ctx, "long"); err != nil || report.Termination != agent.Cancelled {
			t.Errorf("a line given up: %+v %v", report, err)
		}
		s.worker.set(func(context.Context, team.Job) agent.Report { panic("boom") })
		if report, err = s.sup.Line(s.ctx, "boom"); err != nil || report.Code != agent.CodePanic {
			t.Errorf("a line that panics: %+v %v", report, err)
		}
		s.worker.set(achieve)
		if _, err = s.sup.Line(s.ctx, "again"); err != nil {
			t.Errorf("the line after it: %v", err)
		}
	})
}

// A line that anyone could have written stops nobody; it is read as text, and the log says what it was.
func TestControlTypeInAMailboxIsTextAndLogged(t *testing.T) {
	onStage(t, func(s *stage) {
		s.open()
		s.spawn("alice", noModel)
		if _, err := s.mail.Send(s.ctx, inbox.Message{Kind: inbox.KindShutdownRequest, From: "lead", To: "alice", Content: "stop"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.sup.Send(s.ctx, message("user", "alice", "hello")); err != nil {
			t.Fatal(err)
		}
		s.pass(time.Second)
		s.wantPhase("alice", team.Idle)
		events := s.log.of(team.EventMailDelivered, "alice")
		if want := "shutdown_request from lead is shown as text: no line in a file has authority"; len(events) != 1 || events[0].Reason != want {
			t.Errorf("%+v", events)
		}
	})
}
