package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
)

// process_wait waits a minute if nothing else is said, ten at most.
const (
	defaultWait = time.Minute
	maxWait     = 10 * time.Minute
)

// Tools is process_start and its companions over this table.
func (t *Processes) Tools() []tool.Tool {
	return []tool.Tool{
		&processStart{t},
		&processTool[idArgs]{
			table: t, name: "process_output", about: "Show what a process has written so far and whether it still runs.",
			run: func(_ context.Context, t *Processes, a idArgs) (string, error) { return t.output(a.ID) },
		},
		&processTool[waitArgs]{
			table: t, name: "process_wait", about: "Wait until a process ends, or for some seconds, and show its output.",
			run: wait, limit: func(a waitArgs) time.Duration { return a.duration() },
		},
		&processTool[idArgs]{
			table: t, name: "process_stop", about: "End a process that process_start started, and all that it started.",
			run: stop, stops: true,
		},
		&processTool[struct{}]{
			table: t, name: "process_list", about: "List the processes that process_start started.",
			run: func(_ context.Context, t *Processes, _ struct{}) (string, error) { return t.lines(), nil },
		},
	}
}

type processStart struct{ table *Processes }

type startArgs struct {
	Command string `json:"command" jsonschema:"run by bash in the working directory"`
	tool.Mutating
}

func (*processStart) Spec() tool.Spec {
	return tool.Spec{
		Name: "process_start", Toolset: "terminal", Default: true, Schema: tool.SchemaOf[startArgs](),
		Description: "Start a command that stays while you go on, such as a server. Returns its id. It ends with your task.",
	}
}

func (*processStart) Assess(args json.RawMessage, env tool.Env) tool.Assessment {
	a, err := tool.Decode[startArgs](args)
	if err != nil {
		return tool.Assessment{Risk: action.High, SideEffects: true, Reason: err.Error()}
	}
	found := assessShell(a.Command, env)
	found.Effect, found.Plan = "start a process", "look whether it is alive"
	return found
}

func (s *processStart) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := tool.Decode[startArgs](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	if strings.TrimSpace(a.Command) == "" {
		return failed("the command is empty"), nil
	}
	p, err := s.table.start(ctx, a.Command, call.Env)
	switch {
	case orderFailed(err) && ctx.Err() == nil:
		return failed("%v", err), nil
	case err != nil:
		return tool.Result{}, err
	}
	return tool.Result{Content: fmt.Sprintf("process %d started, pid %d", p.id, p.PID())}, nil
}

// Verify looks whether the process that the result names is alive. One that has already done its work counts too.
func (s *processStart) Verify(_ context.Context, _ tool.Call, r tool.Result) (bool, string) {
	var id int
	if _, err := fmt.Sscanf(r.Content, "process %d started", &id); err != nil {
		return false, "nothing was started"
	}
	p, err := s.table.get(id)
	if err != nil {
		return false, err.Error()
	}
	if p.running() {
		return true, p.state()
	}
	outcome, err := p.Outcome()
	return err == nil && outcome.Exit == 0, p.state()
}

// processTool is a tool that looks at the table, or ends one of its processes.
type processTool[A any] struct {
	table *Processes
	name  string
	about string
	run   func(ctx context.Context, t *Processes, a A) (string, error)
	limit func(A) time.Duration // nil = no waiting
	stops bool
}

func (p *processTool[A]) Spec() tool.Spec {
	return tool.Spec{
		Name: p.name, Toolset: "terminal", Description: p.about, Schema: tool.SchemaOf[A](), ReadOnly: !p.stops, Default: true,
	}
}

func (p *processTool[A]) Assess(json.RawMessage, tool.Env) tool.Assessment {
	if p.stops {
		return tool.Assessment{Risk: action.Low, SideEffects: true, Effect: "end a process of its own"}
	}
	return tool.Assessment{Risk: action.Low, Effect: "look at processes of its own"}
}

func (p *processTool[A]) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := tool.Decode[A](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	text, err := p.run(ctx, p.table, a)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, err
		}
		return failed("%v", err), nil
	}
	return tool.Result{Content: text}, nil
}

// Limit lets process_wait wait as long as it was told.
func (p *processTool[A]) Limit(call tool.Call) time.Duration {
	if p.limit == nil {
		return defaultWait
	}
	a, err := tool.Decode[A](call.Arguments)
	if err != nil {
		return defaultWait
	}
	return p.limit(a)
}

type idArgs struct {
	ID int `json:"id" jsonschema:"number of the process"`
}

type waitArgs struct {
	ID      int `json:"id" jsonschema:"number of the process"`
	Timeout int `json:"timeout,omitempty" jsonschema:"seconds to wait at most, 1 to 600; 60 if absent"`
}

func (a waitArgs) duration() time.Duration {
	if a.Timeout <= 0 {
		return defaultWait
	}
	return min(time.Duration(a.Timeout)*time.Second, maxWait)
}

func wait(ctx context.Context, t *Processes, a waitArgs) (string, error) {
	p, err := t.get(a.ID)
	if err != nil {
		return "", err
	}
	timer := time.NewTimer(a.duration())
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	return t.output(a.ID)
}

func stop(ctx context.Context, t *Processes, a idArgs) (string, error) {
	p, err := t.get(a.ID)
	if err != nil {
		return "", err
	}
	p.Stop()
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.Kill()
		return "", context.Cause(ctx)
	}
	return t.output(a.ID)
}

func (t *Processes) output(id int) (string, error) {
	p, err := t.get(id)
	if err != nil {
		return "", err
	}
	state := p.state() // before the output, so that "ended" never stands under half of it
	text, truncated := p.out.String()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "[" + state + "]" + whereWhole(truncated, p.file.file()), nil
}

func (t *Processes) lines() string {
	var b strings.Builder
	for _, p := range t.all() {
		fmt.Fprintf(&b, "%d: %s: %s\n", p.id, p.state(), p.command)
	}
	if b.Len() == 0 {
		return "[no processes]"
	}
	return b.String()
}
