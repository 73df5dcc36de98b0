package redact

import (
	"regexp"
	"strings"
)

// shape is one kind of secret. The first group of its pattern, if it has one, is what stays in front of the mark.
type shape struct {
	pattern *regexp.Regexp
	hints   []string // one of them is in every match, in lower case
	accept  func(match string) bool
}

func (s shape) mask(match string) string {
	if s.accept != nil && !s.accept(match) {
		return match
	}
	groups := s.pattern.FindStringSubmatch(match)
	if len(groups) > 1 {
		return groups[1] + Mark
	}
	return Mark
}

func shapes() []shape {
	compile := func(pattern string, hints ...string) shape {
		return shape{pattern: regexp.MustCompile(pattern), hints: hints}
	}
	basic := compile(`(?i)(\bbasic\s+)[A-Za-z0-9+/]{12,}={0,2}`, "basic")
	basic.accept = func(m string) bool { return strings.ContainsAny(m[5:], "0123456789+/=") }
	assigned := compile(`(\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|CREDENTIALS)[A-Z0-9_]*=["']?)`+
		`[^\s"'$<{(][^\s"']{5,}`, "key", "token", "secret", "passw", "credential")
	return []shape{
		compile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`,
			"private key"),
		compile(`\bsk-[A-Za-z0-9_-]{16,}`, "sk-"),
		compile(`\b(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|nvapi-|xai-|gsk_|pypi-|dop_v1_)[A-Za-z0-9_-]{16,}`,
			"gh", "github_pat_", "glpat-", "npm_", "hf_", "nvapi-", "xai-", "gsk_", "pypi-", "dop_"),
		compile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, "akia", "asia"),
		compile(`\bxox[abeprs]-[A-Za-z0-9-]{10,}`, "xox"),
		compile(`\bAIza[A-Za-z0-9_-]{35}`, "aiza"),
		compile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, "eyj"),
		compile(`(?i)(\bbearer\s+)[A-Za-z0-9+/=._~-]{16,}`, "bearer"),
		basic,
		compile(`(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+)[^\s"',\\]+`, "authorization"),
		compile(`(\b[a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s:@"']*:[^/\s@"']+@`, "://"),
		compile(`(\bhttps?://)[A-Za-z0-9_-]{20,}@`, "://"),
		compile(`(?i)(\b(?:set-)?cookie["']?\s*:\s*["']?)[^\r\n"']+=[^\r\n"']+`, "cookie"),
		assigned,
		compile(`(?i)(["'](?:[a-z0-9_-]*(?:api_?key|secret|token|password|passwd|private_?key))["']\s*:\s*["'])`+
			`[^\s"'$<{(][^\s"']{5,}`, "key", "secret", "token", "passw"),
		compile(`(?i)([?&](?:api_?key|access_token|auth_token|token|client_secret|sig|signature|x-amz-signature)=)[^&\s"'<>]{6,}`,
			"key=", "token=", "secret=", "sig=", "signature="),
	}
}

// mayMatch spares the pattern where no hint is in the text. Letters are compared without case.
func (s shape) mayMatch(text string) bool {
	for _, hint := range s.hints {
		if containsFold(text, hint) {
			return true
		}
	}
	return false
}

// containsFold looks for an ASCII hint in lower case.
func containsFold(text, hint string) bool {
	first := hint[0]
	upper := first
	if 'a' <= first && first <= 'z' {
		upper -= 'a' - 'A'
	}
	for rest := text; len(rest) >= len(hint); {
		i := strings.IndexByte(rest, first)
		if upper != first {
			if j := strings.IndexByte(rest, upper); j >= 0 && (i < 0 || j < i) {
				i = j
			}
		}
		if i < 0 || len(rest)-i < len(hint) {
			return false
		}
		if strings.EqualFold(rest[i:i+len(hint)], hint) {
			return true
		}
		rest = rest[i+1:]
	}
	return false
}
