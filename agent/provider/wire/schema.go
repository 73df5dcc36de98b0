package wire

import (
	"encoding/json"
	"slices"
	"strings"
)

// schema is what this package reads of a tool's JSON Schema.
type schema struct {
	properties map[string][]string // types of each top-level parameter
	required   []string
}

// readSchema reads what it can; a schema it does not understand forbids nothing and converts nothing.
func readSchema(raw json.RawMessage) schema {
	m := object(raw)
	s := schema{properties: map[string][]string{}}
	for name, p := range object(m["properties"]) {
		s.properties[name] = types(p)
	}
	for _, r := range list(m["required"]) {
		s.required = append(s.required, text(r))
	}
	return s
}

// types are the types a parameter may have; none when the schema does not say so plainly.
func types(raw json.RawMessage) []string {
	t := object(raw)["type"]
	if s := text(t); s != "" {
		return []string{s}
	}
	var out []string
	for _, e := range list(t) {
		out = append(out, text(e))
	}
	return out
}

// coerce rewrites top-level arguments that are strings although the parameter cannot be one: a number, a boolean, or
// JSON text of an object or array. A parameter that may be a string stays as it is, whatever it looks like.
func (s schema) coerce(args json.RawMessage) (json.RawMessage, bool) {
	m := object(args)
	changed := false
	for name, raw := range m {
		if v, ok := coerceValue(raw, s.properties[name]); ok {
			m[name] = v
			changed = true
		}
	}
	if !changed {
		return args, false
	}
	return encode(m), true
}

// coerceValue is the value that a string stands for if the parameter takes that type and no string.
func coerceValue(raw json.RawMessage, types []string) (json.RawMessage, bool) {
	if first(raw) != '"' || len(types) == 0 || slices.Contains(types, "string") {
		return nil, false
	}
	inner := strings.TrimSpace(text(raw))
	if !json.Valid([]byte(inner)) {
		return nil, false
	}
	v := json.RawMessage(inner)
	for _, t := range types {
		if typeOf(v) == t || t == "number" && typeOf(v) == "integer" {
			return v, true
		}
	}
	return nil, false
}

// typeOf is the JSON Schema type of a valid value; a number without fraction and exponent is an integer.
func typeOf(v json.RawMessage) string {
	switch c := first(v); c {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		if strings.ContainsAny(string(v), ".eE") {
			return "number"
		}
		return "integer"
	}
}

// typed reads a parameter that was written as text: a string where it may be one, JSON where it parses.
func (s schema) typed(name, value string) json.RawMessage {
	if types := s.properties[name]; slices.Contains(types, "string") || !json.Valid([]byte(value)) {
		return quote(value)
	}
	return json.RawMessage(strings.TrimSpace(value))
}

// missing reports whether a required parameter is not in args.
func (s schema) missing(args json.RawMessage) bool {
	m := object(args)
	for _, r := range s.required {
		if _, ok := m[r]; !ok {
			return true
		}
	}
	return false
}
