package daemon

import (
	"context"
	"fmt"
	"io"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/slash"
)

// narrate writes one line per event to a terminal or a CI log, until the context ends. That a member begins to work is
// left out: what it claimed says so. So is that it has ended: its state says that.
func narrate(ctx context.Context, events *teamLog, after int64, out io.Writer) {
	_ = events.follow(ctx, after, func(e control.Event) error {
		begins := e.Type == "state" && (e.To == "working" || e.To == "starting")
		if begins || e.Type == "shutdown" && e.Actor != "" {
			return nil
		}
		_, err := fmt.Fprintf(out, "%s %s\n", e.Time.Local().Format("15:04:05"), slash.EventLine(e))
		return err
	})
}
