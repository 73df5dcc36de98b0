package provider

import (
	"bytes"
	"encoding/json"
)

// plainJSON is raw in compact form with the characters that encoding/json escapes for HTML written out. Storing a
// message escapes them and compacts, so only a form that undoes both is the same before and after.
func plainJSON(raw json.RawMessage) json.RawMessage {
	if isPlain(raw) && json.Valid(raw) {
		return raw
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return json.RawMessage("{}")
	}
	in := b.Bytes()
	if !bytes.Contains(in, []byte(`\u`)) {
		return in
	}
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		if in[i] != '\\' || i+1 >= len(in) {
			out = append(out, in[i])
			continue
		}
		if c, ok := plainEscape(in[i:]); ok {
			out = append(out, c...)
			i += 5
			continue
		}
		out = append(out, in[i], in[i+1])
		i++
	}
	return out
}

// plainEscape reads one of the escapes that encoding/json adds on its own.
func plainEscape(s []byte) (string, bool) {
	if len(s) < 6 {
		return "", false
	}
	switch string(bytes.ToLower(s[:6])) {
	case `\u003c`:
		return "<", true
	case `\u003e`:
		return ">", true
	case `\u0026`:
		return "&", true
	case `\u2028`:
		return "\u2028", true
	case `\u2029`:
		return "\u2029", true
	}
	return "", false
}

// isPlain reports whether valid JSON would come back as it is: there is no white space between its tokens and no \u in it.
func isPlain(raw []byte) bool {
	inside := false
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			inside = !inside
		case '\\':
			if i++; i < len(raw) && raw[i] == 'u' {
				return false
			}
		case ' ', '\t', '\r', '\n':
			if !inside {
				return false
			}
		}
	}
	return true
}
