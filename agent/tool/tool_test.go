package tool

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

type args struct {
	Path  string   `json:"path" jsonschema:"which file"`
	Limit int      `json:"limit,omitempty"`
	Ratio *float64 `json:"ratio,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Deep  []struct {
		Name string `json:"name"`
	} `json:"deep,omitempty"`
	Mutating
}

func TestSchemaHasSingleTypesAndIsClosed(t *testing.T) {
	var schema struct {
		Type       string
		Required   []string
		Additional any `json:"additionalProperties"`
		Properties map[string]struct {
			Type        any
			Description string
		}
	}
	if err := json.Unmarshal(SchemaOf[args](), &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || !slices.Equal(schema.Required, []string{"path"}) || schema.Additional == nil {
		t.Errorf("got %s", SchemaOf[args]())
	}
	for name, want := range map[string]string{
		"path": "string", "limit": "integer", "ratio": "number", "tags": "array", "deep": "array", "purpose": "string",
	} {
		if schema.Properties[name].Type != want {
			t.Errorf("%s has type %v, want %s", name, schema.Properties[name].Type, want)
		}
	}
	if schema.Properties["path"].Description != "which file" || strings.Contains(string(SchemaOf[args]()), "null") {
		t.Errorf("got %s", SchemaOf[args]())
	}
	if got := SchemaOf[struct{ F func() }](); got != nil {
		t.Errorf("a function was described: %s", got)
	}
}

func TestValidate(t *testing.T) {
	schema := SchemaOf[args]()
	for in, says := range map[string]string{
		`{"path":"a"}`: "", `{"path":"a","limit":3,"ratio":1,"tags":["x"],"purpose":"p","deep":[{"name":"n"}]}`: "",
		`{}`: `"path" is required`, ``: `"path" is required`, `{"path":1}`: `"path": wants string, found number`,
		`{"path":"a","limit":1.5}`: `"limit": wants integer`, `{"path":"a","limit":"3"}`: `"limit": wants integer, found string`,
		`{"path":null}`: `"path": wants string, found null`, `{"path":"a","pathh":"b"}`: `unknown parameter "pathh"; there are: deep, limit`,
		`{"path":"a","Path":"b"}`: `unknown parameter "Path"`, `{"path":"a","_x":1}`: `begin with _`, `[]`: "not a JSON object",
		`null`: "not a JSON object", `{"path":"a"`: "not a JSON object", `{"path":"a","deep":[{"name":1}]}`: "deep",
		`{"path":"a","deep":[{"name":"n","x":1}]}`: "x", `{"path":"a"} {}`: "not a JSON object",
	} {
		err := Validate(schema, json.RawMessage(in))
		if says == "" && err != nil || says != "" && (!errors.Is(err, ErrArguments) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: got %v, want %q", in, err, says)
		}
	}
	foreign := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	if err := Validate(foreign, json.RawMessage(`{"b":1}`)); err != nil {
		t.Errorf("an open schema: %v", err)
	}
}

func FuzzValidate(f *testing.F) {
	for _, seed := range []string{`{"path":"a"}`, `{"path":1}`, `{"_a":{}}`, `[`, `{"path":"a","limit":1e99}`, `{"path":"\u0000"}`} {
		f.Add([]byte(seed))
	}
	schema := SchemaOf[args]()
	f.Fuzz(func(t *testing.T, in []byte) {
		if err := Validate(schema, in); err != nil {
			return
		}
		if _, err := Decode[args](in); err != nil {
			t.Errorf("valid, but not to be decoded: %q: %v", in, err)
		}
	})
}

type named struct{ spec Spec }

func (n named) Spec() Spec                                 { return n.spec }
func (n named) Call(context.Context, Call) (Result, error) { return Result{}, nil }

func made(name, set string, on bool) Tool {
	return named{Spec{Name: name, Toolset: set, Default: on, Schema: SchemaOf[args]()}}
}

func TestRegistry(t *testing.T) {
	r, err := New(made("b", "one", true), made("a", "two", false), made("c", "one", true))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sets []string
		want []string
	}{
		{nil, []string{"b", "c"}}, {[]string{"two"}, []string{"a"}}, {[]string{"one", "two"}, []string{"b", "a", "c"}}, {[]string{}, []string{}},
	} {
		if got := r.Available(c.sets).Names(); !slices.Equal(got, c.want) {
			t.Errorf("available %v: %v, want %v", c.sets, got, c.want)
		}
	}
	if _, ok := r.Available(nil).Get("a"); ok {
		t.Error("a tool of a toolset that is off was found")
	}
	if err := r.Validate("a", json.RawMessage(`{}`)); !errors.Is(err, ErrArguments) {
		t.Errorf("got %v", err)
	}
	for name, tools := range map[string][]Tool{
		"twice": {made("a", "x", true), made("a", "x", true)}, "no name": {made("", "x", true)}, "no schema": {named{Spec{Name: "a"}}},
		"no object": {named{Spec{Name: "a", Schema: json.RawMessage(`{"type":"string"}`)}}},
	} {
		if _, err := New(tools...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCatalogSaysWhyNot(t *testing.T) {
	r, err := New(made("bash", "terminal", true), made("read_file", "file", true))
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	var all []string
	for _, s := range Catalog(r, []string{"terminal", "browser"}) {
		reasons[s.Name] = s.Reason
		all = append(all, s.Tools...)
		if s.Available != (s.Name == "terminal") || s.Available != (s.Reason == "") {
			t.Errorf("%+v", s)
		}
	}
	if !strings.Contains(reasons["file"], "tools enable file") || !strings.Contains(reasons["browser"], "not part") {
		t.Errorf("got %v", reasons)
	}
	// Fourteen of the tools that agents elsewhere have, under their names here.
	for _, name := range []string{
		"bash", "read_file", "write_file", "edit_file", "spawn_teammate", "list_teammates", "send_message", "read_inbox",
		"stop_teammate", "submit_plan", "review_plan", "idle", "claim_task",
	} {
		if !slices.Contains(all, name) {
			t.Errorf("the catalogue lacks %s", name)
		}
	}
}

func TestFiftyThousandCharactersAreShown(t *testing.T) {
	dir := t.TempDir()
	if short, file, err := Cap(strings.Repeat("é", 50_000), dir); err != nil || file != "" || utf8.RuneCountInString(short) != 50_000 {
		t.Errorf("cut at the limit: %d characters, %s, %v", utf8.RuneCountInString(short), file, err)
	}
	whole := strings.Repeat("é", 50_001)
	short, file, err := Cap(whole, dir)
	if kept := strings.Count(short, "é"); err != nil || kept != 50_000 {
		t.Errorf("%d characters kept, %v", kept, err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != whole {
		t.Errorf("the file holds %d bytes, %v", len(data), err)
	}
}

func TestCapProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "ä", "漢", "😀\n"}).Draw(t, "unit")
		content := strings.Repeat(unit, rapid.IntRange(0, 60_000).Draw(t, "n"))
		short, file, err := Cap(content, dir)
		n := utf8.RuneCountInString(content)
		switch {
		case err != nil:
			t.Fatal(err)
		case n <= MaxOutput && (short != content || file != ""):
			t.Fatalf("%d characters were cut", n)
		case n > MaxOutput:
			whole, err := os.ReadFile(file)
			if err != nil || string(whole) != content || utf8.RuneCountInString(short) > MaxOutput+60 || !utf8.ValidString(short) {
				t.Fatalf("%d characters became %d, file %q (%v)", n, utf8.RuneCountInString(short), file, err)
			}
		}
	})
}

func BenchmarkRegistry(b *testing.B) {
	tools := make([]Tool, 0, 26)
	for i := range 26 {
		tools = append(tools, made(string(rune('a'+i)), "x", true))
	}
	for b.Loop() {
		if _, err := New(tools...); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSchemaOf(b *testing.B) {
	for b.Loop() {
		SchemaOf[args]()
	}
}
