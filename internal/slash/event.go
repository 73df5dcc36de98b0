package slash

import (
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// EventLine is one team event as people read it: "alice claimed #2", "task #4 failed (exit 1)".
func EventLine(e control.Event) string {
	var b strings.Builder
	if e.Actor != "" {
		b.WriteString(visible.Line(e.Actor) + " ")
	}
	b.WriteString(strings.ReplaceAll(visible.Line(e.Type), "_", " "))
	if e.Task != 0 {
		fmt.Fprintf(&b, " #%d", e.Task)
	}
	if e.Reason != "" {
		fmt.Fprintf(&b, " (%s)", visible.Clip(e.Reason, 160))
	}
	return b.String()
}
