package daemon

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// narrate writes one line per event to a terminal or a CI log, until the context ends.
func narrate(ctx context.Context, events *teamLog, after int64, out io.Writer) {
	_ = events.follow(ctx, after, func(e control.Event) error {
		if line := sentence(e); line != "" {
			_, err := fmt.Fprintf(out, "%s %s\n", e.Time.Local().Format("15:04:05"), visible.Line(line))
			return err
		}
		return nil
	})
}

// sentence says an event in words; "" for one that only a machine cares about.
func sentence(e control.Event) string {
	who := e.Actor
	if who == "" {
		who = "board"
	}
	var what string
	switch e.Type {
	case "spawned":
		what = "spawned"
	case "state":
		if e.To == "working" || e.To == "starting" {
			return ""
		}
		what = "is " + e.To
	case "claimed":
		what = fmt.Sprintf("claimed #%d", e.Task)
	case "completed", "failed", "released", "reaped":
		what = fmt.Sprintf("#%d %s", e.Task, e.Type)
	case "claim_lost":
		what = fmt.Sprintf("lost #%d", e.Task)
	case "mail_delivered":
		what = "got mail"
	case "shutdown":
		if e.Actor == "" {
			return "the daemon is down"
		}
		return ""
	default:
		what = e.Type
	}
	if e.Reason != "" {
		what += ": " + strings.SplitN(e.Reason, "\n", 2)[0]
	}
	return who + " " + what
}
