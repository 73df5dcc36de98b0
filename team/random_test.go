package team_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/team"
)

// TestRandomLives plays random orders of drops, edits, mail, stops, spawns and outcomes against three members, and after
// each event looks at what must hold: a member holds at most one task and only while it is live, nobody does two jobs at
// once, transitions are those of the table, only lost attempts are reported as stopped; and at the end nothing is claimed.
func TestRandomLives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		moves := rapid.SliceOfN(rapid.IntRange(0, 11), 1, 40).Draw(rt, "moves")
		picks := rapid.SliceOfN(rapid.IntRange(0, 99), len(moves), len(moves)).Draw(rt, "picks")
		outcomes := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 40).Draw(rt, "outcomes")
		var broken string
		onStage(t, func(s *stage) {
			s.cfg.MaxTeammates = 2
			work := &outcomeList{list: outcomes}
			s.worker.set(work.do)
			s.open()
			for i, move := range moves {
				play(s, move, picks[i])
				if broken = s.unsound(); broken != "" {
					break
				}
			}
		})
		if broken != "" {
			rt.Fatal(broken)
		}
	})
}

var names = [3]autonomy.AgentName{"a", "b", "c"}

// play does one thing that may happen to a team.
func play(s *stage, move, pick int) {
	name := names[pick%3]
	id := autonomy.TaskID(pick%5 + 1)
	switch move {
	case 0, 1:
		s.drop(board.Task{ID: autonomy.TaskID(len(s.board.List()) + 1), Priority: int64(pick % 3)})
	case 2, 3:
		_, _ = s.sup.Spawn(s.ctx, team.Spec{Name: name, Model: "m"}, pick%2 == 0)
	case 4:
		_ = s.sup.Stop(s.ctx, name, pick%2 == 0)
	case 5:
		_, _ = s.sup.Send(s.ctx, inbox.Message{From: "user", To: name, Content: "hi", Interrupt: pick%2 == 0})
	case 6:
		if s.board.held(id) {
			s.board.seize(id, "")
			s.sup.BoardHint()
		}
	case 7:
		if s.board.held(id) {
			s.board.seize(id, names[(pick+1)%3])
		}
	case 8:
		s.pass(time.Duration(pick) * time.Millisecond)
	case 9:
		s.pass(time.Duration(pick) * time.Second)
	case 10:
		_, _ = s.sup.Claim(s.ctx, name, id)
	case 11:
		s.pass(11 * time.Minute)
	}
	synctest.Wait()
}

func (b *fakeBoard) held(id autonomy.TaskID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tasks[id]
	return t != nil && t.Claim != nil
}

// unsound says what does not hold.
func (s *stage) unsound() string {
	holders := map[autonomy.AgentName]int{}
	for _, e := range s.board.List() {
		if e.Task.Claim != nil {
			holders[e.Task.Claim.By]++
		}
	}
	for name, n := range holders {
		st, ok := s.sup.Member(name)
		switch {
		case n > 1:
			return fmt.Sprintf("%s holds %d tasks", name, n)
		case !ok || !st.Phase.Live():
			return fmt.Sprintf("%s is %q and holds a task", name, st.Phase)
		case st.Phase == team.Idle:
			return fmt.Sprintf("%s idles and holds a task", name)
		}
	}
	s.worker.mu.Lock()
	defer s.worker.mu.Unlock()
	for name, n := range s.worker.busy {
		st, _ := s.sup.Member(name)
		if working := st.Phase == team.Working || st.Phase == team.Stopping || st.Phase == team.WaitingApproval; n > 0 && !working {
			return fmt.Sprintf("%s works and is shown as %s", name, st.Phase)
		}
	}
	return ""
}

// outcomeList ends jobs in the ways of a list, over and over.
type outcomeList struct {
	list []int
}

func (o *outcomeList) do(ctx context.Context, job team.Job) agent.Report {
	job.Progress(team.Progress{Tokens: 1})
	kind := o.list[int(len(job.Member.Name)+job.Round+len(job.Text))%len(o.list)]
	if job.Task != nil {
		kind = o.list[(int(job.Task.ID)+job.Task.Attempt+job.Round)%len(o.list)]
	}
	if kind != 0 {
		_ = job.Entered(ctx)
	}
	switch kind {
	case 0, 1:
		return untilStopped(ctx, job)
	case 2:
		return agent.Report{Termination: agent.Blocked, Code: agent.CodeIdle}
	case 3:
		return agent.Report{Termination: agent.Failed, Class: llm.Rate}
	case 4:
		return agent.Report{Termination: agent.Failed, Class: llm.Auth}
	case 5:
		panic("outcome")
	case 6:
		return agent.Report{Termination: agent.ApprovalDenied}
	case 7:
		job.Progress(team.Progress{Approval: "x"})
		select {
		case <-time.After(3 * time.Second):
		case <-ctx.Done():
		}
		job.Progress(team.Progress{Answered: true})
	}
	if d, err := job.Receive(ctx); err == nil && d.Ack != nil {
		_ = d.Ack(ctx)
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return agent.Report{Termination: agent.Cancelled}
	}
	return achieve(ctx, job)
}
