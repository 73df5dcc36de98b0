package strictyaml_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/strictyaml"
)

type document struct {
	Name string        `yaml:"name"`
	Wait time.Duration `yaml:"wait"`
	On   bool          `yaml:"on"`
	Deep struct {
		N int `yaml:"n"`
	} `yaml:"deep"`
}

func TestDecode(t *testing.T) {
	var d document
	if err := strictyaml.Decode([]byte("name: a\r\nwait: 5s\non: yes\ndeep: {n: 3}\n"), "f", &d); err != nil {
		t.Fatal(err)
	}
	if d.Name != "a" || d.Wait != 5*time.Second || !d.On || d.Deep.N != 3 {
		t.Errorf("%+v", d)
	}
	for _, empty := range []string{"", "# only a comment\n", "---\n"} {
		if err := strictyaml.Decode([]byte(empty), "f", &d); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ src, want string }{
		{"name: a\nnmae: b\n", `f:2: unknown field "nmae"`},
		{"deep:\n  m: 1\n", `f:2: unknown field "m"`},
		{"name: a\nname: b\n", "f:2: mapping key"},
		{"name: [\n", "f:"},
		{"wait: 5\n", "f:1: cannot unmarshal"},
		{"name: a\n---\nname: b\n", "more than one document"},
		{"name: a\n--- [\n", "more than one document"},
		{"- a\n", "f:1: cannot unmarshal"},
		{"name: \"\x00\"\n", "f: control characters"},
		{strings.Repeat("#", strictyaml.MaxSize+1), "larger than"},
	}
	for _, test := range tests {
		var d document
		err := strictyaml.Decode([]byte(test.src), "f", &d)
		var at *strictyaml.Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: %v, want %q", test.src, err, test.want)
		}
	}
}

func TestFrontMatter(t *testing.T) {
	tests := []struct {
		src, front, body string
		err              error
	}{
		{"---\na: 1\n---\nbody\n---\n", "\na: 1\n", "body\n---\n", nil},
		{"\ufeff---\r\na: 1\r\n---\r\nbody", "\na: 1\r\n", "body", nil},
		{"---\n---\n", "\n", "", nil},
		{"---\na: 1\n---", "\na: 1\n", "", nil},
		{"body\n---\n", "", "body\n---\n", nil},
		{"--- \na: 1\n---\n", "", "--- \na: 1\n---\n", nil},
		{"---\na: 1\n", "", "", strictyaml.ErrUnclosed},
		{"", "", "", nil},
	}
	for _, test := range tests {
		front, body, err := strictyaml.FrontMatter([]byte(test.src))
		if string(front) != test.front || string(body) != test.body || !errors.Is(err, test.err) {
			t.Errorf("%q: %q, %q, %v", test.src, front, body, err)
		}
	}
	front, _, err := strictyaml.FrontMatter([]byte("---\nname: a\nx: 1\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := strictyaml.Decode(front, "f", &d); err == nil || err.Error() != `f:3: unknown field "x"` {
		t.Errorf("line in the document: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("name: a\nwait: 5s\n"))
	f.Add([]byte("&a [*a]\n"))
	f.Add([]byte("---\na: 1\n---\nb"))
	f.Fuzz(func(t *testing.T, src []byte) {
		var d document
		err := strictyaml.Decode(src, "f", &d)
		var at *strictyaml.Error
		if err != nil && (!errors.As(err, &at) || at.Line < 0) {
			t.Errorf("%q: %v", src, err)
		}
		if _, _, err := strictyaml.FrontMatter(src); err != nil && !errors.Is(err, strictyaml.ErrUnclosed) {
			t.Errorf("%q: %v", src, err)
		}
	})
}
