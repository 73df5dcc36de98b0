// Package visible makes foreign text safe to print: what could steer a terminal, hide or reorder text is shown as an
// escape instead. Every face prints foreign text (subjects, mail, command output, names) through it.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one printable line: line breaks and tabs are escaped too.
func Line(s string) string { return escape(s, "") }

// Block returns s as printable text that keeps its line breaks and tabs. A carriage return before a line break is
// dropped, any other is escaped.
func Block(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

// Clip returns Line(s) cut to at most n code points, the last of them "…" if anything was cut.
func Clip(s string, n int) string {
	line := Line(s)
	if utf8.RuneCountInString(line) <= n {
		return line
	}
	runes := []rune(line)
	return string(runes[:max(n-1, 0)]) + "…"
}

func escape(s, keep string) string {
	if clean(s, keep) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case strings.ContainsRune(keep, r) || !steers(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += size
	}
	return b.String()
}

func clean(s, keep string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if steers(r) && !strings.ContainsRune(keep, r) {
			return false
		}
	}
	return true
}

// steers reports whether r moves the cursor, is invisible, or changes the direction of what follows.
func steers(r rune) bool {
	if r == '\u200d' { // joins the parts of an emoji; alone it shows nothing and changes nothing
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' ||
		(r >= 0xe0000 && r <= 0xe007f) || (r >= 0x180b && r <= 0x180f) || r == 0x034f || r == 0x115f || r == 0x1160 || r == 0x3164
}
