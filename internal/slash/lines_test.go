package slash

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/control"
)

func entry(id int64, status board.Status, owner string, kind board.Kind, reason string, blockers ...autonomy.TaskID) board.Entry {
	return board.Entry{
		ID: autonomy.TaskID(id), Path: "/w/.tasks/task_1.json", Blockers: blockers,
		Task:      board.Task{ID: autonomy.TaskID(id), Subject: "subject", Status: status, Owner: autonomy.AgentName(owner)},
		Readiness: board.Readiness{Ready: kind == board.KindReady, Kind: kind, Reason: reason},
	}
}

// Every mark with every kind of reason, as SPEC section 9 of the design writes them.
func TestTaskLines(t *testing.T) {
	broken := entry(0, "", "", board.KindInvalid, "invalid: leading zeros")
	broken.Task.Subject, broken.Path = "", "/w/.tasks/task_04.json"
	stale := entry(19, board.Pending, "", board.KindReady, "")
	stale.Stale = true
	hostile := entry(20, board.Pending, "", board.KindReady, "")
	hostile.Task.Subject = "a\x1b[31mb\nc"
	entries := []board.Entry{
		broken,
		entry(1, board.Pending, "", board.KindReady, ""),
		entry(2, board.InProgress, "alice", board.KindStatus, "in progress: alice"),
		entry(3, board.Completed, "bob", board.KindStatus, "completed"),
		entry(4, board.Failed, "", board.KindStatus, "failed: step"),
		entry(5, board.Pending, "", board.KindWaiting, "waiting on 1, 2", 1, 2, 3),
		entry(6, board.Cancelled, "", board.KindStatus, "cancelled"),
		entry(7, board.Pending, "", board.KindHeld, "held: denied"),
		entry(8, board.Pending, "", board.KindInvalid, "invalid: line 2: x"),
		entry(9, board.Pending, "", board.KindCycle, "cycle: 9 → 10 → 9", 10),
		entry(10, board.Pending, "", board.KindMissing, "missing dependency: 99", 99),
		entry(11, board.Pending, "", board.KindDead, "dead dependency: 4 failed", 4),
		entry(12, board.Pending, "", board.KindRetry, "retry in 40 s"),
		entry(13, board.Pending, "", board.KindUntrusted, "untrusted: run autonomy trust"),
		entry(14, board.Pending, "", board.KindUnreadable, "unreadable: permission denied"),
		entry(15, board.Pending, "", board.KindUnsettled, "does not parse yet, looking again"),
		entry(16, board.Pending, "bob", board.KindStopping, "alice is stopping"),
		entry(17, board.InProgress, "", board.KindStatus, "in progress"),
		entry(18, board.Pending, "", board.KindReady, ""),
		stale,
		hostile,
	}
	remark := func(e board.Entry) string {
		if e.ID == 18 {
			return "needs a model"
		}
		return ""
	}
	var out bytes.Buffer
	Tasks(&out, entries, Open(entries), remark)
	want := `[ ] #1: subject
[>] #2: subject @alice
[x] #3: subject @bob
[!] #4: subject (failed: step)
[ ] #5: subject (blocked by: 1, 2)
[!] #6: subject (cancelled)
[!] #7: subject (held: denied)
[!] #8: subject (invalid: line 2: x)
[!] #9: subject (cycle: 9 → 10 → 9)
[!] #10: subject (missing dependency: 99)
[!] #11: subject (dead dependency: 4 failed)
[ ] #12: subject (retry in 40 s)
[!] #13: subject (untrusted: run autonomy trust)
[!] #14: subject (unreadable: permission denied)
[ ] #15: subject (does not parse yet, looking again)
[ ] #16: subject @bob (alice is stopping)
[>] #17: subject
[ ] #18: subject (needs a model)
[ ] #19: subject (unreadable now; shown as last read)
[ ] #20: a\x1b[31mb\nc
[!] task_04.json: (invalid: leading zeros)
`
	compareLines(t, out.String(), want)
	out.Reset()
	Tasks(&out, nil, nil, nil)
	compareLines(t, out.String(), "No tasks.\n")
}

