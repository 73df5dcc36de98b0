package redact

import (
	"regexp"
	"strings"
)

// shape is one kind of secret. The first group of its pattern, if it has one, is what stays in front of the mark.
type shape struct {
	pattern *regexp.Regexp
	hints   []string                // one of them is in every match, in lower case
	quick   func(text string) bool  // nil = none; false = there is surely no match
	accept  func(match string) bool // nil = every match counts
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
	assigned.quick = assigns
	return []shape{
		compile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`,
			"private key"),
		compile(`\bsk-[A-Za-z0-9_-]{16,}`, "sk-"),
		compile(`\b(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|nvapi-|xai-|gsk_|pypi-|dop_v1_)[A-Za-z0-9_-]{16,}`,
			"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "hf_", "nvapi-", "xai-", "gsk_", "pypi-", "dop_"),
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
			`[^\s"'$<{(][^\s"']{5,}`, "key\"", "key'", "secret\"", "secret'", "token\"", "token'", "password", "passwd"),
		compile(`(?i)([?&](?:api_?key|access_token|auth_token|token|client_secret|sig|signature|x-amz-signature)=)[^&\s"'<>]{6,}`,
			"key=", "token=", "secret=", "sig=", "signature="),
	}
}

// mayMatch spares the pattern, which is slow, where no hint is in the text. lower is the text in lower case.
func (s shape) mayMatch(text, lower string) bool {
	if s.quick != nil && !s.quick(text) {
		return false
	}
	for _, hint := range s.hints {
		if strings.Contains(lower, hint) {
			return true
		}
	}
	return false
}

// assigns reports whether somewhere a name in capitals is directly followed by an equals sign.
func assigns(text string) bool {
	for rest := text; ; {
		i := strings.IndexByte(rest, '=')
		if i < 0 {
			return false
		}
		if i > 0 {
			if c := rest[i-1]; 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' {
				return true
			}
		}
		rest = rest[i+1:]
	}
}

// lowerASCII is s with its ASCII letters in lower case; all hints are ASCII.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
