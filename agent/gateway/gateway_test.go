package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/machine"
)

func TestAssess(t *testing.T) {
	g := open(t, nil, reader(), writer(), plain{&fake{name: "plain"}})
	for _, c := range []struct {
		name string
		in   action.Action
		want action.Action
	}{
		{"low", act("reader", `{}`), action.Action{Risk: action.Low, ReadOnly: true}},
		{"medium", act("writer", `{}`), action.Action{Risk: action.Medium, SideEffects: true, Effect: "write", Plan: "read again"}},
		{"a tool that does not judge is high", act("plain", `{}`), action.Action{Risk: action.High, SideEffects: true}},
		{"shell is high", act("bash", `{"command":"ls"}`), action.Action{Risk: action.High, SideEffects: true, Effect: "run a shell command", Plan: "exit status 0"}},
		{"stated purpose is the effect", act("writer", `{"purpose":"why"}`), action.Action{Risk: action.Medium, SideEffects: true, Purpose: "why", Effect: "why", Plan: "read again"}},
		{"a proposer may raise", action.Action{Tool: "reader", Risk: action.High}, action.Action{Risk: action.High, ReadOnly: true}},
		{"and not lower", action.Action{Tool: "writer", Risk: action.Low}, action.Action{Risk: action.Medium, SideEffects: true, Effect: "write", Plan: "read again"}},
		{"unknown tool", act("nope", `{}`), action.Action{Risk: action.High, SideEffects: true, Unavailable: true}},
		{"unknown key", act("reader", `{"texd":"x"}`), action.Action{Risk: action.High, SideEffects: true, Invalid: "x"}},
		{"underscore key", act("reader", `{"_risk":"low"}`), action.Action{Risk: action.High, SideEffects: true, Invalid: "x"}},
		{"secret", act("reader", `{"text":"`+canary+`"}`), action.Action{Risk: action.Low, ReadOnly: true, Redacted: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := g.Assess(c.in)
			if got.Risk != c.want.Risk || got.SideEffects != c.want.SideEffects || got.Effect != c.want.Effect ||
				got.Plan != c.want.Plan || got.Purpose != c.want.Purpose || got.ReadOnly != c.want.ReadOnly ||
				got.Redacted != c.want.Redacted || got.Unavailable != c.want.Unavailable ||
				(c.want.Invalid != "") != (got.Invalid != "" && !got.Unavailable) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if len(got.Fingerprint) != 64 {
				t.Errorf("fingerprint %q", got.Fingerprint)
			}
		})
	}
	a, b := g.Assess(act("reader", `{"text":"`+canary+`"}`)), g.Assess(act("reader", `{"text":"‹redacted›"}`))
	if a.Fingerprint != b.Fingerprint {
		t.Error("the fingerprint is not that of the redacted arguments")
	}
}

func TestModes(t *testing.T) {
	low, medium, high := reader(), writer(), &fake{name: "other", assess: tool.Assessment{Risk: action.High, SideEffects: true}}
	allow, ask, deny := action.Allow, action.Ask, action.Deny
	for _, c := range []struct {
		mode           Mode
		effective      bool
		person, direct bool
		want           [4]action.Decision // low, medium, high, shell
	}{
		{ModeAuto, false, false, false, [4]action.Decision{allow, ask, ask, ask}},
		{ModeAuto, true, false, false, [4]action.Decision{allow, allow, ask, ask}},
		{ModeAuto, false, true, true, [4]action.Decision{allow, allow, ask, allow}},
		{ModeAuto, false, true, false, [4]action.Decision{allow, ask, ask, ask}}, // what a model proposes on a person's task
		{ModeAuto, false, false, true, [4]action.Decision{allow, ask, ask, ask}}, // steps of a task that a member wrote
		{ModeAsk, true, true, true, [4]action.Decision{allow, ask, ask, ask}},
		{ModeReadOnly, true, true, true, [4]action.Decision{allow, deny, deny, deny}},
		{ModeFull, false, false, false, [4]action.Decision{allow, allow, allow, allow}},
		{"nonsense", true, false, false, [4]action.Decision{allow, deny, deny, deny}},
	} {
		g := open(t, func(cfg *Config) {
			cfg.Policy, cfg.Env.Person = Modes(c.mode, c.effective), c.person
		}, low, medium, high)
		for i, a := range []action.Action{act("reader", `{}`), act("writer", `{}`), act("other", `{}`), act("bash", `{"command":"ls"}`)} {
			a.Direct = c.direct
			if got := g.Explain(a); got.Decision != c.want[i] || len(got.Reasons) == 0 {
				t.Errorf("%s (effective %v, person %v, direct %v): %s is %s, want %s", c.mode, c.effective, c.person, c.direct, a.Tool, got.Decision, c.want[i])
			}
		}
	}
	refused := act("bash", `{"command":"cd x && autonomy approve 01ABC"}`)
	if got := open(t, nil).Explain(refused); got.Decision != action.Refuse {
		t.Errorf("mode full lets an approval through: %+v", got)
	}
}

