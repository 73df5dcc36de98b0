package gateway

import (
	"context"
	"encoding/json"
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/agent/tool/terminal"
	"github.com/autonomy-team/autonomy/internal/redact"
	"github.com/autonomy-team/autonomy/internal/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__sandbox" {
		syscall.Exit(sandbox.Main(context.Background())) // os.Exit waits a second under the race detector
	}
	goleak.VerifyTestMain(m)
}

const canary = "correct-horse-canary"

// fake is a tool whose every answer the test sets.
type fake struct {
	name     string
	assess   tool.Assessment
	call     func(ctx context.Context, c tool.Call) (tool.Result, error)
	verified bool
	calls    int
}

type fakeArgs struct {
	Text string `json:"text,omitempty"`
	tool.Mutating
}

func (f *fake) Spec() tool.Spec {
	return tool.Spec{Name: f.name, Toolset: "fake", Schema: tool.SchemaOf[fakeArgs](), ReadOnly: !f.assess.SideEffects}
}

func (f *fake) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	f.calls++
	if f.call == nil {
		return tool.Result{Content: "done"}, nil
	}
	return f.call(ctx, c)
}

func (f *fake) Assess(json.RawMessage, tool.Env) tool.Assessment { return f.assess }

func (f *fake) Verify(context.Context, tool.Call, tool.Result) (bool, string) {
	return f.verified, "looked"
}

// plain is a tool without Assess and Verify.
type plain struct{ tool.Tool }

func reader() *fake { return &fake{name: "reader", assess: tool.Assessment{Risk: action.Low}} }

func writer() *fake {
	return &fake{name: "writer", verified: true, assess: tool.Assessment{
		Risk: action.Medium, SideEffects: true, Effect: "write", Plan: "read again",
	}}
}

// open makes a gateway over the terminal tools and the given ones. change may alter its configuration.
func open(t *testing.T, change func(*Config), tools ...tool.Tool) *Gateway {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	shell, err := terminal.New(terminal.Config{Sandbox: sandbox.Config{Self: self}})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tool.New(append(shell, tools...)...)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Registry: registry, Policy: Modes(ModeFull, false), Redact: redact.New(canary).String,
		Env: tool.Env{Workspace: t.TempDir(), Actor: "alice", Task: 3},
	}
	if change != nil {
		change(&c)
	}
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func act(name, args string) action.Action {
	return action.Action{Call: "c1", Tool: name, Arguments: json.RawMessage(args)}
}

// do assesses, admits and executes, as the loop does.
func do(t *testing.T, g *Gateway, a action.Action) (action.Admission, action.Observation) {
	t.Helper()
	a = g.Assess(a)
	adm, err := g.Admit(t.Context(), a)
	if err != nil {
		t.Fatalf("admit: %v", err)
	}
	if adm.Decision != action.Allow {
		return adm, action.Observation{}
	}
	o, err := g.Execute(t.Context(), a, adm)
	if err != nil {
		t.Fatalf("execute: %v", err)
	}
	return adm, o
}
