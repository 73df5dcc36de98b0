package wire

import (
	"regexp"
	"strings"
	"unicode"
)

// maxShown is how much of what a server said is shown, in bytes.
const maxShown = 300

const mask = "[redacted]"

// secretShape matches what looks like a key whatever its value: vendors' prefixes, authorization headers, user info in
// URLs. It is compiled once and never changed.
var secretShape = regexp.MustCompile(
	`(?i)\b(?:bearer|basic)\s+[a-z0-9._~+/=-]{8,}` +
		`|\b(?:sk|nvapi|xai|gsk|rk|pk|hf|ghp|gho|AIza)[-_][A-Za-z0-9_*.-]{6,}` +
		`|\bAIza[A-Za-z0-9_-]{20,}` +
		`|\b[0-9a-f]{24,}\.[A-Za-z0-9]{12,}` +
		`|//[^/\s:@]*:[^/\s@]+@` +
		`|(?:api[_-]?key|token|secret|password)["']?\s*[=:]\s*["']?[^\s"',;&]{6,}`)

// Redact makes text from outside fit to be shown: known secrets and what looks like one are masked, unprintable
// characters become spaces, and it is cut to a few hundred bytes.
func Redact(s string, secrets []string) string {
	if len(s) > 64<<10 {
		s = s[:64<<10]
	}
	for _, secret := range secrets {
		if len(secret) >= 4 {
			s = strings.ReplaceAll(s, secret, mask)
		}
	}
	s = secretShape.ReplaceAllString(s, mask)
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxShown {
		s = strings.ToValidUTF8(s[:maxShown], "") + "…"
	}
	return s
}