func TestNobodyToAskIsNo(t *testing.T) {
	w := writer()
	g := open(t, func(c *Config) { c.Policy = Modes(ModeAuto, false) }, w)
	adm, _ := do(t, g, act("writer", `{}`))
	if adm.Decision != action.Deny || !adm.Asked || adm.By != "nobody" || adm.Token != nil || w.calls != 0 {
		t.Errorf("got %+v, %d calls", adm, w.calls)
	}
}

func TestAdmissionIsForOneActionOnce(t *testing.T) {
	w := writer()
	g, other := open(t, nil, w), open(t, nil, w)
	a := g.Assess(act("writer", `{"text":"a"}`))
	admit := func() action.Admission {
		adm, err := g.Admit(t.Context(), a)
		if err != nil || adm.Decision != action.Allow {
			t.Fatalf("%+v, %v", adm, err)
		}
		return adm
	}
	changed := a
	changed.Arguments = []byte(`{"text":"b"}`)
	forged := admit()
	forged.Token = &token{}
	for name, run := range map[string]func() error{
		"none": func() error { _, err := g.Execute(t.Context(), a, action.Admission{}); return err },
		"only a decision": func() error {
			_, err := g.Execute(t.Context(), a, action.Admission{Decision: action.Allow})
			return err
		},
		"forged":          func() error { _, err := g.Execute(t.Context(), a, forged); return err },
		"other arguments": func() error { _, err := g.Execute(t.Context(), changed, admit()); return err },
		"other gateway":   func() error { _, err := other.Execute(t.Context(), a, admit()); return err },
		"denied after all": func() error {
			adm := admit()
			adm.Decision = action.Deny
			_, err := g.Execute(t.Context(), a, adm)
			return err
		},
	} {
		if err := run(); !errors.Is(err, ErrNotAdmitted) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if w.calls != 0 {
		t.Fatalf("ran %d times without admission", w.calls)
	}
	adm := admit()
	reordered := a
	reordered.Arguments = []byte(` { "text" : "a" } `)
	if _, err := g.Execute(t.Context(), reordered, adm); err != nil {
		t.Errorf("the same arguments written otherwise: %v", err)
	}
	if _, err := g.Execute(t.Context(), a, adm); !errors.Is(err, ErrNotAdmitted) || w.calls != 1 {
		t.Errorf("second use: %v, %d calls", err, w.calls)
	}
}

func TestExecuteShellSteps(t *testing.T) {
	three := 3
	for _, c := range []struct {
		name, command string
		expect        *action.Expect
		status        action.Status
		verified      bool
		says          string
	}{
		{"success", "echo hi", nil, action.OK, true, "hi\n[exit status 0]"},
		{"failure", "echo no; exit 4", nil, action.Failed, false, "no\n[exit status 4]"},
		{"expected status", "exit 3", &action.Expect{Exit: &three}, action.OK, true, "[exit status 3]"},
		{"unexpected status", "exit 0", &action.Expect{Exit: &three}, action.Failed, false, "exit status 0, wanted 3"},
		{"contains", "echo all good", &action.Expect{Contains: "good"}, action.OK, true, "good"},
		{"contains not", "echo bad", &action.Expect{Contains: "good"}, action.Failed, false, `does not contain "good"`},
		{"contains in the middle of much", "seq 30000; echo needle; seq 30000", &action.Expect{Contains: "needle"}, action.OK, true, "left out"},
		{"file", "touch made.txt", &action.Expect{File: "made.txt"}, action.OK, true, ""},
		{"no file", "true", &action.Expect{File: "made.txt"}, action.Failed, false, "no file made.txt"},
		{"secret", "echo " + canary, nil, action.OK, true, "‹redacted›"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := act("bash", `{"command":"`+c.command+`"}`)
			a.Expect = c.expect
			_, o := do(t, open(t, nil), a)
			if o.Status != c.status || o.Verified == nil || *o.Verified != c.verified || !strings.Contains(o.Output, c.says) || !o.Wrote {
				t.Errorf("got %+v", o)
			}
			if strings.Contains(o.Output, canary) || o.Call != "c1" || o.Tool != "bash" || o.Exit == nil {
				t.Errorf("got %+v", o)
			}
		})
	}
}

