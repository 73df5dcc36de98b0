// Package glob matches slash-separated paths against patterns with ** for any number of folders, {a,b} and [a-z]. It is
// the only door to the library behind it.
package glob

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Pattern is a valid pattern, cleaned. Case counts.
type Pattern struct{ text string }

// Parse reads a pattern. One without a slash matches the last part of a path in any folder; "./a" and "a/../b", which the
// library would silently match with nothing, are cleaned first.
func Parse(text string) (Pattern, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Pattern{}, fmt.Errorf("glob: the pattern is empty")
	}
	folder := strings.HasSuffix(text, "/")
	clean := path.Clean(text)
	switch {
	case folder:
		clean += "/**"
	case !strings.Contains(clean, "/"):
		clean = "**/" + clean
	}
	clean = strings.TrimPrefix(clean, "/")
	if !doublestar.ValidatePattern(clean) {
		return Pattern{}, fmt.Errorf("glob: %q is no valid pattern", text)
	}
	return Pattern{clean}, nil
}

// Match reports whether a relative path, without . and .. in it, matches.
func (p Pattern) Match(rel string) bool {
	ok, err := doublestar.Match(p.text, rel)
	return ok && err == nil
}
