package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// The functions in this file read JSON that may have any shape: what does not fit reads as absent.

type fields = map[string]json.RawMessage

// object reads raw as an object; nil when it is none. Keys are matched exactly, unlike with structs.
func object(raw json.RawMessage) fields {
	if first(raw) != '{' {
		return nil
	}
	var m fields
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// list reads raw as an array; one object alone is a list of one.
func list(raw json.RawMessage) []json.RawMessage {
	switch first(raw) {
	case '{':
		return []json.RawMessage{raw}
	case '[':
		var l []json.RawMessage
		if json.Unmarshal(raw, &l) == nil {
			return l
		}
	}
	return nil
}

// text reads raw as a string; "" when it is none.
func text(raw json.RawMessage) string {
	if first(raw) != '"' {
		return ""
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// word reads a string or a number as text.
func word(raw json.RawMessage) string {
	switch c := first(raw); {
	case c == '"':
		return text(raw)
	case c == '-' || c >= '0' && c <= '9':
		return string(bytes.TrimSpace(raw))
	}
	return ""
}

// number reads a number, or a string that holds one.
func number(raw json.RawMessage) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(word(raw)), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// count reads a number of tokens; negative and absurd values are 0.
func count(raw json.RawMessage) int {
	f, ok := number(raw)
	if !ok || f < 0 || f > 1e12 {
		return 0
	}
	return int(f)
}

// present reports whether raw is there and not null.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

// first is the first byte that is no space, 0 when there is none.
func first(raw []byte) byte {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// quote is s as JSON text.
func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string cannot fail
	return b
}

// encode is v as JSON with sorted keys and without the HTML escapes that would only cost tokens.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil // only for values that came from JSON and go back to it
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
