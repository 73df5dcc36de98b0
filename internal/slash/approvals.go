package slash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// Approvals writes the open requests, each with all that a person needs to decide: nothing of a command is cut.
func Approvals(w io.Writer, list []control.Approval, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "Nothing waits for approval.")
		return
	}
	for _, a := range list {
		fmt.Fprintf(w, "%s  %s asks", a.ID, visible.Line(a.Member))
		if a.Task != 0 {
			fmt.Fprintf(w, " for #%d", a.Task)
		}
		if !a.ExpiresAt.IsZero() {
			fmt.Fprintf(w, ", denied in %s unless answered", Span(a.ExpiresAt.Sub(now)))
		}
		fmt.Fprintln(w)
		row(w, "tool", a.Tool)
		row(w, "arguments", compact(a.Arguments))
		row(w, "plan", a.Plan)
		row(w, "purpose", a.Purpose)
		row(w, "risk", a.Risk)
		row(w, "effect", a.Effect)
		row(w, "because", a.Reason)
	}
	fmt.Fprintln(w, "Answer with: approve ID, or deny ID")
}

func row(w io.Writer, name, value string) {
	if value != "" {
		fmt.Fprintf(w, "    %-10s %s\n", name, visible.Line(value))
	}
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
