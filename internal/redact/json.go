package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON masks every string of a JSON value with mask, names of members included, and reports whether there was anything
// to mask. All that is not masked stays as it is, byte for byte. Text that is no JSON comes back as a masked JSON string.
func JSON(raw json.RawMessage, mask func(string) string) (masked json.RawMessage, found bool) {
	text := string(raw)
	whole := mask(text)
	if !json.Valid(raw) {
		return quote(whole), whole != text
	}
	w := walker{raw: raw, mask: mask, all: whole != text}
	if !w.all && !strings.Contains(text, `\`) {
		return raw, false
	}
	for w.next() {
	}
	if w.from == 0 {
		return raw, false
	}
	return append(w.out, raw[w.from:]...), true
}

// walker goes from string to string through valid JSON.
type walker struct {
	raw  []byte
	mask func(string) string
	// all says that any string may hold a secret. Without it the text as a whole holds none, so that only strings whose
	// escapes could hide one are looked at.
	all bool

	at, from int    // where it is, and where the part begins that is not in out yet
	out      []byte // masked so far
	name     string // of the member whose value comes next
	named    bool   // and that value is a string
}

// next masks the next string; false when there is none.
func (w *walker) next() bool {
	skip := bytes.IndexByte(w.raw[w.at:], '"')
	if skip < 0 {
		return false
	}
	begin := w.at + skip
	end := begin + 1
	for escaped := false; escaped || w.raw[end] != '"'; end++ {
		escaped = !escaped && w.raw[end] == '\\'
	}
	end++
	w.at = end
	literal := w.raw[begin:end]
	isName := w.follows(":")
	if w.all || bytes.IndexByte(literal, '\\') >= 0 {
		w.string(literal, begin, end, isName)
	} else {
		w.named = false
	}
	return true
}

// string masks one string.
func (w *walker) string(literal []byte, begin, end int, isName bool) {
	var s string
	_ = json.Unmarshal(literal, &s) // the whole is valid
	m := w.mask(s)
	if w.named && !isName && m == s && w.member(s) {
		m = Mark
	}
	if m != s {
		w.out = append(append(w.out, w.raw[w.from:begin]...), quote(m)...)
		w.from = end
	}
	w.name, w.named = s, isName && w.follows(`:"`)
}

// member reports whether the name of a value makes it a secret, as in {"API_KEY": "…"}: the shape needs both to see it.
func (w *walker) member(value string) bool {
	pair := `"` + w.name + `": "` + value + `"`
	return w.mask(pair) != pair
}

// follows reports whether the next bytes that are no white space are those of text.
func (w *walker) follows(text string) bool {
	rest := w.raw[w.at:]
	for i := range len(text) {
		rest = bytes.TrimLeft(rest, " \t\r\n")
		if len(rest) == 0 || rest[0] != text[i] {
			return false
		}
		rest = rest[1:]
	}
	return true
}

// quote is s as a JSON string.
func quote(s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
