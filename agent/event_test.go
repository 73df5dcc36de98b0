package agent_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
)

func TestEventsKeepTheirWireForm(t *testing.T) {
	exit, verified := 1, false
	e := agent.Event{Run: "01R", Turn: 2, Actor: "alice", Task: 7, Claim: "01C", Type: agent.TypeObservation, Data: agent.Observed{
		Observation: action.Observation{Call: "c1", Tool: "bash", Status: action.Failed, Output: "boom", Exit: &exit, Verified: &verified, Wrote: true},
	}}
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"run_id":"01R","turn":2,"actor":"alice","task":7,"claim":"01C","type":"observation","data":` +
		`{"call":"c1","tool":"bash","status":"failed","output":"boom","exit":1,"verified":false,"wrote":true}}`
	if string(line) != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
	back, err := agent.DecodeEvent(line)
	if err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("got back %+v, %v", back, err)
	}
}

func TestEveryEventComesBack(t *testing.T) {
	for _, e := range recorded(t).log.events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := agent.DecodeEvent(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(line) {
			t.Errorf("%s came back as %s", line, again)
		}
		if key := string(line); strings.Contains(key, `"Call"`) || strings.Contains(key, `"Tool"`) {
			t.Errorf("a key is not snake_case: %s", key)
		}
	}
}

func TestVocabularyIsClosed(t *testing.T) {
	for _, line := range []string{`{"type":"run_paused","data":{}}`, `{"type":"","data":{}}`, `{}`, `[]`, `{"type":"observation","data":[]}`} {
		if e, err := agent.DecodeEvent([]byte(line)); err == nil {
			t.Errorf("%s was read as %+v", line, e)
		}
	}
}

func FuzzDecodeEvent(f *testing.F) {
	for _, s := range []string{
		`{"seq":1,"ts":"2026-01-01T00:00:00Z","run_id":"r","turn":0,"type":"run_started","data":{"kind":"run"},"sum":"00"}`,
		`{"type":"candidates_ranked","data":{"paths":[{"source":"model","actions":[{"tool":"bash"}],"score":{"total":-0.55}}]}}`,
		`{"type":"action_selected","data":{"call":"a","tool":"b","arguments":{"x":[1,"}"]},"claim":true,"risk":"low","name":"\u00e9"}}`,
		`{"type":"observation","data":{"call":"a","status":"ok","output":"a\nb","exit":-1,"verified":false,"duration_ns":12,"wrote":true}}`,
		`{"type":"approval_decision","data":{"call":"a","decision":"allow","by":"policy","asked":true}}`,
		`{"type":"outcome_evaluated","data":{"verdict":"continue","judged":{"verdict":"achieved"}}}`,
		`{"type":"skills_selected","data":{"names":null}}`, `{"type":"model_call","data":{"purpose":"turn","usage":{"prompt":1},"final":true,"try":1}}`,
		`{"type":"error","data":null}`, `{"type":"model_call","data":{"usage":{"prompt":-1}}}`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) == 0 {
			return
		}
		e, err := agent.DecodeEvent(line)
		slow, slowErr := agent.DecodeEvent(append([]byte("{ "), bytes.Replace(bytes.TrimPrefix(line, []byte("{")), []byte(`"data":{`), []byte(`"data":{ `), 1)...)) // not our own writing
		if line[0] == '{' && json.Valid(line) && ((err == nil) != (slowErr == nil) || !reflect.DeepEqual(e, slow)) {
			t.Fatalf("%s is read as %+v (%v), and slowly as %+v (%v)", line, e, err, slow, slowErr)
		}
		if err != nil {
			return
		}
		if _, err := json.Marshal(e); err != nil {
			t.Fatalf("%s can be read and not written: %v", line, err)
		}
		if _, err := agent.Replay(t.Context(), func(yield func(agent.Event, error) bool) {
			_ = yield(e, nil) && yield(agent.Event{Type: agent.TypeRunFinished, Data: agent.RunFinished{}}, nil)
		}); err != nil && e.Type == agent.TypeRunStarted {
			t.Fatal(err)
		}
	})
}
