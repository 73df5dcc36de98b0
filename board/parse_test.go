package board_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// vector is one entry of testdata/task.json.
type vector struct {
	Name   string
	File   string
	Text   string
	Base64 []byte
	Error  *struct {
		Line    int
		Column  int // 0 = not checked
		Message string
	}
	Want map[string]any
}

func (v vector) src() []byte {
	if v.Base64 != nil {
		return v.Base64
	}
	return []byte(v.Text)
}

func vectors(t testing.TB) (list []vector) {
	t.Helper()
	src, err := os.ReadFile("testdata/task.json")
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	if err := dec.Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestParseVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			task, err := board.Parse("some/folder/"+v.File, v.src())
			v.checkError(t, err)
			got := map[string]any{
				"id": task.ID, "subject": task.Subject, "status": task.Status, "owner": task.Owner,
				"blockedBy": task.BlockedBy, "blocks": task.Blocks, "priority": task.Priority, "steps": len(task.Steps),
			}
			for key, want := range v.Want {
				if a, b := asJSON(t, got[key]), asJSON(t, want); a != b {
					t.Errorf("%s is %s, want %s", key, a, b)
				}
			}
		})
	}
}

func (v vector) checkError(t *testing.T, err error) {
	t.Helper()
	if v.Error == nil {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	var invalid *board.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("error is %v", err)
	}
	if invalid.Path != "some/folder/"+v.File || invalid.Line != v.Error.Line ||
		v.Error.Column != 0 && invalid.Column != v.Error.Column {
		t.Errorf("place of %q, want %d:%d", err, v.Error.Line, v.Error.Column)
	}
	if v.Error.Message != "" && invalid.Reason != v.Error.Message || invalid.Reason == "" {
		t.Errorf("%q, want %q", invalid.Reason, v.Error.Message)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFileTooLarge(t *testing.T) {
	src := `{"subject":"s","description":"` + strings.Repeat("x", board.MaxFile) + `"}`
	if _, err := board.Parse("task_1.json", []byte(src)); err == nil || !strings.Contains(err.Error(), "larger than 256 KiB") {
		t.Error(err)
	}
}

func TestParseName(t *testing.T) {
	for _, c := range []struct {
		name string
		id   autonomy.TaskID
		task bool
		bad  bool
	}{
		{"task_1.json", 1, true, false},
		{"task_10.json", 10, true, false},
		{"task_01.json", 1, true, true},
		{"task_0.json", 0, true, true},
		{"task_99999999999999999999.json", 0, true, true},
		{"task_.json", 0, false, false},
		{"task_1.json~", 0, false, false},
		{".task_1.json.swp", 0, false, false},
		{"task_1.jsonx", 0, false, false},
		{"task_-1.json", 0, false, false},
		{"task_1x.json", 0, false, false},
		{"Task_1.json", 0, false, false},
		{"4913", 0, false, false},
	} {
		id, task, err := board.ParseName(c.name)
		if id != c.id || task != c.task || (err != nil) != c.bad {
			t.Errorf("%s: %d %v %v", c.name, id, task, err)
		}
	}
}

func TestPeopleFieldsIgnoreWhatTheBoardWrites(t *testing.T) {
	a := board.PeopleFields([]byte(`{"subject": "s", "n": 1.50, "status": "pending", "o": {"b": 1, "a": "<"}}`))
	b := board.PeopleFields([]byte(`{"o":{"a":"\u003c","b":1},"n":1.50,"subject":"s","status":"failed","claim":{"id":"x"},"attempt":3}`))
	if string(a) != string(b) || string(a) != `{"n":1.50,"o":{"a":"<","b":1},"subject":"s"}` {
		t.Errorf("%s\n%s", a, b)
	}
	if c := board.PeopleFields([]byte(`{"subject":"s","n":1.5,"o":{"a":"<","b":1}}`)); string(c) == string(a) {
		t.Error("another number literal is the same")
	}
}

// TestCorruption flips, zeroes and cuts a task file at every byte. Nothing may panic, and what is accepted must mean
// something.
func TestCorruption(t *testing.T) {
	src := []byte(`{"id":1,"subject":"s","status":"in_progress","owner":"a","blockedBy":[2,"3"],"priority":-4,` +
		`"steps":["x",{"run":"y","timeout":"5s","expect":{"exit":1}}],"notBefore":"2030-01-02T03:04:05Z",` +
		`"claim":{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","by":"a"},"failure":{"count":1,"deaths":2},"metadata":{"k":[]}}`)
	check := func(bad []byte) {
		t.Helper()
		task, err := board.Parse("task_1.json", bad)
		if err == nil && (task.Subject == "" || task.ID != 1) {
			t.Errorf("accepted %q as %+v", bad, task)
		}
	}
	for i := range src {
		check(src[:i])
		for _, b := range []byte{0, ' ', '"', '{', 0xff, src[i] ^ 1, src[i] ^ 0x20, src[i] ^ 0x80} {
			bad := bytes.Clone(src)
			bad[i] = b
			check(bad)
		}
		check(append(bytes.Clone(src[:i]), src[min(i+1, len(src)):]...))
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.src())
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		task, err := board.Parse("task_1.json", src)
		again, errAgain := board.Parse("task_1.json", bytes.Clone(src))
		if !reflect.DeepEqual(task, again) || (err == nil) != (errAgain == nil) {
			t.Fatal("reading twice gives two answers")
		}
		if err != nil {
			var invalid *board.InvalidError
			if !errors.As(err, &invalid) || invalid.Reason == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if !json.Valid(bytes.TrimPrefix(src, []byte("\ufeff"))) {
			t.Fatal("accepted what is no JSON")
		}
	})
}
