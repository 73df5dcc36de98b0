package sandbox

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// clean makes output fit for a transcript: valid UTF-8, no NUL, CRLF as LF.
func clean(b []byte) string {
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return strings.ReplaceAll(string(b), "\x00", "\uFFFD")
}
