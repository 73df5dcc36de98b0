package slash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
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
		row(w, "arguments", Arguments(a.Arguments))
		row(w, "plan", a.Plan)
		row(w, "in", a.Dir)
		row(w, "purpose", a.Purpose)
		row(w, "risk", a.Risk)
		row(w, "effect", a.Effect)
		row(w, "because", a.Reason)
	}
	fmt.Fprintln(w, "Answer with: autonomy approve ID, or deny ID (in chat /approve ID, /deny ID)")
}

func row(w io.Writer, name, value string) {
	if value != "" {
		fmt.Fprintf(w, "    %-10s %s\n", name, visible.Line(value))
	}
}

// Arguments renders the arguments of a call on one line, with <, > and & as they were meant: encoding/json escapes them,
// and a redirection should look like one to whoever approves it.
func Arguments(raw json.RawMessage) string {
	var b bytes.Buffer
	text := string(raw)
	if len(raw) > 0 && json.Compact(&b, raw) == nil {
		text = b.String()
	}
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			plain.WriteByte(text[i])
			continue
		}
		switch strings.ToLower(text[i:min(i+6, len(text))]) {
		case `\u003c`:
			plain.WriteByte('<')
			i += 5
		case `\u003e`:
			plain.WriteByte('>')
			i += 5
		case `\u0026`:
			plain.WriteByte('&')
			i += 5
		default: // another escape, in whole, so that its second backslash begins none
			plain.WriteString(text[i : i+2])
			i++
		}
	}
	return visible.Line(plain.String())
}
