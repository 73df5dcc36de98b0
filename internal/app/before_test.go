package app

import (
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/board"
)

// record writes a run log of an attempt at task 7; with ended it was closed.
func record(t *testing.T, p *place, claim autonomy.ClaimID, ended bool) {
	t.Helper()
	log, err := p.beginRun(nil)
	if err != nil {
		t.Fatal(err)
	}
	events := []agent.Data{
		agent.RunStarted{Kind: agent.KindTask, Subject: "x"},
		agent.ActionSelected{Call: "1", Tool: "bash", Arguments: []byte(`{"command":"make"}`)},
		agent.Observed{Observation: action.Observation{Call: "1", Tool: "bash", Status: action.OK}},
		agent.ActionSelected{Call: "2", Tool: "bash", Arguments: []byte(`{"command":"make deploy"}`)},
	}
	if ended {
		events = append(events, agent.RunFinished{Termination: agent.Failed})
	}
	types := []agent.EventType{agent.TypeRunStarted, agent.TypeActionSelected, agent.TypeObservation, agent.TypeActionSelected, agent.TypeRunFinished}
	for i, d := range events {
		if err := log.Record(agent.Event{Run: log.id, Task: 7, Claim: claim, Type: types[i], Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.close(); err != nil {
		t.Fatal(err)
	}
}

func TestNextAttemptIsToldWhatTheCutOffOneDidLast(t *testing.T) {
	died := board.Task{ID: 7, Claim: &board.Claim{ID: "new"}, Failure: &board.Failure{Deaths: 1}}
	p := newPlace(t)
	record(t, p, "old", false)
	got := p.before(died)
	for _, want := range []string{`{"command":"make"}: ok`, `{"command":"make deploy"}: not known to have ended`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if got := p.before(board.Task{ID: 7}); got != "" {
		t.Errorf("nobody died, and yet: %q", got)
	}
	if got := p.before(board.Task{ID: 8, Failure: died.Failure}); got != "" {
		t.Errorf("of another task: %q", got)
	}
}

func TestOwnRunAndEndedRunsAreNotTold(t *testing.T) {
	died := board.Task{ID: 7, Claim: &board.Claim{ID: "new"}, Failure: &board.Failure{Deaths: 1}}
	p := newPlace(t)
	record(t, p, "old", true)
	record(t, p, "new", false)
	if got := p.before(died); got != "" {
		t.Errorf("told %q", got)
	}
}
