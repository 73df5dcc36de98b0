package board_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

func TestR13_DependenciesCannotWedgeInSilence(t *testing.T) {
	f := newFixture(t)
	for id, text := range map[autonomy.TaskID]string{
		1:  `{"subject": "done", "status": "completed"}`,
		2:  `{"subject": "open"}`,
		3:  `{"subject": "dead", "status": "failed", "failure": {"code": "exit 2"}}`,
		4:  `{"subject": "ring", "blockedBy": [5]}`,
		5:  `{"subject": "ring", "blockedBy": [4]}`,
		6:  `{"subject": "self", "blockedBy": [6]}`,
		7:  `{"subject": "waits", "blockedBy": [1, 2]}`,
		8:  `{"subject": "waits for the dead", "blockedBy": [3, 2]}`,
		10: `{"subject": "misses", "blockedBy": [9, 3, 2]}`,
		11: `{"subject": "behind the ring", "blockedBy": [4]}`,
		12: `{"subject": "held", "blockedBy": [9], "held": {"reason": "look at it"}}`,
		13: `{"subject": "free", "blockedBy": [1]}`,
		14: `{"subject": "broken", "priority": "x"}`,
		15: `{"subject": "waits for the broken", "blockedBy": [14]}`,
		16: `{"subject": "blocks", "blocks": [17], "status": "in_progress", "owner": "zoe"}`,
		17: `{"subject": "blocked from the other end"}`,
		18: `{"subject": "given up", "status": "cancelled"}`,
		19: `{"subject": "waits for the given up", "blockedBy": [18]}`,
		20: `{"subject": "half a ring", "blockedBy": [21], "status": "completed"}`,
		21: `{"subject": "other half", "blockedBy": [20]}`,
		22: `{"subject": "ring of three", "blockedBy": [23]}`,
		23: `{"subject": "ring of three", "blockedBy": [24]}`,
		24: `{"subject": "ring of three", "blocks": [23], "blockedBy": [22]}`,
	} {
		f.drop(id, text)
	}
	if err := f.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[autonomy.TaskID]string{
		1: "completed", 2: "", 3: "failed: exit 2", 4: "cycle: 4 → 5 → 4", 5: "cycle: 5 → 4 → 5", 6: "cycle: 6 → 6",
		7: "waiting on 2", 8: "dead dependency: 3 failed", 10: "missing dependency: 9", 11: "waiting on 4",
		12: "held: look at it", 13: "", 14: "invalid: line 1: priority must be an integer, not a string",
		15: "dead dependency: 14 invalid", 16: "in progress: zoe", 17: "waiting on 16", 18: "cancelled",
		19: "dead dependency: 18 cancelled", 20: "completed", 21: "",
		22: "cycle: 22 → 23 → 24 → 22", 23: "cycle: 23 → 24 → 22 → 23", 24: "cycle: 24 → 22 → 23 → 24",
	}
	for _, e := range f.List() {
		if e.Readiness.Reason != want[e.ID] || e.Readiness.Ready != (want[e.ID] == "") {
			t.Errorf("task %d: %+v, want %q", e.ID, e.Readiness, want[e.ID])
		}
		if single := f.entry(e.ID); single.Readiness != e.Readiness {
			t.Errorf("task %d alone: %+v", e.ID, single.Readiness)
		}
	}
	stuck := []autonomy.TaskID{3, 4, 5, 6, 8, 10, 11, 12, 14, 15, 19, 22, 23, 24}
	if got := f.Stuck(); !slices.Equal(got, stuck) {
		t.Errorf("stuck: %v, want %v", got, stuck)
	}
	var two board.Task
	for n := 0; ; n++ {
		task, err := f.ClaimNext(t.Context(), member(fmt.Sprint("m", n)))
		if err != nil {
			break
		}
		if want[task.ID] != "" {
			t.Errorf("claimed %d, which is %q", task.ID, want[task.ID])
		}
		if task.ID == 2 {
			two = task
		}
	}
	f.finish(two, board.Complete{})
	f.wantReason(7, "ready")
}

