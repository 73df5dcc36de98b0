package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/machine"
)

// DefaultLimit is how long a call of a tool that is no Limiter may take.
const DefaultLimit = 10 * time.Minute

// Execute runs an admitted action, checks its effect and what a step expects, and returns what happened. The observation
// says everything about the action, also that the tool panicked or hung. An error is ErrNotAdmitted, or trouble of the
// machine (machine.InTrouble) that kept the action from beginning or from being done: the action is not to blame for it.
func (g *Gateway) Execute(ctx context.Context, a action.Action, adm action.Admission) (action.Observation, error) {
	a, _ = g.assess(a)
	if err := g.redeem(a, adm); err != nil {
		return action.Observation{Call: a.Call, Tool: a.Tool, Status: action.Denied, Output: err.Error()}, err
	}
	t, ok := g.registry.Get(a.Tool)
	if !ok {
		return action.Observation{}, fmt.Errorf("%w: no tool %q", ErrNotAdmitted, a.Tool)
	}
	call := tool.Call{ID: a.Call, Arguments: orEmpty(a.Arguments), Timeout: a.Timeout, Env: g.envOf(a)}
	if err := context.Cause(ctx); err != nil {
		return action.Observation{Call: a.Call, Tool: a.Tool, Status: action.Aborted, Output: "not run: " + err.Error()}, nil
	}
	begun := time.Now()
	result, err := g.call(ctx, t, a.Tool, call)
	if machine.InTrouble(err) && ctx.Err() == nil {
		return action.Observation{Call: a.Call, Tool: a.Tool, Status: action.NotRun, Output: g.redact(err.Error())}, err
	}
	o := g.observe(a, result, err)
	switch {
	case ctx.Err() != nil:
		o.Status = action.Aborted
		o.Output = "cancelled: " + context.Cause(ctx).Error() + "\n" + o.Output
	case err == nil:
		g.check(ctx, t, call, a, result, &o)
	}
	o.Duration = time.Since(begun)
	return o, nil
}

// call runs the tool under its deadline. A tool that does not return after its context ended is given up: stopping must
// always end. Its goroutine ends when the tool does.
func (g *Gateway) call(ctx context.Context, t tool.Tool, name string, call tool.Call) (tool.Result, error) {
	limit := DefaultLimit
	if l, ok := t.(tool.Limiter); ok {
		limit = l.Limit(call)
	} else if call.Timeout > 0 {
		limit = call.Timeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit+margin)
	defer cancel()
	type ended struct {
		result tool.Result
		err    error
	}
	done := make(chan ended, 1)
	go func() {
		var e ended
		defer func() {
			if p := recover(); p != nil {
				g.report(Trouble{Tool: name, Call: call.ID, Text: fmt.Sprintf("panic: %v\n%s", p, debug.Stack())})
				e.err = fmt.Errorf("the tool panicked: %v", p)
			}
			done <- e
		}()
		e.result, e.err = t.Call(ctx, call)
	}()
	select {
	case e := <-done:
		return e.result, e.err
	case <-ctx.Done():
	}
	last := time.NewTimer(2 * margin) // the launcher needs up to one to be killed itself
	defer last.Stop()
	select {
	case e := <-done:
		return e.result, e.err
	case <-last.C:
		g.report(Trouble{Tool: name, Call: call.ID, Text: "did not return after its context ended"})
		return tool.Result{}, errors.New("the tool did not return in time and was given up")
	}
}

// observe turns a result into an observation: redacted, capped.
func (g *Gateway) observe(a action.Action, r tool.Result, err error) action.Observation {
	o := action.Observation{
		Call: a.Call, Tool: a.Tool, Status: action.OK, Exit: r.Exit, Wrote: a.SideEffects, EndTurn: r.EndTurn,
		Truncated: r.Truncated, File: r.File,
	}
	if err != nil {
		o.Status, o.Output = action.Failed, g.redact("error: "+err.Error())
		return o
	}
	if r.IsError {
		o.Status = action.Failed
	}
	short, file, err := tool.Cap(g.redact(r.Content), g.results)
	if err != nil {
		g.report(Trouble{Tool: a.Tool, Call: a.Call, Text: err.Error()})
	}
	if file != "" {
		o.Truncated, o.File = true, file
		short += "\n[whole output: " + file + "]"
	}
	o.Output = short
	return o
}

// check carries the verification plan out. What a step expects takes the place of plain success: a step may want exit
// status 3.
func (g *Gateway) check(ctx context.Context, t tool.Tool, call tool.Call, a action.Action, r tool.Result, o *action.Observation) {
	if a.Expect != nil {
		met, found := expected(*a.Expect, call.Env.Dir, r)
		found = g.redact(found)
		o.Verified, o.Check, o.Status = &met, found, action.OK
		if !met {
			o.Status = action.Failed
			o.Output = join(o.Output, "[not as expected: "+found+"]")
		}
		return
	}
	v, ok := t.(tool.Verifier)
	if !ok || a.Plan == "" {
		return
	}
	if r.IsError && r.Exit == nil {
		no := false
		o.Verified, o.Check = &no, "the call failed"
		return
	}
	effective, found := v.Verify(ctx, call, r)
	o.Verified, o.Check = &effective, g.redact(found)
	if !effective && o.Status == action.OK {
		o.Status = action.Failed
		o.Output = join(o.Output, "[the effect is not there: "+o.Check+"]")
	}
}

// expected checks all that a step wants and says what was found of each, the first miss first.
func expected(want action.Expect, dir string, r tool.Result) (bool, string) {
	exit := 0
	if want.Exit != nil {
		exit = *want.Exit
	}
	switch {
	case r.Exit != nil && *r.Exit != exit:
		return false, fmt.Sprintf("exit status %d, wanted %d", *r.Exit, exit)
	case r.Exit == nil && r.IsError != (exit != 0):
		return false, fmt.Sprintf("failed: %v, wanted exit status %d", r.IsError, exit)
	}
	if want.Contains != "" && !strings.Contains(r.Content, want.Contains) && !fileContains(r.File, want.Contains) {
		return false, fmt.Sprintf("the output does not contain %q", want.Contains)
	}
	if want.File != "" {
		path := want.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Stat(path); err != nil {
			return false, fmt.Sprintf("no file %s", want.File)
		}
	}
	return true, "as expected"
}

// fileContains looks in the whole output when only its head and tail are in the result.
func fileContains(path, text string) bool {
	if path == "" {
		return false
	}
	whole, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(whole), text)
}

func join(text, line string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text + line
	}
	return text + "\n" + line
}
