package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/machine"
	"github.com/autonomy-team/autonomy/internal/sandbox"
)

// DefaultTimeout is the deadline of a command that states none; MaxTimeout is the longest it may state.
const (
	DefaultTimeout = 10 * time.Minute
	MaxTimeout     = time.Hour
)

// Config says how commands are run. Sandbox.Self is required.
type Config struct {
	Sandbox  sandbox.Config
	Environ  func() []string // of this process; nil = os.Environ
	ExecLock string          // .team/exec.lock for a daemon's attempts, "" else
	Limits   sandbox.Limits

	// Redact wraps the file that takes a large output, so that it holds no secret either; nil = as it is.
	Redact func(io.WriteCloser) io.WriteCloser
}

func (c Config) withDefaults() (Config, error) {
	if c.Sandbox.Self == "" {
		return c, errors.New("terminal config: Sandbox.Self is required")
	}
	if c.Environ == nil {
		c.Environ = os.Environ
	}
	if c.Redact == nil {
		c.Redact = func(w io.WriteCloser) io.WriteCloser { return w }
	}
	return c, nil
}

// order is the launcher's order for a script of a call.
func (c Config) order(script string, env tool.Env, timeout time.Duration) sandbox.Order {
	return sandbox.Order{
		Script: script, Dir: env.Dir, Timeout: timeout, ExecLock: c.ExecLock, Limits: c.Limits,
		Env: sandbox.Environ(c.Environ(), "PWD="+env.Dir),
	}
}

// spill makes the file of an output that is too large, and remembers its name.
type spill struct {
	config Config
	dir    string
	name   atomic.Pointer[string]
}

func (s *spill) open() (io.WriteCloser, error) {
	f, err := tool.ResultFile(s.dir)
	if err != nil {
		return nil, err
	}
	name := f.Name()
	s.name.Store(&name)
	return s.config.Redact(f), nil
}

// file is the file's name, "" as long as there is none.
func (s *spill) file() string {
	if name := s.name.Load(); name != nil {
		return *name
	}
	return ""
}

type bash struct{ config Config }

type bashArgs struct {
	Command string `json:"command" jsonschema:"run by bash in the working directory"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"seconds until it is ended, 1 to 3600; 600 if absent"`
	tool.Mutating
}

func (*bash) Spec() tool.Spec {
	return tool.Spec{
		Name: "bash", Toolset: "terminal", Default: true, Schema: tool.SchemaOf[bashArgs](),
		Description: "Run a shell command to its end and return its output and exit status. Standard input is empty. " +
			"Everything it starts is ended with it; for a server use process_start.",
	}
}

func (*bash) Assess(args json.RawMessage, env tool.Env) tool.Assessment {
	a, err := tool.Decode[bashArgs](args)
	if err != nil {
		return tool.Assessment{Risk: action.High, SideEffects: true, Reason: err.Error()}
	}
	return assessShell(a.Command, env)
}

// assessShell is the level of every shell text until a classifier judges it: unknown means HIGH.
func assessShell(command string, env tool.Env) tool.Assessment {
	found := tool.Assessment{
		Risk: action.High, SideEffects: true, Effect: "run a shell command", Plan: "exit status 0",
		Reason: "shell commands are not classified yet",
	}
	switch {
	case stateful(command):
		found.Refused, found.Reason = true, "calls a verb of autonomy by which only people decide"
	case !env.Person && writesState(command, env):
		found.Refused, found.Reason = true, "writes where the program keeps its own state; tasks and mail have tools of their own"
	}
	return found
}

// stateful finds the plain form of a call that SECURITY refuses to ever ask for. It is no gate, which only the classifier
// can be: it spares people a question whose answer is always no.
func stateful(command string) bool {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;&|(){}\"'`", r) })
	for i, word := range words {
		if filepath.Base(word) != "autonomy" || i+1 == len(words) {
			continue
		}
		switch words[i+1] {
		case "approve", "deny", "policy", "trust", "keys", "down":
			return true
		}
	}
	return false
}

