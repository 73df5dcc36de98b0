package strictjson

import (
	"errors"
	"strings"
	"testing"
)

func TestParseObjectRefuses(t *testing.T) {
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	for _, c := range []struct {
		name, src    string
		line, column int
		want         string // part of the message
	}{
		{"empty", "", 1, 1, "empty file"},
		{"only a mark", bom, 1, 1, "empty file"},
		{"only space", " \n", 1, 1, "empty file"},
		{"null", "null", 1, 1, "expected an object, found null"},
		{"array", "\n [1]", 2, 2, "expected an object, found an array"},
		{"string", `"x"`, 1, 1, "expected an object, found a string"},
		{"words", "hello", 1, 1, `unexpected 'h', expected an object`},
		{"comment", "// x\n{}", 1, 1, "comments are not allowed"},
		{"second object", "{}\n{}", 2, 1, "unexpected text after the object"},
		{"NUL tail", "{}\x00\x00", 1, 3, "NUL bytes after the object"},
		{"UTF-16 mark", "\xff\xfe{\x00}\x00", 1, 1, "UTF-16"},
		{"UTF-16 LE without mark", "{\x00}\x00", 1, 1, "UTF-16"},
		{"UTF-16 BE without mark", "\x00{\x00}", 1, 1, "UTF-16"},
		{"bad UTF-8", "{\"a\": \"é\xff\"}", 1, 9, "invalid UTF-8 (byte 0xff)"},
		{"duplicate key", "{\"a\": 1,\r\n \"a\": 2}", 2, 2, `duplicate key "a"`},
		{"duplicate key by escape", `{"a": 1, "\u0061": 2}`, 1, 10, `duplicate key "a"`},
		{"duplicate key below", `{"x": [{"b": 1, "b": 1}]}`, 1, 17, `duplicate key "b"`},
		{"too deep", `{"a": ` + deep + `}`, 1, 70, "nested too deeply"},
		{"single quotes", `{'a': 1}`, 1, 2, "strings need double quotes"},
		{"bare key", `{a: 1}`, 1, 2, `unexpected 'a'`},
		{"no colon", `{"a" 1}`, 1, 6, `expected ":"`},
		{"no comma", `{"a": 1 "b": 2}`, 1, 9, `expected "," or "}"`},
		{"trailing comma", `{"a": 1,}`, 1, 8, "trailing comma"},
		{"trailing comma in array", `{"a": [1, ]}`, 1, 9, "trailing comma"},
		{"half written", `{"a": [1`, 1, 9, "unexpected end of file"},
		{"half a string", `{"a": "x`, 1, 7, "string without an end"},
		{"half an escape", `{"a": "\`, 1, 9, "unexpected end of file"},
		{"leading zero", `{"a": 01}`, 1, 7, "malformed number"},
		{"bare minus", `{"a": -}`, 1, 7, "malformed number"},
		{"no fraction", `{"a": 1.}`, 1, 7, "no digit after the point"},
		{"no exponent", `{"a": 1e+}`, 1, 7, "no digit in the exponent"},
		{"hexadecimal", `{"a": 0x1}`, 1, 7, "malformed number"},
		{"plus", `{"a": +1}`, 1, 7, `unexpected '+'`},
		{"NaN", `{"a": NaN}`, 1, 7, `unexpected 'N'`},
		{"long literal", `{"a": nullx}`, 1, 7, `unexpected 'n'`},
		{"line break in string", "{\"a\": \"x\ny\"}", 1, 9, "line break in a string"},
		{"tab in string", "{\"a\": \"x\ty\"}", 1, 9, "U+0009"},
		{"unknown escape", `{"a": "\x41"}`, 1, 8, `unknown escape \x`},
		{"short escape", `{"a": "\u00g0"}`, 1, 8, "four hexadecimal digits"},
		{"lone high surrogate", `{"a": "\ud800"}`, 1, 8, `lone surrogate \ud800`},
		{"lone low surrogate", `{"a": "\udc00\ud800"}`, 1, 8, `lone surrogate \udc00`},
		{"column in code points", `{"日本": x}`, 1, 8, `unexpected 'x'`},
		{"mark is not counted", bom + `{x}`, 1, 2, `unexpected 'x'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseObject([]byte(c.src))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error is %v (%T), want *Error", err, err)
			}
			if e.Line != c.line || e.Column != c.column || !strings.Contains(e.Msg, c.want) {
				t.Errorf("got %v, want line %d, column %d: …%s…", e, c.line, c.column, c.want)
			}
		})
	}
}

