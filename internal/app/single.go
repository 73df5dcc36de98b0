package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/agent/tool/terminal"
)

// GoalOptions are the flags of `run GOAL`. Goal is required; the zero value of every other field is its default.
type GoalOptions struct {
	Goal                     string
	Provider, Model, BaseURL string
	Mode                     string // "" = auto
	Verify                   string
	MaxSteps                 int
	Judge                    outcome.Mode
	Strict                   bool
	Proposals                int
	Toolsets                 []string
	Approver                 gateway.Approver // nil = nobody: what needs a person is denied
	Event                    func(agent.Event)
	Delta                    func(llm.Delta)
}

// RunGoal works one goal in this process, without board and mail. An error is one of configuration, found before
// anything ran; how a run ended is in its Report.
func (a *App) RunGoal(ctx context.Context, o GoalOptions) (report agent.Report, err error) {
	choice := provider.Choice{Provider: o.Provider, Model: o.Model, BaseURL: o.BaseURL}
	pool := &models{app: a, find: a.flagEndpoint, open: map[provider.Choice]*provider.Client{}}
	defer pool.close()
	endpoint, err := pool.resolve(ctx, choice)
	if err != nil {
		return agent.Report{}, a.modelError(err)
	}
	choice = provider.Choice{Provider: endpoint.Provider.ID, Model: endpoint.Model, BaseURL: endpoint.BaseURL}
	client, err := pool.dial(choice, endpoint)
	if err != nil {
		return agent.Report{}, a.modelError(err)
	}
	log, err := a.beginRun(o.Event)
	if err != nil {
		return agent.Report{}, err
	}
	tools, err := a.openHands(o.Toolsets)
	if err != nil {
		return agent.Report{}, errors.Join(err, log.close())
	}
	defer func() { err = errors.Join(err, tools.close(ctx)) }()
	cfg, err := a.goalConfig(ctx, o, log, tools.registry)
	if err != nil {
		return agent.Report{}, errors.Join(err, log.close())
	}
	cfg.Model, cfg.Mail = client, &tools.bell
	cfg.About = agent.About{
		Interface: "run", Mode: modeOr(o.Mode), Provider: choice.Provider, Model: choice.Model, Sandbox: sandboxLevel,
	}
	loop, err := agent.New(cfg)
	if err != nil {
		return agent.Report{}, errors.Join(err, log.close())
	}
	report = loop.Run(ctx, agent.Goal{
		Kind: agent.KindRun, Subject: o.Goal, Text: o.Goal, Verify: o.Verify, MaxSteps: o.MaxSteps, Judge: o.Judge,
		Strict: o.Strict, Proposals: o.Proposals,
	})
	return a.discreet(report), log.close()
}

// sandboxLevel is what run_started says: commands run under the launcher, nothing confines them yet.
const sandboxLevel = "none"

func modeOr(mode string) string {
	if mode == "" {
		return string(gateway.ModeAuto)
	}
	return mode
}

// goalConfig is everything of a single run but its model.
func (a *App) goalConfig(ctx context.Context, o GoalOptions, log *runLog, registry *tool.Registry) (agent.Config, error) {
	gate, err := a.singleGate(registry, o.Mode, o.Approver, log.id)
	if err != nil {
		return agent.Config{}, err
	}
	engine, err := a.recipes(ctx, gate)
	if err != nil {
		return agent.Config{}, err
	}
	script, err := agent.NewTranscript(agent.Head{
		System: agent.Prompt{Workspace: a.ws.Root}.System(), Tools: offered(registry),
	}, nil)
	if err != nil {
		return agent.Config{}, err
	}
	set, err := a.Settings()
	if err != nil {
		return agent.Config{}, err
	}
	purse, err := agent.NewPurse(agent.PurseConfig{
		Scope: agent.ScopeRun, Tokens: int(set.Budget.RunTokens), Cost: set.Budget.RunCost,
	})
	if err != nil {
		return agent.Config{}, err
	}
	return agent.Config{
		WallTime: set.Budget.RunTime, Mask: a.redact.String,
		Run: log.id, Executor: gate, Evaluator: outcome.Evaluator{Verify: verifier(gate, o.Verify)}, Recorder: log,
		Transcript: script, Proposers: []agent.Proposer{engine}, Learner: engine, Budget: purse, OnDelta: o.Delta,
	}, nil
}

