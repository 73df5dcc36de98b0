package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// closingJunk is what models leave behind the arguments: special tokens and closing tags.
var closingJunk = regexp.MustCompile(`(?:\s*(?:<\|[^|<>]*\|>|</[A-Za-z_:｜|]+>))+\s*$`)

// RepairArguments turns the arguments of a call into a JSON object, in compact form. It only undoes known ways of
// wrapping a whole object and never completes one that was cut. changed says that the text had to be altered beyond
// white space; the error is for the model.
func RepairArguments(raw string) (obj json.RawMessage, changed bool, err error) {
	s := strings.TrimSpace(raw)
	if s == "" || s == "null" {
		return json.RawMessage("{}"), false, nil
	}
	parseErr := json.Unmarshal([]byte(s), new(fields))
	if parseErr == nil {
		return compact(s), false, nil
	}
	for _, try := range []func(string) string{
		unwrapString, unwrapString, stripDecoration, unwrapElement, escapeControls, dropCommas, pythonToJSON,
	} {
		s = strings.TrimSpace(try(s))
		if first([]byte(s)) == '{' && json.Valid([]byte(s)) {
			return compact(s), true, nil
		}
	}
	return nil, false, fmt.Errorf("arguments are not a JSON object: %w", parseErr)
}

// compact assumes valid JSON.
func compact(s string) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, []byte(s)) != nil {
		return json.RawMessage(s)
	}
	return b.Bytes()
}

// unwrapString opens a JSON string that holds the object.
func unwrapString(s string) string {
	if inner := text(json.RawMessage(s)); inner != "" && json.Valid([]byte(s)) {
		return inner
	}
	return s
}

// stripDecoration removes a code fence, a leading "json", and closing tags or special tokens at the end.
func stripDecoration(s string) string {
	s = closingJunk.ReplaceAllString(s, "")
	if rest, ok := strings.CutPrefix(s, "```"); ok {
		s = strings.TrimSuffix(strings.TrimSpace(rest), "```")
	}
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "json"); ok {
		s = rest
	}
	return s
}

// unwrapElement opens an array of one element.
func unwrapElement(s string) string {
	var l []json.RawMessage
	if json.Unmarshal([]byte(s), &l) == nil && len(l) == 1 {
		return string(l[0])
	}
	return s
}

// escapeControls escapes raw control characters inside strings.
func escapeControls(s string) string {
	var b strings.Builder
	inString, escape := false, false
	for i := range len(s) {
		c := s[i]
		if inString && c < 0x20 {
			if escape { // the backslash stood for itself
				escape = false
				b.WriteByte(0x5c)
			}
			fmt.Fprintf(&b, "\\u%04x", c)
			continue
		}
		switch {
		case escape:
			escape = false
		case inString && c == '\\':
			escape = true
		case c == '"':
			inString = !inString
		}
		b.WriteByte(c)
	}
	return b.String()
}

// dropCommas removes commas directly before a closing bracket.
func dropCommas(s string) string {
	var b strings.Builder
	inString, escape := false, false
	for i := range len(s) {
		c := s[i]
		switch {
		case escape:
			escape = false
		case inString && c == '\\':
			escape = true
		case c == '"':
			inString = !inString
		case c == ',' && !inString && closes(s[i+1:]):
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// closes reports whether the next thing in rest is a closing bracket.
func closes(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return rest != "" && (rest[0] == '}' || rest[0] == ']')
}

// splitObjects cuts arguments that are several complete objects in a row; one object, or anything else, is one piece.
func splitObjects(s string) []string {
	dec := json.NewDecoder(strings.NewReader(s))
	var out []string
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil || first(raw) != '{' {
			break
		}
		out = append(out, string(raw))
		if strings.TrimSpace(s[dec.InputOffset():]) == "" {
			return out
		}
		if len(out) > maxCalls {
			break
		}
	}
	return []string{s}
}
