package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var seeds = []string{
	``, `{}`, `{"a": 1}`, bom + "{\r\n\t\"a\": [1, 2.50],\r\n\t\"b\": {\"c\": null}\r\n}",
	`{"a":"\ud83d\ude00","\u0061b":-0.1e-5}`, `{"a":"\ud800"}`, `{"a":1,"a":2}`, `[1]`, `null`, "{}\x00",
	`{"id": 1, "subject": "x", "blockedBy": ["2", 3], "metadata": {}}`, `{ "a" :1 , "b":[ ] }`,
}

// FuzzParseObject compares with encoding/json: what is accepted here is valid there, and what is refused here is either
// invalid there or breaks one of the rules that encoding/json does not have.
func FuzzParseObject(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		_, err := ParseObject(src)
		plain := bytes.TrimPrefix(src, []byte(bom))
		if err == nil {
			if !json.Valid(plain) {
				t.Fatalf("%q: accepted, but not JSON", src)
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Offset < 0 || e.Offset > len(src) {
			t.Fatalf("%q: bad error %#v", src, err)
		}
		stricter := []string{"duplicate key", "lone surrogate", "nested too deeply", "invalid UTF-8", "expected an object", "UTF-16"}
		for _, rule := range stricter {
			if strings.Contains(e.Msg, rule) {
				return
			}
		}
		if json.Valid(plain) {
			t.Fatalf("%q: valid, but refused: %v", src, err)
		}
	})
}

// FuzzEdit checks that an edit does what it says and leaves every other member as it was, byte for byte.
func FuzzEdit(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "a", []byte(`{"x": 1}`), "zz")
	}
	f.Fuzz(func(t *testing.T, src []byte, key string, value []byte, gone string) {
		if !utf8.ValidString(key) {
			t.Skip("Quote repairs such a key")
		}
		checkEdit(t, src, key, value, gone)
	})
}

func TestEditKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"a", "b", "c", "new", "ü"})
		space := rapid.SampledFrom([]string{"", " ", "\n", "\r\n\t", "  "})
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", bom}).Draw(t, "mark") + "{")
		for i, k := range rapid.SliceOfNDistinct(key, 0, 5, rapid.ID).Draw(t, "keys") {
			if i > 0 {
				b.WriteString(space.Draw(t, "s") + ",")
			}
			v := rapid.SampledFrom([]string{`1`, `1.0`, `"x"`, `[ 1, 2]`, `{"a": null}`}).Draw(t, "v")
			b.WriteString(space.Draw(t, "s") + string(Quote(k)) + space.Draw(t, "s") + ":" + space.Draw(t, "s") + v)
		}
		b.WriteString(space.Draw(t, "s") + "}" + space.Draw(t, "s"))
		if _, err := ParseObject([]byte(b.String())); err != nil {
			t.Fatalf("generated %q: %v", b.String(), err)
		}
		checkEdit(t, []byte(b.String()), key.Draw(t, "set"), []byte(`[true]`), key.Draw(t, "gone"))
	})
}

type failer interface{ Fatalf(string, ...any) }

// checkEdit sets key to value and removes gone (the removal wins when they are the same).
func checkEdit(t failer, src []byte, key string, value []byte, gone string) {
	before, err := ParseObject(src)
	out, editErr := Edit(src, []Change{{Key: key, Value: value}, {Key: gone}})
	if err != nil || editErr != nil {
		if err != nil && editErr == nil {
			t.Fatalf("%q: edited though it does not parse", src)
		}
		return
	}
	after, err := ParseObject(out)
	if err != nil {
		t.Fatalf("%q → %q: %v", src, out, err)
	}
	if m, ok := after.Get(gone); ok {
		t.Fatalf("%q → %q: %q is still there: %s", src, out, gone, m.Raw)
	}
	if m, ok := after.Get(key); key != gone && value != nil && (!ok || !sameValue(m.Raw, value)) {
		t.Fatalf("%q → %q: %q is %q, want %q", src, out, key, m.Raw, value)
	}
	var left []Member
	for _, m := range before.Members() {
		if m.Key != gone && (m.Key != key || value != nil) {
			left = append(left, m)
		}
	}
	if extra := len(after.Members()) - len(left); extra < 0 || extra > 1 {
		t.Fatalf("%q → %q: %d members more than left", src, out, extra)
	}
	for i, m := range left {
		n := after.Members()[i]
		if n.Key != m.Key || m.Key != key && !bytes.Equal(src[m.KeyStart:m.End], out[n.KeyStart:n.End]) {
			t.Fatalf("%q → %q: member %q became %q", src, out, src[m.KeyStart:m.End], out[n.KeyStart:n.End])
		}
	}
}
