package action

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func act(tool string, risk Risk, f func(*Action)) Action {
	a := Action{Tool: tool, Arguments: json.RawMessage(`{}`), Risk: risk, Fingerprint: Fingerprint(tool, nil)}
	if f != nil {
		f(&a)
	}
	return a
}

func TestScoreTable(t *testing.T) {
	purpose := func(a *Action) { a.Purpose = "look" }
	effects := func(a *Action) { a.SideEffects = true }
	fp := Fingerprint("t", nil)
	tests := []struct {
		name  string
		path  Path
		facts Facts
		want  float64
	}{
		{"low model path with purpose", Path{Source: FromModel, Actions: []Action{act("t", Low, purpose)}}, Facts{}, 0.10},
		{"candidate recipe, two successes", Path{Source: FromRecipe, Evidence: 2, Actions: []Action{act("t", Low, purpose)}}, Facts{}, 0.16},
		{"evidence is full at ten", Path{Evidence: 25, Actions: []Action{act("t", Low, purpose)}}, Facts{}, 0.40},
		{"high, side effect, no purpose", Path{Actions: []Action{act("t", High, effects)}}, Facts{}, -0.55},
		{"medium", Path{Actions: []Action{act("t", Medium, nil)}}, Facts{}, -0.175},
		{"unknown risk is high", Path{Actions: []Action{act("t", "", nil)}}, Facts{}, -0.35},
		{"averages", Path{Actions: []Action{act("t", High, effects), act("u", Low, purpose)}}, Facts{}, -0.225},
		{"already done", Path{Actions: []Action{act("t", Low, nil)}}, Facts{Done: map[string]bool{fp: true}}, -0.75},
		{"failed twice", Path{Actions: []Action{act("t", Low, nil)}}, Facts{Failures: map[string]int{fp: 2}}, -2},
		{"failed nine times counts three", Path{Actions: []Action{act("t", Low, nil)}}, Facts{Failures: map[string]int{fp: 9}}, -3},
		{"unavailable", Path{Actions: []Action{act("t", Low, func(a *Action) { a.Unavailable = true })}}, Facts{}, -1},
		{"unknown to the gateway, which says which there are", Path{Actions: []Action{act("t", Low, func(a *Action) { a.Unavailable, a.Invalid = true, "unknown tool" })}}, Facts{}, -1},
		{"invalid", Path{Actions: []Action{act("t", Low, func(a *Action) { a.Invalid = "no path" })}}, Facts{}, -1},
		{"empty", Path{}, Facts{}, -1000},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := Rate(tc.path, tc.facts).Total; got != tc.want {
				t.Fatalf("score %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSelectKeepsTheBeamInOrder(t *testing.T) {
	path := func(tool string, risk Risk) Path {
		return Path{Source: FromModel, Text: tool, Actions: []Action{act(tool, risk, nil)}}
	}
	got := Select([]Path{path("a", High), path("b", Low), path("c", Low), path("b", Low), path("d", Medium)}, Facts{}, 3)
	want := []struct{ text, dropped string }{{"b", ""}, {"c", ""}, {"d", ""}, {"b", DroppedDuplicate}, {"a", DroppedBeam}}
	if len(got) != len(want) {
		t.Fatalf("%d paths, want %d", len(got), len(want))
	}
	for i, w := range want {
		if got[i].Text != w.text || got[i].Dropped != w.dropped {
			t.Errorf("place %d: %s %q, want %s %q", i, got[i].Text, got[i].Dropped, w.text, w.dropped)
		}
	}
}

func TestCertainStandsAlone(t *testing.T) {
	got := Select([]Path{{Text: "a"}, {Text: "b", Certain: true}}, Facts{}, 3)
	if len(got) != 1 || got[0].Text != "b" || got[0].Score != (Score{}) {
		t.Fatalf("got %+v", got)
	}
}

func TestSelectLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 0, 9).Draw(t, "tools")
		var paths []Path
		for _, tool := range tools {
			paths = append(paths, Path{Actions: []Action{act(tool, rapid.SampledFrom([]Risk{Low, Medium, High}).Draw(t, "risk"), nil)}})
		}
		got := Select(paths, Facts{}, Beam)
		kept := 0
		for i, r := range got {
			if r.Dropped == "" {
				kept++
			}
			if i > 0 && r.Dropped == "" && got[i-1].Score.Total < r.Score.Total {
				t.Fatal("not sorted")
			}
		}
		if len(got) != len(paths) || kept > Beam || (len(paths) > 0 && kept == 0) {
			t.Fatalf("%d of %d paths, %d kept", len(got), len(paths), kept)
		}
	})
}

func TestCanonicalIgnoresOrderAndSpace(t *testing.T) {
	a := Fingerprint("bash", json.RawMessage(`{ "b": [1.0, 2e3], "a": "<x>" }`))
	b := Fingerprint("bash", json.RawMessage(`{"a":"<x>","b":[1.0,2e3]}`))
	if a != b {
		t.Error("order and space change the fingerprint")
	}
	if a == Fingerprint("bash", json.RawMessage(`{"a":"<x>","b":[1,2e3]}`)) {
		t.Error("a number written otherwise has the same fingerprint")
	}
	got, err := Canonical(json.RawMessage(`{"z":{"y":12345678901234567890,"x":null},"a":"<&>"}`))
	if want := `{"a":"<&>","z":{"x":null,"y":12345678901234567890}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if _, err := Canonical(json.RawMessage(`{} {}`)); err == nil {
		t.Error("two values were accepted")
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"b":1,"a":[true,null,"\u00e9"]}`, `{"a":1e999}`, `[`, `{"a":1}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := Canonical(raw)
		if err != nil {
			return
		}
		twice, err := Canonical(once)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("not stable: %s → %s (%v)", once, twice, err)
		}
	})
}