// hands is the tools of a run without a team, with what has to be closed after it.
type hands struct {
	registry  *tool.Registry
	box       *toolbox
	processes *terminal.Processes
	bell      bell // rings when one of them ends
}

// openHands opens the tools of the given toolsets; nil means those that are on by default.
func (a *App) openHands(toolsets []string) (*hands, error) {
	box, err := a.openToolbox("")
	if err != nil {
		return nil, err
	}
	h := &hands{box: box}
	if h.processes, err = box.processes(h.bell.ring); err != nil {
		return nil, errors.Join(err, box.close())
	}
	all, err := tool.New(box.tools(h.processes)...)
	if err != nil {
		return nil, errors.Join(err, box.close())
	}
	h.registry = all.Available(toolsets)
	return h, nil
}

func (h *hands) close(ctx context.Context) error {
	h.processes.Close(ctx)
	return h.box.close()
}

func (a *App) singleGate(r *tool.Registry, mode string, who gateway.Approver, run autonomy.RunID) (*gateway.Gateway, error) {
	m, err := gateway.ParseMode(mode)
	if err != nil {
		return nil, err
	}
	return gateway.New(gateway.Config{
		Registry: r, Policy: gateway.Modes(m, false), Approver: who, Redact: a.redact.String, Results: a.ws.Results(),
		Env:    tool.Env{Workspace: a.ws.Root, Run: run, Person: a.trusted()},
		Report: func(t gateway.Trouble) { a.opts.Report(Notice{Part: "tool", File: t.Tool, Text: t.Text}) },
	})
}

// offered are the tools as a model is told of them.
func offered(r *tool.Registry) []llm.Tool {
	var tools []llm.Tool
	for _, s := range r.List() {
		tools = append(tools, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return tools
}

// CallTool runs one tool through the gateway for the person at the terminal, in this process.
func (a *App) CallTool(ctx context.Context, name string, args json.RawMessage, mode string, who gateway.Approver) (seen action.Observation, err error) {
	tools, err := a.openHands(allToolsets())
	if err != nil {
		return action.Observation{}, err
	}
	defer func() { err = errors.Join(err, tools.close(ctx)) }()
	gate, err := a.singleGate(tools.registry, mode, who, "")
	if err != nil {
		return action.Observation{}, err
	}
	return perform(ctx, gate, action.Action{Call: "call", Tool: name, Arguments: args, Direct: true})
}

// perform takes one action through the gateway; a no is an observation too.
func perform(ctx context.Context, gate *gateway.Gateway, x action.Action) (action.Observation, error) {
	x = gate.Assess(x)
	leave, err := gate.Admit(ctx, x)
	if err != nil {
		return action.Observation{}, err
	}
	if leave.Decision != action.Allow {
		status := action.Denied
		if x.Unavailable || x.Invalid != "" {
			status = action.Inadmissible
		}
		return action.Observation{Call: x.Call, Tool: x.Tool, Status: status, Output: leave.Reason}, nil
	}
	return gate.Execute(ctx, x, leave)
}

// Explain says how an action of a model would be decided in a mode, without asking or running anything.
func (a *App) Explain(name string, args json.RawMessage, mode string) (why gateway.Explanation, err error) {
	tools, err := a.openHands(allToolsets())
	if err != nil {
		return gateway.Explanation{}, err
	}
	defer func() { err = errors.Join(err, tools.close(a.life)) }()
	gate, err := a.singleGate(tools.registry, mode, nil, "")
	if err != nil {
		return gateway.Explanation{}, err
	}
	return gate.Explain(action.Action{Call: "explain", Tool: name, Arguments: args}), nil
}

func allToolsets() []string {
	var names []string
	for _, set := range tool.Catalog(&tool.Registry{}, nil) {
		names = append(names, set.Name)
	}
	return names
}

// Verify runs a task's verify command for the person who says that it is done. ok tells whether it exited 0. The
// workspace must be trusted: ErrUntrusted.
func (a *App) Verify(ctx context.Context, command string, who gateway.Approver) (ok bool, exit int, output string, err error) {
	if !a.trusted() {
		return false, 0, "", fmt.Errorf("run verify: %w", ErrUntrusted)
	}
	tools, err := a.openHands(nil)
	if err != nil {
		return false, 0, "", err
	}
	defer func() { err = errors.Join(err, tools.close(ctx)) }()
	gate, err := a.singleGate(tools.registry, "", who, "")
	if err != nil {
		return false, 0, "", err
	}
	return verifier(gate, command)(ctx)
}
