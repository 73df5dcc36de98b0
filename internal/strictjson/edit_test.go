package strictjson

import (
	"testing"
)

func set(key, value string) Change { return Change{Key: key, Value: []byte(value)} }
func remove(key string) Change     { return Change{Key: key} }

func TestEdit(t *testing.T) {
	const pretty = "{\n  \"a\": 1,\n  \"b\": [1, 2],\n  \"c\": \"x\"\n}\n"
	for _, c := range []struct {
		name, src string
		changes   []Change
		want      string
	}{
		{"replace", pretty, []Change{set("b", `{"y":1}`)}, "{\n  \"a\": 1,\n  \"b\": {\"y\":1},\n  \"c\": \"x\"\n}\n"},
		{"append in style", pretty, []Change{set("d", `true`), set("e", `2`)}, "{\n  \"a\": 1,\n  \"b\": [1, 2],\n  \"c\": \"x\",\n  \"d\": true,\n  \"e\": 2\n}\n"},
		{"remove first", pretty, []Change{remove("a")}, "{\n  \"b\": [1, 2],\n  \"c\": \"x\"\n}\n"},
		{"remove middle", pretty, []Change{remove("b")}, "{\n  \"a\": 1,\n  \"c\": \"x\"\n}\n"},
		{"remove last", pretty, []Change{remove("c")}, "{\n  \"a\": 1,\n  \"b\": [1, 2]\n}\n"},
		{"remove last and append", pretty, []Change{remove("c"), set("d", "4")}, "{\n  \"a\": 1,\n  \"b\": [1, 2],\n  \"d\": 4\n}\n"},
		{"remove all", pretty, []Change{remove("a"), remove("b"), remove("c")}, "{\n}\n"},
		{"replace all", pretty, []Change{remove("a"), remove("b"), remove("c"), set("z", "1")}, "{\n  \"z\": 1\n}\n"},
		{"spacing alone is no change", pretty, []Change{set("b", `[1,2]`)}, pretty},
		{"number literals differ", `{"n":1.0}`, []Change{set("n", `1`)}, `{"n":1}`},
		{"mark and CRLF", bom + "{\r\n\t\"a\": 1\r\n}", []Change{set("b", "2")}, bom + "{\r\n\t\"a\": 1,\r\n\t\"b\": 2\r\n}"},
		{"compact", `{"a":1,"b":2}`, []Change{set("c", "3")}, `{"a":1,"b":2,"c":3}`},
		{"compact single", `{"a":1}`, []Change{set("c", "3")}, `{"a":1,"c":3}`},
		{"one line single", `{"a": 1}`, []Change{set("c", "3")}, `{"a": 1, "c": 3}`},
		{"one line padded", `{ "a" : 1 }`, []Change{set("c", "3")}, `{ "a" : 1, "c" : 3 }`},
		{"empty", `{}`, []Change{set("a", "1"), set("b", "2")}, `{"a": 1, "b": 2}`},
		{"empty padded", `{ }`, []Change{set("a", "1")}, `{ "a": 1 }`},
		{"empty of two lines", "{\r\n}", []Change{set("a", "1")}, "{\r\n  \"a\": 1\r\n}"},
		{"blank line is not style", "{\n  \"a\": 1,\n\n  \"b\": 2\n}", []Change{set("c", "3")}, "{\n  \"a\": 1,\n\n  \"b\": 2,\n  \"c\": 3\n}"},
		{"value on its own line", "{\"a\":\n1}", []Change{set("b", "2")}, "{\"a\":\n1, \"b\": 2}"},
		{"odd commas", `{"a":1 , "b":2}`, []Change{remove("a"), set("c", "3")}, `{"b":2, "c":3}`},
		{"key needs quoting", `{}`, []Change{set("a\"<", "1")}, `{"a\"<": 1}`},
		{"key by escape", `{"\u0061": 1}`, []Change{set("a", "2")}, `{"\u0061": 2}`},
		{"last change of a key holds", `{"a":1}`, []Change{set("b", "1"), set("b", "2"), set("a", "5"), remove("a")}, `{"b":2}`},
		{"space around a value", `{"a":1}`, []Change{set("a", " 2\n")}, `{"a":2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Edit([]byte(c.src), c.changes)
			if err != nil || string(got) != c.want {
				t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
			}
		})
	}
}

func TestEditReturnsTheSourceWhenNothingDiffers(t *testing.T) {
	src := []byte("{ \"a\": [1, 2], \"n\": 1.50 }")
	got, err := Edit(src, []Change{set("a", "[1,2]"), set("n", "1.50"), remove("x")})
	if err != nil || &got[0] != &src[0] || len(got) != len(src) {
		t.Errorf("got %q, %v: not the source itself", got, err)
	}
}

func TestEditRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		src    string
		change Change
	}{
		"bad source":         {`{"a":}`, set("a", "1")},
		"bad value":          {`{}`, set("a", "{")},
		"empty value":        {`{}`, set("a", "")},
		"smuggled member":    {`{}`, set("a", `1, "b": 2`)},
		"value of two":       {`{}`, set("a", `1 2`)},
		"value not UTF-8":    {`{}`, set("a", "\"\xff\"")},
		"duplicate in value": {`{}`, set("a", `{"x":1,"x":1}`)},
	} {
		if got, err := Edit([]byte(c.src), []Change{c.change}); err == nil {
			t.Errorf("%s: accepted, result %q", name, got)
		}
	}
}