func (b *bash) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	args, err := tool.Decode[bashArgs](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	if strings.TrimSpace(args.Command) == "" {
		return failed("the command is empty"), nil
	}
	timeout, err := deadline(args.Timeout, call.Timeout)
	if err != nil {
		return failed("%v", err), nil
	}
	file := &spill{config: b.config, dir: tool.Results(call.Env.Workspace)}
	out := sandbox.NewOutput(tool.MaxOutput, file.open)
	outcome, err := sandbox.Run(ctx, b.config.Sandbox, b.config.order(args.Command, call.Env, timeout), out)
	closeErr := out.Close()
	if err != nil {
		if orderFailed(err) && ctx.Err() == nil {
			return failed("%v", err), nil
		}
		return tool.Result{}, err
	}
	return result(outcome, out, file.file(), timeout, closeErr), nil
}

// orderFailed reports whether a command did not start because of what was ordered: a result for whoever ordered it. When
// the machine is to blame the tool has failed.
func orderFailed(err error) bool {
	return errors.Is(err, sandbox.ErrNotStarted) && !machine.InTrouble(err)
}

// deadline is the seconds the model stated, else what the caller set (the timeout of a runbook step), else the default.
func deadline(seconds int, set time.Duration) (time.Duration, error) {
	if seconds < 0 || time.Duration(seconds)*time.Second > MaxTimeout {
		return 0, fmt.Errorf("timeout: %d is not between 1 and %d seconds", seconds, int(MaxTimeout.Seconds()))
	}
	switch {
	case seconds > 0 && set > 0:
		return min(set, time.Duration(seconds)*time.Second), nil
	case seconds > 0:
		return time.Duration(seconds) * time.Second, nil
	case set > 0:
		return set, nil
	}
	return DefaultTimeout, nil
}

// result puts the output first and how the command ended last, where a cut never removes it.
func result(outcome sandbox.Outcome, out *sandbox.Output, file string, timeout time.Duration, spillErr error) tool.Result {
	text, truncated := out.String()
	var b strings.Builder
	b.WriteString(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(ending(outcome, timeout))
	b.WriteString(whereWhole(truncated, file))
	if spillErr != nil {
		fmt.Fprintf(&b, "\n[%v]", spillErr)
	}
	exit := outcome.Exit
	return tool.Result{
		Content: b.String(), Exit: &exit, Truncated: truncated, File: file,
		IsError: exit != 0 || outcome.TimedOut || outcome.Cancelled,
	}
}

func whereWhole(truncated bool, file string) string {
	if !truncated || file == "" {
		return ""
	}
	return "\n[whole output: " + file + "]"
}

func ending(o sandbox.Outcome, timeout time.Duration) string {
	text := fmt.Sprintf("[exit status %d]", o.Exit)
	switch {
	case o.TimedOut:
		text = fmt.Sprintf("[ended after its deadline of %s; exit status %d]", timeout, o.Exit)
	case o.Cancelled:
		text = fmt.Sprintf("[stopped; exit status %d]", o.Exit)
	case o.Signal != "":
		text = fmt.Sprintf("[ended by %s; exit status %d]", o.Signal, o.Exit)
	}
	if o.LeftBehind > 0 {
		text += fmt.Sprintf("\n[%d processes it left behind were ended]", o.LeftBehind)
	}
	return text
}

func failed(format string, args ...any) tool.Result {
	return tool.Result{Content: "error: " + fmt.Sprintf(format, args...), IsError: true}
}

// Verify takes the exit status as the effect of a command: nothing else is known about it.
func (*bash) Verify(_ context.Context, _ tool.Call, r tool.Result) (bool, string) {
	if r.Exit == nil {
		return false, "no exit status"
	}
	return *r.Exit == 0 && !r.IsError, fmt.Sprintf("exit status %d", *r.Exit)
}

// Limit is the deadline of the command and what the launcher needs to end it.
func (*bash) Limit(call tool.Call) time.Duration {
	args, err := tool.Decode[bashArgs](call.Arguments)
	if err != nil {
		return DefaultTimeout
	}
	limit, err := deadline(args.Timeout, call.Timeout)
	if err != nil {
		return DefaultTimeout
	}
	return limit + sandbox.Grace
}
