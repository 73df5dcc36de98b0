package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/agent/provider/script"
	"github.com/autonomy-team/autonomy/internal/control"
)

// modelServer plays a script for daemons that the test starts.
func modelServer(t *testing.T, s script.Script) *script.Server {
	t.Helper()
	server, err := script.NewServer(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	t.Setenv("AUTONOMY_PROVIDER", "custom")
	t.Setenv("AUTONOMY_BASE_URL", server.URL())
	t.Setenv("AUTONOMY_MODEL", "scripted")
	return server
}

func TestMemberWithModelWorksATask(t *testing.T) {
	s := newSite(t)
	server := modelServer(t, script.Of(
		script.Do("bash", `{"command":"echo hello > greeting.txt","purpose":"write it"}`),
		script.Do("complete_task", `{"summary":"the greeting is there"}`),
	))
	s.drop(1, map[string]any{"description": "Write a greeting.", "verify": "grep -q hello greeting.txt"})
	p := s.start(testOptions{
		Spawn: coders("alice"), Mode: "full", Poll: 200 * time.Millisecond, Idle: time.Second, ExitWhenIdle: true,
	})
	if code := p.exit(30 * time.Second); code != ExitOK {
		t.Errorf("exit status %d, want 0", code)
	}
	got := s.read(1)
	if got.Status != "completed" || got.Owner != "alice" || got.Result == nil || !got.Result.Verified {
		t.Fatalf("task = %+v", got)
	}
	if server.Count() != 2 {
		t.Errorf("%d requests, want 2", server.Count())
	}
	first := string(server.Requests()[0].Body)
	if n := strings.Count(first, "You are 'alice', role: coder, team: default."); n != 1 {
		t.Errorf("%d identity blocks in the first request", n)
	}
	if !strings.Contains(first, "auto-claimed") || !strings.Contains(first, `"complete_task"`) {
		t.Error("the first request lacks the task or the team's tools")
	}
}

// In mode auto without a sandbox a model's command waits for a person, who answers once, through the socket.
func TestR16_ApprovalIsListedAndAnsweredOnce(t *testing.T) {
	s := newSite(t)
	modelServer(t, script.Of(
		script.Do("bash", `{"command":"touch approved.txt"}`),
		script.Do("complete_task", `{"summary":"done"}`),
	))
	s.drop(1, map[string]any{"description": "Touch it.", "verify": "test -e approved.txt"})
	s.start(testOptions{Spawn: coders("alice"), Poll: 200 * time.Millisecond})
	c := s.dial()
	var open []control.Approval
	eventually(t, "the question is listed", 30*time.Second, func() bool {
		var err error
		if open, err = c.Approvals(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(open) == 1
	})
	if open[0].Member != "alice" || open[0].Tool != "bash" || open[0].Task != 1 {
		t.Errorf("approval = %+v", open[0])
	}
	team, err := c.Team(t.Context())
	if err != nil || team.Members[0].State != "waiting_approval" {
		t.Errorf("team = %+v, %v", team, err)
	}
	if _, err := os.Stat(filepath.Join(s.ws.Root, "approved.txt")); err == nil {
		t.Fatal("the command ran before it was approved")
	}
	if _, err := c.Answer(t.Context(), control.Answer{ID: open[0].ID, Approve: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(), control.Answer{ID: open[0].ID}); err == nil {
		t.Error("a second answer was taken")
	}
	eventually(t, "the task is completed", 30*time.Second, func() bool { return s.read(1).Status == "completed" })
}

func TestLeadMakesTasksAndMembersThatClaimThem(t *testing.T) {
	s := newSite(t)
	lead := script.Match{SystemContains: "You are lead"}
	member := script.Match{SystemContains: "a member of team", Contains: "auto-claimed"}
	modelServer(t, script.Script{Entries: []script.Entry{
		{When: lead, Reply: &script.Reply{Calls: []script.Call{
			{Name: "create_task", Arguments: []byte(`{"subject":"first"}`)},
			{Name: "create_task", Arguments: []byte(`{"subject":"second","blocked_by":[1]}`)},
			{Name: "spawn_teammate", Arguments: []byte(`{"name":"bob","role":"coder"}`)},
		}}},
		{When: lead, Reply: &script.Reply{Text: "Two tasks, and bob works on them."}},
		{When: member, Times: script.Always, Reply: &script.Reply{Calls: []script.Call{{Name: "complete_task", Arguments: []byte(`{"summary":"ok"}`)}}}},
		{Times: script.Always, Reply: &script.Reply{Text: `{"verdict":"achieved","reason":"fine"}`}},
	}})
	s.start(testOptions{Poll: 200 * time.Millisecond, Idle: 5 * time.Second, Mode: "full"})
	c := s.dial()
	var text strings.Builder
	var report *control.Report
	var events int
	err := c.Line(t.Context(), control.LineRequest{Text: "make two tasks and spawn bob"}, func(e control.LineEvent) error {
		switch e.Kind {
		case control.LineDelta:
			text.WriteString(e.Text)
		case control.LineAction:
			events++
		case control.LineReport:
			report = e.Report
		}
		return nil
	})
	if err != nil || report == nil || report.Termination != "achieved" || report.Code != "answered" {
		t.Fatalf("report = %+v, %v", report, err)
	}
	if !strings.Contains(text.String(), "bob works on them") || events == 0 {
		t.Errorf("streamed %q and %d events", text.String(), events)
	}
	for id := 1; id <= 2; id++ {
		eventually(t, "bob completes both", 30*time.Second, func() bool {
			_, err := os.Stat(filepath.Join(s.ws.Tasks(), "task_"+string(rune('0'+id))+".json"))
			return err == nil && s.read(id).Status == "completed" && s.read(id).Owner == "bob"
		})
	}
}

func TestLineWithoutModelSaysSo(t *testing.T) {
	s := newSite(t)
	s.start(testOptions{})
	c := s.dial()
	err := c.Line(t.Context(), control.LineRequest{Text: "hello"}, func(control.LineEvent) error { return nil })
	if e, ok := err.(*control.Error); !ok || e.Code != control.CodeNeedsModel {
		t.Errorf("line = %v, want needs_model", err)
	}
}

// The next attempt after a crash goes on in the same conversation and is told what may have happened.
func TestR07_CrashOfAModelMember(t *testing.T) {
	s := newSite(t)
	server := modelServer(t, script.Of(
		script.Do("bash", `{"command":"touch begun; sleep 64"}`),
		script.Do("complete_task", `{"summary":"it had begun"}`),
	))
	s.drop(1, map[string]any{"description": "Begin.", "verify": "test -e begun"})
	options := testOptions{Spawn: coders("alice"), Mode: "full", Poll: 200 * time.Millisecond}
	p := s.start(options)
	eventually(t, "the command runs", 30*time.Second, func() bool {
		_, err := os.Stat(filepath.Join(s.ws.Root, "begun"))
		return err == nil
	})
	p.kill()
	s.start(testOptions{Mode: "full", Poll: 200 * time.Millisecond}) // alice comes back by herself
	eventually(t, "the task is completed", 30*time.Second, func() bool { return s.read(1).Status == "completed" })
	last := string(server.Requests()[server.Count()-1].Body)
	for _, want := range []string{"was cut off", "not known to have ended", "no result: interrupted"} {
		if !strings.Contains(last, want) {
			t.Errorf("the next request lacks %q", want)
		}
	}
	if n := strings.Count(last, "You are 'alice', role: coder, team: default."); n != 1 {
		t.Errorf("%d identity blocks", n)
	}
}

func TestR16_ApprovalSurvivesARestart(t *testing.T) {
	s := newSite(t)
	ask := script.Do("bash", `{"command":"touch approved.txt"}`)
	modelServer(t, script.Of(ask, ask, script.Do("complete_task", `{"summary":"done"}`)))
	s.drop(1, map[string]any{"description": "Touch it.", "verify": "test -e approved.txt"})
	p := s.start(testOptions{Spawn: coders("alice"), Poll: 200 * time.Millisecond})
	waiting := func() (id string) {
		c := s.dial()
		eventually(t, "one question is listed", 30*time.Second, func() bool {
			open, err := c.Approvals(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(open) == 1 {
				id = open[0].ID
			}
			return len(open) == 1
		})
		return id
	}
	before := waiting()
	p.kill()
	s.start(testOptions{Poll: 200 * time.Millisecond})
	if after := waiting(); after != before {
		t.Errorf("request %s became %s: the same question must take the old one over", before, after)
	}
	if _, err := s.dial().Answer(t.Context(), control.Answer{ID: before, Approve: true}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the task is completed", 30*time.Second, func() bool { return s.read(1).Status == "completed" })
}

// A key that is refused costs the task nothing: the member rests until a person acts, and says why.
func TestR09_RefusedKeyIsLoudAndCostsNothing(t *testing.T) {
	s := newSite(t)
	server := modelServer(t, script.Script{Entries: []script.Entry{
		{Times: script.Always, Error: &script.Failure{Status: 401, Message: "invalid api key"}},
	}})
	s.drop(1, map[string]any{"description": "x"})
	s.start(testOptions{Spawn: coders("alice"), Poll: 200 * time.Millisecond})
	c := s.dial()
	eventually(t, "alice rests", 30*time.Second, func() bool {
		team, err := c.Team(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := team.Members[0]
		return m.State == "backoff" && m.Until.IsZero() && m.Reason != ""
	})
	got := s.read(1)
	if got.Status != "pending" || got.Owner != "" || got.Failure != nil && got.Failure.Count > 0 {
		t.Errorf("task = %+v, want it released uncounted", got)
	}
	if server.Count() != 1 {
		t.Errorf("%d requests with a key that was refused, want 1", server.Count())
	}
	s.wantLeadToldOnce()
}
