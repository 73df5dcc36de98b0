package slash

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// Mail writes a mailbox, oldest first; an asterisk marks what its owner has not read.
func Mail(w io.Writer, name autonomy.AgentName, mail []inbox.Listed) {
	if len(mail) == 0 {
		fmt.Fprintf(w, "No mail for %s.\n", visible.Line(string(name)))
		return
	}
	for _, m := range mail {
		sign := " "
		if !m.Read {
			sign = "*"
		}
		at := strings.Repeat(" ", len(time.DateTime)) // a line dropped by hand need not say when
		if !m.Timestamp.IsZero() {
			at = m.Timestamp.Local().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%s %s  %s from %s: %s\n", sign, at, m.Kind,
			visible.Line(string(m.From)), strings.ReplaceAll(visible.Block(strings.TrimSpace(m.Content)), "\n", "\n    "))
	}
}
