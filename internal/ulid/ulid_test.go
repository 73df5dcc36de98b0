package ulid

import (
	"bytes"
	"testing"
	"time"
)

func TestNewIsValidAndTellsItsTime(t *testing.T) {
	before := time.Now().Truncate(time.Millisecond)
	id := New()
	after := time.Now()
	if !Valid(id) {
		t.Fatalf("New() = %q, not valid", id)
	}
	got, ok := Time(id)
	if !ok || got.Before(before) || got.After(after) {
		t.Fatalf("Time(%q) = %v %v, want between %v and %v", id, got, ok, before, after)
	}
}

func TestNewNeverRepeats(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		id := New()
		if seen[id] {
			t.Fatalf("%s came twice", id)
		}
		seen[id] = true
	}
}

func TestIdsSortByTime(t *testing.T) {
	start := time.UnixMilli(1_469_918_176_385)
	last := ""
	for i := range 200 {
		id := at(start.Add(time.Duration(i) * 7 * time.Millisecond))
		if id <= last {
			t.Fatalf("%s does not sort after %s", id, last)
		}
		last = id
	}
}

// The vectors follow from the specification's layout: all bits zero, all bits one, and its example time stamp.
func TestEncodeVectors(t *testing.T) {
	if got := encode([16]byte{}); got != "00000000000000000000000000" {
		t.Errorf("zero = %s", got)
	}
	if got := encode([16]byte(bytes.Repeat([]byte{0xff}, 16))); got != "7ZZZZZZZZZZZZZZZZZZZZZZZZZ" {
		t.Errorf("ones = %s", got)
	}
	if got := at(time.UnixMilli(1_469_918_176_385))[:10]; got != "01ARYZ6S41" {
		t.Errorf("time part = %s, want 01ARYZ6S41", got)
	}
}

func TestValidRefuses(t *testing.T) {
	for name, s := range map[string]string{
		"empty":       "",
		"short":       "01ARYZ6S41TSV4RRFFQ69G5FA",
		"long":        "01ARYZ6S41TSV4RRFFQ69G5FAVV",
		"lower case":  "01aryz6s41tsv4rrffq69g5fav",
		"letter U":    "01ARYZ6S41TSV4RRFFQ69G5FAU",
		"overflowing": "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
		"not ASCII":   "01ARYZ6S41TSV4RRFFQ69G5Fé",
	} {
		if Valid(s) {
			t.Errorf("%s: %q is valid", name, s)
		}
		if _, ok := Time(s); ok {
			t.Errorf("%s: %q has a time", name, s)
		}
	}
	if !Valid("01ARYZ6S41TSV4RRFFQ69G5FAV") {
		t.Error("the specification's example is refused")
	}
}

func FuzzValid(f *testing.F) {
	f.Add("01ARYZ6S41TSV4RRFFQ69G5FAV")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		ms, ok := Time(s)
		if ok != Valid(s) {
			t.Fatalf("Time and Valid disagree on %q", s)
		}
		if ok && at(ms)[:10] != s[:10] {
			t.Fatalf("%q does not survive its own time", s)
		}
	})
}
