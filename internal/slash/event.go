package slash

import (
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// EventLine is one team event as people read it: "alice claimed #2 (Write the docs)", "bob is idle". What has no actor
// is the daemon's own.
func EventLine(e control.Event) string {
	who := visible.Line(e.Actor)
	if who == "" {
		who = "the daemon"
	}
	line := who + " " + eventWords(e)
	if reason, _, _ := strings.Cut(e.Reason, "\n"); reason != "" {
		line += fmt.Sprintf(" (%s)", visible.Clip(reason, 160))
	}
	return line
}

func eventWords(e control.Event) string {
	what := strings.ReplaceAll(visible.Line(e.Type), "_", " ")
	switch e.Type {
	case "state":
		if e.To == "waiting_approval" {
			return waits(e.Task)
		}
		what = "is " + strings.ReplaceAll(visible.Line(e.To), "_", " ")
	case "claim_lost":
		what = "lost"
	case "failed":
		if e.Task == 0 {
			return "has failed"
		}
	case "mail_delivered":
		what = "got mail"
	case "shutdown":
		what = "has ended"
	case "error":
		what = "met an error"
		if e.Task != 0 {
			what += " with"
		}
	}
	if e.Task != 0 {
		what += fmt.Sprintf(" #%d", e.Task)
	}
	return what
}

// waits tells of the one state that a person has to end, and how.
func waits(task int64) string {
	what := "waits for approval"
	if task != 0 {
		what += fmt.Sprintf(" on #%d", task)
	}
	return what + ": autonomy approvals"
}
