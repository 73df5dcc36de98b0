package wire

import (
	"encoding/json"
	"strings"
)

const (
	openThink  = "<think>"
	closeThink = "</think>"
)

// splitThinking takes thinking out of a whole content: blocks in tags at the start or at the start of a line,
// everything before a lone closing tag, and all of it if the tag at the start is never closed. Tags that are quoted, in
// a code fence or between backticks, are text.
func splitThinking(content string) (thinking, answer string) {
	var thoughts []string
	rest := content
	for {
		inner, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), openThink)
		if !ok {
			break
		}
		thought, after, closed := strings.Cut(inner, closeThink)
		thoughts = append(thoughts, thought)
		if !closed {
			return joinThoughts(thoughts), ""
		}
		rest = after
	}
	if i := findUnquoted(rest, closeThink); i >= 0 && !strings.Contains(rest[:i], openThink) {
		thoughts = append(thoughts, rest[:i])
		rest = rest[i+len(closeThink):]
	}
	for range maxMarks {
		i := findUnquoted(rest, "\n"+openThink)
		if i < 0 {
			break
		}
		inner, after, closed := strings.Cut(rest[i+1+len(openThink):], closeThink)
		if !closed {
			break
		}
		thoughts = append(thoughts, inner)
		rest = rest[:i+1] + strings.TrimLeft(after, "\r\n")
	}
	if len(thoughts) > 0 {
		rest = strings.TrimLeft(rest, " \t\r\n")
	}
	return joinThoughts(thoughts), rest
}

// joinThoughts puts blocks of thinking on lines of their own.
func joinThoughts(thoughts []string) string {
	var kept []string
	for _, t := range thoughts {
		if t = strings.TrimSpace(t); t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, "\n")
}

// maxMarks bounds how many quoted marks are looked at, since each look costs the length of the text.
const maxMarks = 64

// findUnquoted is the place of the first mark in s that is not quoted, or -1.
func findUnquoted(s, mark string) int {
	from := 0
	for range maxMarks {
		i := strings.Index(s[from:], mark)
		if i < 0 {
			return -1
		}
		if i += from; !quoted(s, i) {
			return i
		}
		from = i + len(mark)
	}
	return -1
}

// quoted reports whether position i is inside a code fence, or directly after a quotation mark or the > of a quotation.
func quoted(s string, i int) bool {
	if strings.Count(s[:i], "```")%2 == 1 {
		return true
	}
	lineStart := strings.LastIndexByte(s[:i], '\n') + 1
	line := s[lineStart:i]
	return strings.HasPrefix(strings.TrimSpace(line), ">") || strings.Count(line, "`")%2 == 1 ||
		strings.HasSuffix(line, `"`) || strings.HasSuffix(line, "'")
}

// thoughts gathers what came in fields of their own. The same text often comes under two names; it counts once.
type thoughts struct {
	order   []string
	texts   map[string]*strings.Builder
	details []fields
}

// add takes a piece that came under name and reports whether it is to be shown: only the name seen first is.
func (t *thoughts) add(name, piece string) bool {
	if piece == "" {
		return false
	}
	if t.texts == nil {
		t.texts = map[string]*strings.Builder{}
	}
	b, ok := t.texts[name]
	if !ok {
		b = &strings.Builder{}
		t.texts[name] = b
		t.order = append(t.order, name)
	}
	b.WriteString(piece)
	return t.order[0] == name
}

// addDetails takes reasoning_details; pieces of one entry are joined as the stream brings them.
func (t *thoughts) addDetails(raw json.RawMessage) string {
	var shown strings.Builder
	for _, r := range list(raw) {
		m := object(r)
		if m == nil {
			continue
		}
		shown.WriteString(text(m["text"]))
		shown.WriteString(text(m["summary"]))
		if n := len(t.details); n > 0 && continues(t.details[n-1], m) {
			joinDetail(t.details[n-1], m)
		} else if n < maxCalls*8 {
			t.details = append(t.details, m)
		}
	}
	return shown.String()
}

// continues reports whether b is the next piece of a: same kind, same place, no other id, and an index to tell by.
func continues(a, b fields) bool {
	return present(b["index"]) && string(a["index"]) == string(b["index"]) && string(a["type"]) == string(b["type"]) &&
		(!present(a["id"]) || !present(b["id"]) || string(a["id"]) == string(b["id"]))
}

// joinDetail appends the texts of a piece and takes over its other fields, such as a signature that comes last.
func joinDetail(into, piece fields) {
	for k, v := range piece {
		switch {
		case !present(v):
		case (k == "text" || k == "summary" || k == "data") && first(into[k]) == '"':
			into[k] = quote(text(into[k]) + text(v))
		default:
			into[k] = v
		}
	}
}

// text is all that was thought, each text once.
func (t *thoughts) text(more string) string {
	seen := map[string]bool{}
	var kept []string
	for _, name := range t.order {
		s := strings.TrimSpace(t.texts[name].String())
		if s != "" && !seen[s] {
			seen[s] = true
			kept = append(kept, s)
		}
	}
	if more = strings.TrimSpace(more); more != "" && !seen[more] {
		kept = append(kept, more)
	}
	return strings.Join(kept, "\n")
}