func TestR13_BlockedIsNotCompletable(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "a"}`)
	f.drop(2, `{"subject": "b"}`)
	task := f.claim(2, member("alice"))
	f.edit(2, `{"subject"`, `{"blockedBy": [1], "subject"`)
	if _, err := f.Finish(t.Context(), task.Ref(), board.Complete{}); err == nil || err.Error() != "task 2 is not ready: waiting on 1" {
		t.Errorf("Finish: %v", err)
	}
	if _, err := f.Complete(t.Context(), 2, board.Result{}); err == nil {
		t.Error("a person completed a blocked task")
	}
	f.finish(f.claim(1, member("bob")), board.Complete{})
	f.finish(task, board.Complete{})
}

func TestR18_ClaimsRespectRoleAndTools(t *testing.T) {
	alice := board.Claimant{Name: "alice", Role: "coder", Tools: []string{"file", "bash"}}
	carol := board.Claimant{Name: "carol", Role: "coder", Tools: []string{"file"}, Model: true}
	steps := []board.Step{{Run: "true"}}
	once := &board.Failure{Count: 1}
	for _, c := range []struct {
		name  string
		task  board.Task
		peers []board.Claimant
		want  string
	}{
		{"free", board.Task{Steps: steps}, nil, ""},
		{"assigned to it", board.Task{Owner: "alice", Steps: steps}, nil, ""},
		{"assigned to another", board.Task{Owner: "bob", Steps: steps}, nil, "assigned to bob"},
		{"its role", board.Task{Role: "coder", Steps: steps}, nil, ""},
		{"another role", board.Task{Role: "tester", Steps: steps}, nil, "wants role tester"},
		{"its tools", board.Task{Requires: []string{"bash", "file"}, Steps: steps}, nil, ""},
		{"a tool it lacks", board.Task{Requires: []string{"file", "browser"}, Steps: steps}, nil, "requires browser, which alice lacks"},
		{"no steps", board.Task{}, nil, "needs a model"},
		{"worktree", board.Task{Worktree: true, Steps: steps}, nil, "needs a worktree, which this version does not make"},
		{"failed, alone", board.Task{Steps: steps, Failure: once}, nil, ""},
		{"failed, one with a model", board.Task{Steps: steps, Failure: once}, []board.Claimant{carol}, "left to carol, who has a model"},
		{"failed, its model may not", board.Task{Steps: steps, Failure: once, Requires: []string{"bash"}}, []board.Claimant{carol}, ""},
		{"died only", board.Task{Steps: steps, Failure: &board.Failure{Deaths: 1}}, []board.Claimant{carol}, ""},
	} {
		who := alice
		who.Peers = c.peers
		if ok, why := board.Eligible(c.task, who); ok != (c.want == "") || why != c.want {
			t.Errorf("%s: %v %q, want %q", c.name, ok, why, c.want)
		}
	}
	if ok, why := board.Eligible(board.Task{Failure: once}, carol); !ok {
		t.Error(why)
	}
}

func TestR18_ATaskThatNobodyMayTakeSaysSo(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s", "role": "tester", "blockedBy": [2]}`)
	f.drop(2, `{"subject": "t", "status": "completed"}`)
	f.refresh()
	e := must(f.Explain(1, []board.Claimant{member("alice")}))(t)
	if !e.Nobody || e.Members[0].Reason != "wants role tester" || e.Blockers[0].State != board.StateCompleted {
		t.Errorf("%+v", e)
	}
	tester := member("bob")
	tester.Role = "tester"
	if e := must(f.Explain(1, []board.Claimant{member("alice"), tester}))(t); e.Nobody || !e.Members[1].OK {
		t.Errorf("%+v", e)
	}
}

func TestR21_OrderIsNumericAfterPriority(t *testing.T) {
	f := newFixture(t)
	f.drop(10, `{"subject": "ten"}`)
	f.drop(2, `{"subject": "two"}`)
	f.drop(3, `{"subject": "urgent", "priority": 5}`)
	f.drop(1, `{"subject": "later", "priority": -1}`)
	var ids []autonomy.TaskID
	for n := range 4 {
		ids = append(ids, must(f.ClaimNext(t.Context(), member(fmt.Sprint("m", n))))(t).ID)
	}
	if want := []autonomy.TaskID{3, 2, 10, 1}; !slices.Equal(ids, want) {
		t.Errorf("%v, want %v", ids, want)
	}
}

func TestGateKeepsTasksOffTheBoard(t *testing.T) {
	gate := &gate{}
	f := newFixture(t, func(c *board.Config) { c.Gate = gate })
	f.drop(1, `{"subject": "came with git"}`)
	gate.refuse(`{"subject":"came with git"}`, "untrusted: run autonomy trust")
	f.wantReason(1, "untrusted: run autonomy trust")
	gate.refuse("", "")
	f.wantReason(1, "ready")
	task := f.claim(1, member("alice"))
	gate.refuse(`{"subject":"changed"}`, "untrusted")
	f.finish(task, board.Release{}) // a rewrite of ours changes nothing
	f.wantReason(1, "ready")
	subject := "changed"
	must(f.Edit(t.Context(), 1, board.Patch{Subject: &subject}))(t)
	if r := f.entry(1).Readiness; r.Kind != board.KindUntrusted {
		t.Errorf("%+v", r)
	}
}

// gate refuses the tasks whose people's fields are the ones given.
type gate struct {
	fields, reason string
	generation     uint64
}

func (g *gate) refuse(fields, reason string) {
	g.fields, g.reason = fields, reason
	g.generation++
}

func (g *gate) Generation() uint64 { return g.generation }

func (g *gate) Admit(_ string, _ board.Task, people []byte) string {
	if string(people) == g.fields {
		return g.reason
	}
	return ""
}

func TestNotBefore(t *testing.T) {
	f := newFixture(t)
	at := f.clock().Add(90 * time.Minute).UTC()
	f.drop(1, fmt.Sprintf(`{"subject": "s", "notBefore": %q}`, at.Format(time.RFC3339Nano)))
	c := f.refresh()
	if len(c.Ready) != 0 || !c.Next.Equal(at) {
		t.Fatalf("%+v", c)
	}
	f.wantReason(1, "retry in 90 min")
	f.advance(90 * time.Minute)
	if id, ok := f.BestFor(member("alice")); !ok || id != 1 {
		t.Error("not offered when its time has come")
	}
}