func TestParseObjectAccepts(t *testing.T) {
	for name, src := range map[string]string{
		"empty object":   `{}`,
		"mark and CRLF":  bom + "{\r\n\t\"a\": 1\r\n}\r\n",
		"depth 64":       `{"a": ` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`,
		"pair":           `{"a": "\ud83d\ude00 😀"}`,
		"numbers":        `{"a": [0, -0, 1.5e+10, 12345678901234567890123, 1E3, 0.0]}`,
		"same key apart": `{"a": {"a": {"a": 1}}, "A": 2}`,
		"escaped NUL":    `{"a": "\u0000"}`,
		"empty key":      `{"": null}`,
	} {
		if _, err := ParseObject([]byte(src)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLimits(t *testing.T) {
	src := []byte(`{"a": {"b": []}}`)
	if _, err := (Limits{Depth: 3, Size: len(src)}).ParseObject(src); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := (Limits{Depth: 2}).ParseObject(src); err == nil {
		t.Error("depth 3 passes a limit of 2")
	}
	if _, err := (Limits{Size: len(src) - 1}).ParseObject(src); err == nil {
		t.Error("a file over the size limit passes")
	}
}

func TestMembersKeepOrderAndPlace(t *testing.T) {
	src := []byte(bom + "{\"b\" : 1, \"\\u00e4\": [true],\n\"c\":{\"x\": null}}")
	o, err := ParseObject(src)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, m := range o.Members() {
		keys = append(keys, m.Key)
		if string(src[m.Start:m.End]) != string(m.Raw) {
			t.Errorf("%s: offsets say %q, Raw says %q", m.Key, src[m.Start:m.End], m.Raw)
		}
		if src[m.KeyStart] != '"' {
			t.Errorf("%s: KeyStart is at %q", m.Key, src[m.KeyStart])
		}
	}
	if got := strings.Join(keys, " "); got != "b ä c" {
		t.Errorf("keys %q", got)
	}
	if _, ok := o.Get("B"); ok {
		t.Error("Get ignores case")
	}
}

func TestNestedErrorsHaveFilePositions(t *testing.T) {
	src := []byte("{\n  \"claim\": {\n    \"at\": 7\n  },\n  \"steps\": [\n    {\"run\": true}\n  ]\n}")
	o, err := ParseObject(src)
	if err != nil {
		t.Fatal(err)
	}
	claim, _ := o.Get("claim")
	inner, err := Nested(o, claim)
	if err != nil {
		t.Fatal(err)
	}
	at, _ := inner.Get("at")
	_, err = String(at)
	if got := inner.At(at, err).Error(); got != "line 3, column 11: at must be a string, not a number" {
		t.Error(got)
	}
	steps, _ := o.Get("steps")
	items, err := Elements(src, steps)
	if err != nil || len(items) != 1 {
		t.Fatalf("%d elements, %v", len(items), err)
	}
	step, err := Nested(o, items[0])
	if err != nil {
		t.Fatal(err)
	}
	run, _ := step.Get("run")
	if e := step.Errorf(run.Start, "x"); e.Line != 6 || e.Column != 13 {
		t.Errorf("step error at %v", e)
	}
}

func TestNestedAndElementsRefuseOtherKinds(t *testing.T) {
	src := []byte(`{"a": 1, "e": []}`)
	o, _ := ParseObject(src)
	a, _ := o.Get("a")
	if _, err := Nested(o, a); err == nil || err.Error() != "line 1, column 7: a must be an object, not a number" {
		t.Errorf("Nested: %v", err)
	}
	if _, err := Elements(src, a); err == nil || err.Error() != "line 1, column 7: a must be an array, not a number" {
		t.Errorf("Elements: %v", err)
	}
	e, _ := o.Get("e")
	if items, err := Elements(src, e); err != nil || len(items) != 0 {
		t.Errorf("empty array: %v %v", items, err)
	}
}

func TestDecoders(t *testing.T) {
	decode := map[string]func(Member) (any, error){
		"string": func(m Member) (any, error) { return String(m) },
		"int":    func(m Member) (any, error) { return Int64(m) },
		"id":     func(m Member) (any, error) { return ID(m) },
		"bool":   func(m Member) (any, error) { return Bool(m) },
	}
	for _, c := range []struct {
		as, raw string
		want    any // nil = refused
	}{
		{"string", `"a\n\ud83d\ude00"`, "a\n😀"},
		{"string", `null`, nil},
		{"int", `9007199254740993`, int64(9007199254740993)},
		{"int", `-9223372036854775808`, int64(-9223372036854775808)},
		{"int", `9223372036854775808`, nil},
		{"int", `1.0`, nil},
		{"int", `1e3`, nil},
		{"int", `"1"`, nil},
		{"id", `7`, int64(7)},
		{"id", `"7"`, int64(7)},
		{"id", `"07"`, nil},
		{"id", `"+7"`, nil},
		{"id", `""`, nil},
		{"id", `"0"`, nil},
		{"id", `-1`, nil},
		{"id", `7.0`, nil},
		{"id", `true`, nil},
		{"bool", `true`, true},
		{"bool", `false`, false},
		{"bool", `0`, nil},
	} {
		o, err := ParseObject([]byte(`{"v": ` + c.raw + `}`))
		if err != nil {
			t.Fatalf("%s: %v", c.raw, err)
		}
		m, _ := o.Get("v")
		got, err := decode[c.as](m)
		if c.want == nil && err == nil || c.want != nil && (err != nil || got != c.want) {
			t.Errorf("%s of %s = %v, %v; want %v", c.as, c.raw, got, err, c.want)
		}
	}
}
