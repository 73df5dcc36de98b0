package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy"
)

// InboxText wraps mail for the model: a JSON array inside <inbox>, with <, > and & written as \u003c, \u003e and
// \u0026, so that no message can end the block or open another.
func InboxText(letters []Letter) string {
	if letters == nil {
		letters = []Letter{}
	}
	body, err := json.Marshal(letters) // escapes HTML by default
	if err != nil {
		body = []byte("[]") // strings always encode
	}
	return "<inbox>" + string(body) + "</inbox>"
}

// ClaimedText tells the model which task it holds. Subject, description and notes are data: every <, > and & in them
// is escaped.
func ClaimedText(id autonomy.TaskID, subject, description, note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<auto-claimed>Task #%d: %s", id, escape(subject))
	for _, part := range []string{description, note} {
		if part != "" {
			b.WriteString("\n" + escape(part))
		}
	}
	b.WriteString("</auto-claimed>")
	return b.String()
}

// NoteText is a note of the program to a member in which names or errors of others may be quoted.
func NoteText(s string) string { return escape(s) }

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// defuse keeps text of any origin from looking like the identity block, whatever its case.
func defuse(s string) string {
	if !strings.Contains(strings.ToLower(s), "identity") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '<' && (hasFold(s[i+1:], "identity") || hasFold(s[i+1:], "/identity")) {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
