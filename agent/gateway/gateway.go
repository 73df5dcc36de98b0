package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/redact"
)

// Config is what a Gateway works with. Registry, Policy and Env.Workspace are required.
type Config struct {
	Registry *tool.Registry
	Policy   Policy
	Approver Approver // nil = Nobody
	Env      tool.Env // where and for whom; Dir defaults to Workspace. Person holds for Direct actions only.

	Redact  func(string) string // over arguments that are shown and outputs; nil = as they are
	Results string              // folder of large results; "" = the workspace's
	Report  func(Trouble)       // what people should know and no observation says in full; nil drops it
}

// Trouble is a fault of a tool that the run survived.
type Trouble struct {
	Tool, Call string
	Text       string // with the stack of a panic
}

// Gateway runs the tools of one agent in one place. Any goroutine may use it.
type Gateway struct {
	registry *tool.Registry
	policy   Policy
	approver Approver
	env      tool.Env
	redact   func(string) string
	results  string
	report   func(Trouble)
}

// New makes a gateway. Its error names the field that is wrong.
func New(c Config) (*Gateway, error) {
	switch {
	case c.Registry == nil:
		return nil, errors.New("gateway config: Registry is required")
	case c.Policy == nil:
		return nil, errors.New("gateway config: Policy is required")
	case c.Env.Workspace == "":
		return nil, errors.New("gateway config: Env.Workspace is required")
	}
	g := &Gateway{
		registry: c.Registry, policy: c.Policy, approver: c.Approver, env: c.Env,
		redact: c.Redact, results: c.Results, report: c.Report,
	}
	if g.approver == nil {
		g.approver = Nobody{}
	}
	if g.env.Dir == "" {
		g.env.Dir = g.env.Workspace
	}
	if g.redact == nil {
		g.redact = func(s string) string { return s }
	}
	if g.results == "" {
		g.results = tool.Results(g.env.Workspace)
	}
	if g.report == nil {
		g.report = func(Trouble) {}
	}
	return g, nil
}

// envOf is the environment of one action: a person's command is one that the task says itself, in a task of a person.
func (g *Gateway) envOf(a action.Action) tool.Env {
	env := g.env
	env.Person = env.Person && a.Direct
	return env
}

// Assess fills the second block of an action. It changes nothing and asks nobody. A risk that is already set stays if it
// is higher.
func (g *Gateway) Assess(a action.Action) action.Action {
	assessed, _ := g.assess(a)
	return assessed
}

func (g *Gateway) assess(a action.Action) (action.Action, tool.Assessment) {
	shown, redacted := redact.JSON(orEmpty(a.Arguments), g.redact)
	a.Fingerprint, a.Redacted = action.Fingerprint(a.Tool, shown), redacted
	a.Unavailable, a.Invalid = false, ""
	worst := tool.Assessment{Risk: action.High, SideEffects: true}
	t, known := g.registry.Get(a.Tool)
	if !known {
		a.Unavailable = true
		a.Invalid = fmt.Sprintf("unknown tool %q; there are: %s", a.Tool, strings.Join(g.registry.Names(), ", "))
		return apply(a, worst), worst
	}
	if err := g.registry.Validate(a.Tool, a.Arguments); err != nil {
		a.Invalid = err.Error()
		return apply(a, worst), worst
	}
	if a.Purpose == "" {
		stated, err := tool.Decode[tool.Mutating](a.Arguments)
		if err == nil {
			a.Purpose = stated.Purpose
		}
	}
	found := worst
	if judge, ok := t.(tool.Assessor); ok {
		found = judge.Assess(a.Arguments, g.envOf(a))
	} else {
		found.Reason = "the tool does not say what it does"
	}
	spec, _ := g.registry.Spec(a.Tool)
	a.ReadOnly = spec.ReadOnly && !found.SideEffects
	return apply(a, found), found
}

func apply(a action.Action, found tool.Assessment) action.Action {
	a.Risk = higher(a.Risk, found.Risk)
	a.SideEffects, a.Plan = found.SideEffects, found.Plan
	if a.Effect = a.Purpose; a.Effect == "" {
		a.Effect = found.Effect
	}
	return a
}

// higher is the worse of two levels; one that is none of the three, also the empty one beside a real one, counts least
// if it is empty and most if it is unknown.
func higher(a, b action.Risk) action.Risk {
	if rank(a) > rank(b) {
		return a
	}
	return b
}

func rank(r action.Risk) int {
	switch r {
	case "":
		return 0
	case action.Low:
		return 1
	case action.Medium:
		return 2
	default:
		return 3
	}
}

// Explanation is what `policy explain` prints about one action.
type Explanation struct {
	Risk     action.Risk     `json:"risk"`
	Decision action.Decision `json:"decision"`
	Reasons  []string        `json:"reasons"`
}

// Explain says how an action would be decided now, without asking anybody.
func (g *Gateway) Explain(a action.Action) Explanation {
	a, found := g.assess(a)
	verdict := g.decide(a, found)
	e := Explanation{Risk: a.Risk, Decision: verdict.Decision, Reasons: []string{}}
	for _, reason := range []string{found.Reason, verdict.Reason} {
		if reason != "" {
			e.Reasons = append(e.Reasons, reason)
		}
	}
	return e
}

func orEmpty(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	return args
}

// decide is the order of SECURITY section 5: what can't run, what is never asked, then the policy.
func (g *Gateway) decide(a action.Action, found tool.Assessment) Verdict {
	switch {
	case a.Problem != "":
		return Verdict{action.Deny, a.Problem}
	case a.Invalid != "":
		return Verdict{action.Deny, a.Invalid}
	case found.Refused:
		return Verdict{action.Refuse, "never allowed: " + found.Reason}
	}
	return g.policy.Decide(a, g.envOf(a))
}

// margin is what a tool gets beyond its limit to end by itself before its context ends, and twice that after it before
// the tool is given up.
const margin = 15 * time.Second