func TestMemberLines(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	members := []control.Member{
		{Name: "a", Role: "coder", State: "starting"},
		{Name: "alice", Role: "coder", State: "working", Task: 2, Reason: "cannot write the end of task 2"},
		{Name: "b", Role: "coder", State: "idle"},
		{Name: "b2", Role: "coder", State: "idle", Reason: "the board is locked"},
		{Name: "c", Role: "coder", State: "waiting_approval", Task: 3, Reason: "bash: make install"},
		{Name: "d", Role: "coder", State: "backoff", Reason: "rate: slow down", Until: now.Add(time.Minute)},
		{Name: "e", Role: "coder", State: "backoff", Reason: "auth: key refused"},
		{Name: "f", Role: "coder", State: "stopping", Task: 4, Reason: "told to stop"},
		{Name: "bob", Role: "tester", State: "shutdown", Reason: "idle"},
		{Name: "g", Role: "tester", State: "stopped", Reason: "told to stop"},
		{Name: "h", Role: "te\x1bster", State: "failed", Reason: "five panics"},
	}
	var out bytes.Buffer
	Team(&out, control.Team{Name: "night", Members: members, Trust: control.Trust{Why: "untrusted: run autonomy trust"}}, now)
	compareLines(t, out.String(), `Team: night
a (coder): starting
alice (coder): working #2 (cannot write the end of task 2)
b (coder): idle
b2 (coder): idle (the board is locked)
c (coder): waiting_approval #3 (bash: make install)
d (coder): backoff (rate: slow down, until 03:05:05)
e (coder): backoff (auth: key refused)
f (coder): stopping #4 (told to stop)
bob (tester): shutdown
g (tester): stopped
h (te\x1bster): failed (five panics)
untrusted: run autonomy trust
`)
	out.Reset()
	Team(&out, control.Team{Name: "night", Trust: control.Trust{Trusted: true}}, now)
	compareLines(t, out.String(), "No teammates.\n")
}

func TestMailLines(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	mail := []inbox.Listed{
		{Message: inbox.Message{Kind: inbox.KindMessage, From: "user", Content: "hello\nthere\n", Timestamp: at}, Read: true},
		{Message: inbox.Message{Kind: inbox.KindShutdownRequest, From: "l\x1bead", Content: "\x1b[2Jstop"}},
	}
	var out bytes.Buffer
	Mail(&out, "alice", mail)
	compareLines(t, out.String(), `  2026-01-02 03:04:05  message from user: hello
    there
*                      shutdown_request from l\x1bead: \x1b[2Jstop
`)
	out.Reset()
	Mail(&out, "alice", nil)
	compareLines(t, out.String(), "No mail for alice.\n")
}

func TestGraphShowsEveryTaskOnce(t *testing.T) {
	entries := []board.Entry{
		entry(1, board.Completed, "bob", board.KindStatus, "completed"),
		entry(2, board.Pending, "", board.KindReady, "", 1),
		entry(3, board.Pending, "", board.KindWaiting, "waiting on 2", 1, 2),
		entry(4, board.Pending, "", board.KindCycle, "cycle: 4 → 5 → 4", 5),
		entry(5, board.Pending, "", board.KindCycle, "cycle: 5 → 4 → 5", 4),
	}
	var out bytes.Buffer
	Graph(&out, entries)
	compareLines(t, out.String(), `[x] #1: subject @bob
    [ ] #2: subject
        [ ] #3: subject (blocked by: 2)
    #3, see above
[!] #4: subject (cycle: 4 → 5 → 4)
    [!] #5: subject (cycle: 5 → 4 → 5)
        #4, see above
`)
}

func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "alice": "alice", "  alice   hello  there ": "alice|hello  there", "alice\thi": "alice|hi",
	} {
		if got := strings.Join(split(text, 2), "|"); got != want {
			t.Errorf("split(%q) = %q, want %q", text, got, want)
		}
	}
}

func compareLines(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var have, need string
		if i < len(g) {
			have = g[i]
		}
		if i < len(w) {
			need = w[i]
		}
		if have != need {
			t.Errorf("line %d: %q, want %q", i+1, have, need)
		}
	}
}
