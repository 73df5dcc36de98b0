package slash

import (
	"testing"

	"github.com/autonomy-team/autonomy/internal/control"
)

func TestEventLine(t *testing.T) {
	tests := []struct {
		event control.Event
		want  string
	}{
		{control.Event{Type: "spawned", Actor: "alice", Reason: "coder"}, "alice spawned (coder)"},
		{control.Event{Type: "state", Actor: "alice", From: "idle", To: "working", Task: 2}, "alice is working #2"},
		{control.Event{Type: "state", Actor: "bob", To: "waiting_approval", Task: 3}, "bob waits for approval on #3: autonomy approvals"},
		{control.Event{Type: "claimed", Actor: "alice", Task: 2, Reason: "Write it"}, "alice claimed #2 (Write it)"},
		{control.Event{Type: "claim_lost", Actor: "alice", Task: 2}, "alice lost #2"},
		{control.Event{Type: "completed", Actor: "alice", Task: 2, Reason: "done\nnow"}, `alice completed #2 (done)`},
		{control.Event{Type: "failed", Actor: "alice", Task: 4, Code: "step", Reason: "exit status 1"}, "alice failed #4 (exit status 1)"},
		{control.Event{Type: "failed", Actor: "alice", Reason: "five panics"}, "alice has failed (five panics)"},
		{control.Event{Type: "mail_delivered", Actor: "bob"}, "bob got mail"},
		{control.Event{Type: "reaped", Task: 9}, "the daemon reaped #9"},
		{control.Event{Type: "shutdown"}, "the daemon has ended"},
		{control.Event{Type: "error", Actor: "al\x1bice", Task: 1, Reason: "disk full"}, `al\x1bice met an error with #1 (disk full)`},
	}
	for _, test := range tests {
		if got := EventLine(test.event); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
