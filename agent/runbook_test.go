package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/outcome"
	"github.com/autonomy-team/autonomy/agent/runbook"
)

func steps(t *testing.T, tools ...string) agent.Proposer {
	t.Helper()
	var list []action.Action
	for _, tool := range tools {
		list = append(list, action.Action{Tool: tool, Arguments: json.RawMessage(`{"command":"` + tool + `"}`)})
	}
	book, err := runbook.New(list)
	if err != nil {
		t.Fatal(err)
	}
	return book
}

func TestRunbookAchievesWithoutAModel(t *testing.T) {
	b := newBench()
	b.cfg.Proposers = []agent.Proposer{steps(t, "bash", "write")}
	rep := b.run(t, agent.Goal{Kind: agent.KindTask, Task: 3, Subject: "build"})
	b.want(t, agent.Achieved, "")
	if !rep.Verified || rep.Steps != 2 || rep.Turns != 0 || rep.Summary == "" {
		t.Errorf("report %+v", rep)
	}
	want := "run_started " +
		"skills_selected candidates_ranked action_selected approval_decision observation outcome_evaluated " +
		"skills_selected candidates_ranked action_selected approval_decision observation outcome_evaluated " +
		"skills_selected candidates_ranked action_selected outcome_evaluated learning_review run_finished"
	if got := b.log.types(); got != want {
		t.Errorf("events\n%s, want\n%s", got, want)
	}
	for _, r := range find[agent.CandidatesRanked](b.log) {
		if !r.Certain || len(r.Paths) != 1 {
			t.Errorf("a runbook's path is not certain: %+v", r)
		}
	}
	if c := b.judge.claims; len(c) != 1 || !c[0].Runbook {
		t.Errorf("claims %+v", c)
	}
}

func TestRunbookStepFailsWithoutAModel(t *testing.T) {
	b := newBench()
	b.hands.tools["break"] = fails(strings.Repeat("line\n", 30) + "boom")
	b.cfg.Proposers = []agent.Proposer{steps(t, "bash", "break", "write")}
	rep := b.run(t, agent.Goal{Kind: agent.KindTask, Task: 3, Subject: "build"})
	b.want(t, agent.Blocked, agent.CodeStep)
	f := rep.Failure
	if f == nil || f.Step != "step 2" || f.Exit == nil || *f.Exit != 1 {
		t.Fatalf("failure %+v", f)
	}
	if lines := strings.Split(f.Tail, "\n"); len(lines) != 20 || lines[19] != "boom" {
		t.Errorf("tail of %d lines: %q", len(lines), f.Tail)
	}
	if got := strings.Join(b.hands.calls, " "); got != "bash break" {
		t.Errorf("executed %s", got)
	}
}

func TestRunbookRefusedByVerifyWithoutAModel(t *testing.T) {
	b := newBench()
	two := 2
	b.judge.list = []outcome.Outcome{{Verdict: outcome.Continue, By: outcome.ByVerify, Exit: &two, Output: "1 test failed"}}
	b.cfg.Proposers = []agent.Proposer{steps(t, "bash")}
	rep := b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "build", Verify: "make test"})
	b.want(t, agent.Blocked, agent.CodeRefused)
	if f := rep.Failure; f == nil || f.Step != "verify" || *f.Exit != 2 || f.Tail != "1 test failed" {
		t.Errorf("failure %+v", rep.Failure)
	}
}

func TestRunbookDeniedWithoutAModel(t *testing.T) {
	b := newBench()
	b.hands.deny["bash"] = true
	b.cfg.Proposers = []agent.Proposer{steps(t, "bash")}
	b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "build"})
	b.want(t, agent.ApprovalDenied, "")
}

func TestRunbookUnknownToolWithoutAModel(t *testing.T) {
	b := newBench()
	b.cfg.Proposers = []agent.Proposer{steps(t, "levitate")}
	b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "build"})
	b.want(t, agent.NoCandidates, "")
}

func TestFailedStepGoesToTheModel(t *testing.T) {
	b := newBench(says("fix", call("c1", "write", `{}`)), says("done", call("c2", "complete_task", `{"summary":"fixed"}`)))
	b.cfg.Proposers = []agent.Proposer{steps(t, "bash", "break", "bash")}
	rep := b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "build"})
	b.want(t, agent.Achieved, "")
	if got := strings.Join(b.hands.calls, " "); got != "bash break write complete_task" {
		t.Errorf("executed %s", got)
	}
	if rep.Turns != 2 || rep.Summary != "fixed" {
		t.Errorf("report %+v", rep)
	}
	first := b.model.requests[0].Messages
	text := ""
	for _, m := range first {
		text += m.Content + "\n"
	}
	for _, want := range []string{"Already done: step 1 (`bash`), exit 0", "Tried: step 2 (`break`), exit 1\n<output>\nboom", "- step 3: bash"} {
		if !strings.Contains(text, want) {
			t.Errorf("the model is not told %q:\n%s", want, text)
		}
	}
}

func TestAFurtherRoundTakesNoStepAgain(t *testing.T) {
	b := newBench(says("", call("1", "complete_task", `{}`)))
	b.cfg.Proposers = []agent.Proposer{steps(t, "bash")}
	b.judge.list = []outcome.Outcome{{Verdict: outcome.Continue, Reason: "no"}}
	rep := b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s", Resumed: true, Refused: 1})
	b.want(t, agent.Blocked, agent.CodeRefused)
	if got := strings.Join(b.hands.calls, " "); got != "complete_task" || rep.Refused != 2 {
		t.Errorf("executed %s, %d refused", got, rep.Refused)
	}
}

func TestNoStepsAndNoModel(t *testing.T) {
	b := newBench()
	b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "build"})
	b.want(t, agent.NoCandidates, "")
	if want := "run_started skills_selected learning_review run_finished"; b.log.types() != want {
		t.Errorf("events %s", b.log.types())
	}
}
