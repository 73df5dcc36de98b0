// Package redact masks secrets in text before it leaves: to a model, a log, an event, a file or a screen. It knows the
// values of the secrets that this process holds, in the forms in which they travel, and the shapes of common secrets that
// it does not hold.
//
// Shapes are guesses. They are narrow where a wrong guess would hurt: source code that merely mentions a key stays as it
// is, because an agent that reads masked code writes masked code back.
package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Mark stands where a secret was. File tools refuse to write text that holds it.
const Mark = "‹redacted›"

// minValue is the shortest known value that is masked: shorter ones would hit ordinary words.
const minValue = 6

// Redactor masks secrets. It never changes, and any goroutine may use it. A nil Redactor masks nothing.
type Redactor struct {
	known  *strings.Replacer
	shapes []shape
}

// New makes a redactor for the given secret values and all known shapes.
func New(values ...string) *Redactor {
	return &Redactor{known: strings.NewReplacer(knownForms(values)...), shapes: shapes()}
}

// knownForms pairs every form of every value with the mark, longest first: of two that begin at the same place the
// replacer takes the first given.
func knownForms(values []string) []string {
	var forms []string
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < minValue {
			continue
		}
		quoted, _ := json.Marshal(v) // a string always encodes
		forms = append(forms, v, url.QueryEscape(v), url.PathEscape(v), hex.EncodeToString([]byte(v)),
			string(quoted[1:len(quoted)-1]))
		forms = append(forms, base64Forms(v)...)
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, Mark)
	}
	return pairs
}

// base64Forms are what of the value's base64 does not depend on what surrounds it, for the three places it can have in a
// group of three bytes.
func base64Forms(v string) []string {
	var forms []string
	for shift := range 3 {
		padded := append(make([]byte, shift), v...)
		whole := len(padded) / 3 * 3
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(padded[:whole])
			if shift > 0 {
				text = text[4:]
			}
			if len(text) >= minValue {
				forms = append(forms, text)
			}
		}
	}
	return forms
}

// String masks what it finds in s. Equal text comes back as the same string.
func (r *Redactor) String(s string) string {
	if r == nil || s == "" {
		return s
	}
	s = r.known.Replace(s)
	lower := lowerASCII(s)
	for _, shape := range r.shapes {
		if !shape.mayMatch(s, lower) {
			continue
		}
		if masked := shape.pattern.ReplaceAllStringFunc(s, shape.mask); masked != s {
			s, lower = masked, lowerASCII(masked)
		}
	}
	return s
}

// Bytes is String for bytes; b itself is not changed.
func (r *Redactor) Bytes(b []byte) []byte { return []byte(r.String(string(b))) }
