package team_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/team"
)

// stage is a team on fakes inside a bubble of virtual time.
type stage struct {
	t      *testing.T
	ctx    context.Context
	start  time.Time
	board  *fakeBoard
	mail   *fakeMail
	worker *fakeWorker
	memory *memory
	log    *eventLog
	cfg    team.Config
	sup    *team.Supervisor
	cancel context.CancelFunc
	result chan error
}

// onStage runs a test in a bubble. Nothing is served before open. Every job achieves at once unless the test says else.
func onStage(t *testing.T, test func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{
			t: t, ctx: t.Context(), start: time.Now(), board: newBoard(), mail: newMail(), memory: &memory{},
			log: &eventLog{}, worker: &fakeWorker{do: achieve}, result: make(chan error, 1),
		}
		s.cfg = team.Config{
			Instance: "i1", Board: s.board, Mail: s.mail, Worker: s.worker, Transcripts: s.memory, Roster: s.memory,
			Events: s.log,
		}
		test(s)
		if s.cancel != nil {
			s.close()
		}
		s.sound()
	})
}

// achieve is the worker that does all at once.
func achieve(ctx context.Context, job team.Job) agent.Report {
	if err := job.Entered(ctx); err != nil {
		return agent.Report{Termination: agent.Failed, Message: err.Error()}
	}
	return agent.Report{Run: "run", Termination: agent.Achieved, Text: "done", Turns: 1}
}

// open makes the supervisor and serves it.
func (s *stage) open() {
	s.t.Helper()
	sup, err := team.New(s.cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.serve(sup)
}

func (s *stage) serve(sup *team.Supervisor) {
	s.sup = sup
	ctx, cancel := context.WithCancel(s.ctx)
	s.cancel = cancel
	go func() { s.result <- sup.Serve(ctx) }()
	synctest.Wait()
}

// close ends the team and returns what Serve said.
func (s *stage) close() error {
	s.cancel()
	s.cancel = nil
	return <-s.result
}

// sound checks what must hold at every end.
func (s *stage) sound() {
	s.t.Helper()
	for _, clash := range append(s.board.clashes, s.worker.clashes...) {
		s.t.Error(clash)
	}
	for _, ev := range s.log.of(team.EventError, "") {
		if ev.Reason == "no such transition" {
			s.t.Errorf("%s went from %s to %s", ev.Actor, ev.From, ev.To)
		}
	}
	for _, e := range s.board.List() {
		if e.Task.Status == board.InProgress {
			s.t.Errorf("task %d is still claimed by %s", e.ID, e.Task.Owner)
		}
	}
}

func (s *stage) spawn(name autonomy.AgentName, edit ...func(*team.Spec)) {
	s.t.Helper()
	spec := team.Spec{Name: name, Role: "coder", Model: "m"}
	for _, e := range edit {
		e(&spec)
	}
	if _, err := s.sup.Spawn(s.ctx, spec, false); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

// pass lets virtual time go by until everybody waits again.
func (s *stage) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (s *stage) drop(tasks ...board.Task) {
	for _, t := range tasks {
		s.board.put(t)
	}
	s.sup.BoardHint()
	synctest.Wait()
}

func (s *stage) wantPhase(name autonomy.AgentName, want team.Phase) {
	s.t.Helper()
	if st, _ := s.sup.Member(name); st.Phase != want {
		s.t.Fatalf("%v: %s is %s (%s), want %s", time.Since(s.start), name, st.Phase, st.Reason, want)
	}
}

func (s *stage) wantStatus(id autonomy.TaskID, want board.Status) {
	s.t.Helper()
	if got := s.board.task(id); got.Status != want {
		s.t.Fatalf("%v: task %d is %s, want %s", time.Since(s.start), id, got.Status, want)
	}
}

// until blocks a worker until the context or a stop ends it.
func untilStopped(ctx context.Context, job team.Job) agent.Report {
	_ = job.Entered(ctx)
	select {
	case <-ctx.Done():
	case <-job.Stop:
	}
	return agent.Report{Termination: agent.Cancelled}
}

// deaf is a worker that hears neither.
func deaf(release <-chan struct{}) func(context.Context, team.Job) agent.Report {
	return func(context.Context, team.Job) agent.Report {
		<-release
		return agent.Report{Termination: agent.Cancelled}
	}
}

func is[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// goexit ends the calling goroutine as a failed test assertion in foreign code would.
func goexit() { runtime.Goexit() }

func message(from, to autonomy.AgentName, content string) inbox.Message {
	return inbox.Message{Kind: inbox.KindMessage, From: from, To: to, Content: content}
}
