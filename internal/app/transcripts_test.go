package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/team"
)

func newTranscripts(t *testing.T, ws config.Workspace, told *[]Notice) *transcripts {
	t.Helper()
	return &transcripts{
		ws: ws, now: time.Now, open: map[autonomy.AgentName]*conversation{},
		head: func(s team.Spec) agent.Head {
			return agent.Head{Identity: &agent.Identity{Name: s.Name, Role: s.Role, Team: "default"}, System: "be good"}
		},
		report: func(n Notice) { *told = append(*told, n) },
	}
}

func alice() team.Spec { return team.Spec{Name: "alice", Role: "coder"} }

func say(t *testing.T, ts *transcripts, texts ...string) *agent.Transcript {
	t.Helper()
	script, err := ts.of(alice())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if err := script.User(text); err != nil {
			t.Fatal(err)
		}
	}
	return script
}

func count(messages []llm.Message, text string) (n int) {
	for _, m := range messages {
		n += strings.Count(m.Content, text)
	}
	return n
}

func TestConversationGoesOnAfterARestart(t *testing.T) {
	ws := config.Workspace{Root: t.TempDir()}
	var told []Notice
	first := newTranscripts(t, ws, &told)
	before := say(t, first, "one", "two").Messages()
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	after := say(t, newTranscripts(t, ws, &told)).Messages()
	if len(after) != len(before) || after[len(after)-1].Content != "two" {
		t.Errorf("after the restart: %+v", after)
	}
	if count(after, "<identity>") != 1 {
		t.Error("not exactly one identity block")
	}
}

func TestR03_MailEntersAConversationOnce(t *testing.T) {
	ws := config.Workspace{Root: t.TempDir()}
	var told []Notice
	mail := []inbox.Message{{ID: "A", From: "user", Content: "hello"}, {ID: "B", From: "bob", Content: "bye"}}
	ts := newTranscripts(t, ws, &told)
	stored, err := ts.Store(t.Context(), alice(), mail[:1])
	if err != nil || len(stored) != 1 {
		t.Fatalf("Store = %v, %v", stored, err)
	}
	if err := ts.close(); err != nil { // the cursor was not moved: all of it comes again
		t.Fatal(err)
	}
	ts = newTranscripts(t, ws, &told)
	stored, err = ts.Store(t.Context(), alice(), mail)
	if err != nil || len(stored) != 1 || stored[0].ID != "B" {
		t.Errorf("Store again = %v, %v, want the second alone", stored, err)
	}
	if n := count(say(t, ts).Messages(), "hello"); n != 1 {
		t.Errorf("the first message is there %d times", n)
	}
}

func TestResetKeepsTheOldConversationAside(t *testing.T) {
	ws := config.Workspace{Root: t.TempDir()}
	var told []Notice
	ts := newTranscripts(t, ws, &told)
	say(t, ts, "secret plans")
	if err := ts.Reset(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	if n := count(say(t, ts).Messages(), "secret plans"); n != 0 {
		t.Error("the new holder of the name sees the old conversation")
	}
	aside, _ := filepath.Glob(filepath.Join(ws.Transcripts(), "alice.*.jsonl"))
	if len(aside) != 1 {
		t.Errorf("aside: %v", aside)
	}
	if err := ts.Reset(t.Context(), "nobody"); err != nil {
		t.Errorf("Reset without a transcript: %v", err)
	}
}

func TestDamagedConversationIsPutAsideAndSaid(t *testing.T) {
	ws := config.Workspace{Root: t.TempDir()}
	var told []Notice
	ts := newTranscripts(t, ws, &told)
	say(t, ts, "one", "two")
	if err := ts.close(); err != nil {
		t.Fatal(err)
	}
	path := ws.Transcript("alice")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), `"one"`, `"six"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	messages := say(t, newTranscripts(t, ws, &told)).Messages()
	if count(messages, "six") != 0 || count(messages, "could not be read") != 1 {
		t.Errorf("messages = %+v", messages)
	}
	if len(told) != 1 || !strings.Contains(told[0].Text, "kept as") {
		t.Errorf("told %+v", told)
	}
}

// A line that a crash left half-written is cut, and the conversation goes on.
func TestTornConversationGoesOn(t *testing.T) {
	ws := config.Workspace{Root: t.TempDir()}
	var told []Notice
	ts := newTranscripts(t, ws, &told)
	say(t, ts, "one")
	if err := ts.close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(ws.Transcript("alice"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":3,"ts":"2026`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	messages := say(t, newTranscripts(t, ws, &told), "two").Messages()
	if count(messages, "one") != 1 || count(messages, "two") != 1 || len(told) != 0 {
		t.Errorf("messages %+v, told %+v", messages, told)
	}
}

func TestRemovedTranscriptIsToldAndBegunAnew(t *testing.T) {
	ws := config.Workspace{Root: t.TempDir()}
	var told []Notice
	ts := newTranscripts(t, ws, &told)
	say(t, ts, "one")
	if err := os.Remove(ws.Transcript("alice")); err != nil {
		t.Fatal(err)
	}
	script := say(t, ts, "two")
	if len(told) != 1 || !strings.Contains(told[0].Text, "removed or replaced") {
		t.Errorf("told %+v", told)
	}
	if m := script.Messages(); count(m, "one") != 0 || count(m, "two") != 1 {
		t.Errorf("conversation: %+v", m)
	}
	if err := ts.close(); err != nil {
		t.Fatal(err)
	}
	if m := say(t, newTranscripts(t, ws, &told)).Messages(); count(m, "two") != 1 {
		t.Errorf("on disk: %+v", m)
	}
}