func TestStepTimeoutEndsTheCommand(t *testing.T) {
	a := act("bash", `{"command":"echo up; sleep 100"}`)
	a.Timeout = 200 * time.Millisecond
	_, o := do(t, open(t, nil), a)
	if o.Status != action.Failed || !strings.Contains(o.Output, "ended after its deadline of 200ms") {
		t.Errorf("got %+v", o)
	}
}

func TestCancelledActionIsAborted(t *testing.T) {
	g := open(t, nil)
	a := g.Assess(act("bash", `{"command":"touch started; sleep 100"}`))
	adm, err := g.Admit(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for range time.Tick(5 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(g.env.Dir, "started")); err == nil {
				cancel(errors.New("taken away"))
				return
			}
		}
	}()
	o, err := g.Execute(ctx, a, adm)
	if err != nil || o.Status != action.Aborted || !strings.Contains(o.Output, "taken away") || !o.Wrote {
		t.Errorf("got %+v, %v", o, err)
	}
}

func TestToolThatPanics(t *testing.T) {
	w := writer()
	w.call = func(context.Context, tool.Call) (tool.Result, error) { panic("boom " + canary) }
	var troubles []Trouble
	g := open(t, func(c *Config) { c.Report = func(tr Trouble) { troubles = append(troubles, tr) } }, w)
	_, o := do(t, g, act("writer", `{}`))
	if o.Status != action.Failed || !strings.Contains(o.Output, "boom") || strings.Contains(o.Output, canary) || !o.Wrote {
		t.Errorf("got %+v", o)
	}
	if len(troubles) != 1 || !strings.Contains(troubles[0].Text, "goroutine") {
		t.Errorf("troubles: %+v", troubles)
	}
}

func TestTroubleOfTheMachineIsNoObservation(t *testing.T) {
	for name, trouble := range map[string]error{"no descriptors": syscall.EMFILE, "marked": machine.Trouble(errors.New("no launcher"))} {
		t.Run(name, func(t *testing.T) {
			w := writer()
			w.call = func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{}, fmt.Errorf("start: %w", trouble)
			}
			g := open(t, nil, w)
			a := g.Assess(act("writer", `{}`))
			adm, err := g.Admit(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			if o, err := g.Execute(t.Context(), a, adm); !errors.Is(err, trouble) || o.Status != action.NotRun {
				t.Errorf("got %+v, %v", o, err)
			}
		})
	}
}

func TestToolThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := reader()
		r.call = func(context.Context, tool.Call) (tool.Result, error) { <-release; return tool.Result{}, nil }
		g := open(t, nil, r)
		begun := time.Now()
		_, o := do(t, g, act("reader", `{}`))
		if o.Status != action.Failed || time.Since(begun) != DefaultLimit+3*margin {
			t.Errorf("got %+v after %s", o, time.Since(begun))
		}
		close(release)
	})
}

func TestEffectThatIsNotThereFails(t *testing.T) {
	w := writer()
	w.verified = false
	_, o := do(t, open(t, nil, w), act("writer", `{}`))
	if o.Status != action.Failed || o.Verified == nil || *o.Verified || o.Check != "looked" {
		t.Errorf("got %+v", o)
	}
}

func TestLargeResultGoesToAFile(t *testing.T) {
	r := reader()
	r.call = func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Content: strings.Repeat("ä", tool.MaxOutput) + canary + strings.Repeat("z", 10)}, nil
	}
	_, o := do(t, open(t, nil, r), act("reader", `{}`))
	whole, err := os.ReadFile(o.File)
	if err != nil || !o.Truncated || len([]rune(o.Output)) > tool.MaxOutput+300 || strings.Contains(string(whole), canary) {
		t.Errorf("%d characters, file %q (%v)", len([]rune(o.Output)), o.File, err)
	}
	if !strings.HasSuffix(strings.TrimSpace(string(whole)), "zzz") {
		t.Error("the file is not whole")
	}
}

func TestNewNamesTheMissingField(t *testing.T) {
	registry, err := tool.New()
	if err != nil {
		t.Fatal(err)
	}
	full := Config{Registry: registry, Policy: Modes(ModeAuto, false), Env: tool.Env{Workspace: "/w"}}
	for field, remove := range map[string]func(*Config){
		"Registry": func(c *Config) { c.Registry = nil }, "Policy": func(c *Config) { c.Policy = nil },
		"Env.Workspace": func(c *Config) { c.Env.Workspace = "" },
	} {
		c := full
		remove(&c)
		if _, err := New(c); err == nil || !slices.Contains(strings.Fields(err.Error()), field) {
			t.Errorf("without %s: %v", field, err)
		}
	}
}
