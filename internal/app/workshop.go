package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/team"
)

// Workshop is what the members of one daemon work with: conversations, tools behind the gateway, models, run logs. It
// is the supervisor's team.Worker and team.Transcripts. All methods may be called from any goroutine.
type Workshop struct {
	app     *App
	set     config.Settings
	box     *toolbox
	scripts *transcripts
	models  *models
	budget  *agent.Purse // the team's

	requests *gateway.Requests
	plans    *plans

	mu        sync.Mutex
	crew      *team.Supervisor // set by Attach, before any job
	purses    map[autonomy.AgentName]*agent.Purse
	listeners map[autonomy.AgentName][]*Listener
	tasks     map[autonomy.TaskID]llm.Usage // what models cost for each since the daemon started
}

// Listener hears a member's run while it goes on. Both functions are called on the run's goroutine and may be nil.
type Listener struct {
	Event func(agent.Event)
	Delta func(text string)
}

// Workshop makes the workshop of a daemon with the given settings, which its flags have entered.
func (a *App) Workshop(set config.Settings) (*Workshop, error) {
	w := &Workshop{
		app: a, set: set, purses: map[autonomy.AgentName]*agent.Purse{}, listeners: map[autonomy.AgentName][]*Listener{},
		tasks:  map[autonomy.TaskID]llm.Usage{},
		models: &models{app: a, find: a.memberEndpoint, open: map[provider.Choice]*provider.Client{}}, plans: &plans{approved: map[string]bool{}},
	}
	var err error
	if w.budget, err = agent.NewPurse(agent.PurseConfig{
		Scope: agent.ScopeTeam, Tokens: int(set.Budget.TeamTokens), Cost: set.Budget.TeamCost,
	}); err != nil {
		return nil, err
	}
	w.scripts = &transcripts{
		ws: a.ws, now: a.opts.Now, head: w.head, report: a.opts.Report, mask: a.mask, open: map[autonomy.AgentName]*conversation{},
	}
	requests, err := gateway.OpenRequests(gateway.RequestsConfig{Path: a.ws.Requests(), Now: a.opts.Now})
	if requests == nil {
		return nil, fmt.Errorf("open the approval requests: %w", err)
	}
	if err != nil { // some file can't be read; the others work
		a.opts.Report(Notice{Part: "approvals", File: a.ws.Requests(), Text: err.Error()})
	}
	w.requests = requests
	if w.box, err = a.openToolbox(a.ws.ExecLock()); err != nil {
		return nil, err
	}
	return w, nil
}

// Attach tells the workshop whose members it serves. It is called once, before the team runs.
func (w *Workshop) Attach(crew *team.Supervisor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crew = crew
}

// Close makes the conversations durable. No job may be running.
func (w *Workshop) Close() error {
	w.models.close()
	return errors.Join(w.scripts.close(), w.box.close())
}

// Team is the team's name, Mode its mode.
func (w *Workshop) Team() autonomy.TeamName { return w.set.Team }

// Mode is the mode that members have unless they were spawned with a narrower one.
func (w *Workshop) Mode() string { return w.set.Mode }

// Store is part of team.Transcripts.
func (w *Workshop) Store(ctx context.Context, member team.Spec, mail []inbox.Message) ([]inbox.Message, error) {
	return w.scripts.Store(ctx, member, mail)
}

// Reset is part of team.Transcripts.
func (w *Workshop) Reset(ctx context.Context, name autonomy.AgentName) error {
	return w.scripts.Reset(ctx, name)
}

// purse is what one run of a member may spend: its own limit, the member's and the team's.
func (w *Workshop) purse(name autonomy.AgentName) (*agent.Purse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.purses[name] == nil {
		purse, err := agent.NewPurse(agent.PurseConfig{
			Scope: agent.ScopeMember, Tokens: int(w.set.Budget.MemberTokens), Cost: w.set.Budget.MemberCost, Parent: w.budget,
		})
		if err != nil {
			return nil, err
		}
		w.purses[name] = purse
	}
	return agent.NewPurse(agent.PurseConfig{
		Scope: agent.ScopeRun, Tokens: int(w.set.Budget.RunTokens), Cost: w.set.Budget.RunCost, Parent: w.purses[name],
	})
}

// Follow lets l hear the runs of a member until stop is called.
func (w *Workshop) Follow(name autonomy.AgentName, l Listener) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	mine := &l
	w.listeners[name] = append(w.listeners[name], mine)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.listeners[name] = slices.DeleteFunc(slices.Clone(w.listeners[name]), func(o *Listener) bool { return o == mine })
	}
}

func (w *Workshop) hearing(name autonomy.AgentName) []*Listener {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.listeners[name]
}

// head is what stands at the head of a member's conversation that begins today.
func (w *Workshop) head(spec team.Spec) agent.Head {
	id := agent.Identity{Name: spec.Name, Role: spec.Role, Team: w.set.Team}
	prompt := agent.Prompt{Identity: &id, Workspace: w.app.ws.Root}
	if r, err := w.app.roleOf(spec.Role); err == nil { // one that can't be read has failed the spawn
		prompt.Charge = r.charge
	}
	head := agent.Head{Identity: &id, System: w.app.redact.String(prompt.System())}
	if spec.HasModel() {
		if tools, err := w.offered(spec); err == nil { // a job that follows meets the same error and says it
			head.Tools = tools
		}
	}
	return head
}

// offered are the tools that a member's model is told of.
func (w *Workshop) offered(spec team.Spec) ([]llm.Tool, error) {
	processes, err := w.box.processes(nil)
	if err != nil {
		return nil, err
	}
	defer processes.Close(w.app.life) // none was started
	r, err := w.registry(spec, &shift{shop: w, processes: processes})
	if err != nil {
		return nil, err
	}
	return offered(r), nil
}

// Key names the account behind a member's model: members with the same one share its limits and its back-off.
func (w *Workshop) Key(spec team.Spec) string { return spec.Provider + " " + spec.BaseURL }

// Resolve completes a spec by the settings and refuses what can't be: a mode that only `up` may give, a model that is
// not there.
func (w *Workshop) Resolve(ctx context.Context, spec team.Spec) (team.Spec, error) {
	if spec.Mode == string(gateway.ModeFull) {
		return spec, control.Errorf(control.CodeInvalid, "mode full is given by up or run alone")
	}
	if _, err := gateway.ParseMode(spec.Mode); err != nil {
		return spec, control.Errorf(control.CodeInvalid, "%v", err)
	}
	if err := w.knownToolsets(spec.Toolsets); err != nil {
		return spec, err
	}
	if hasCredentials(spec.BaseURL) {
		refused := control.Errorf(control.CodeInvalid, "a base URL with a user or password would be kept in the workspace")
		refused.Hint = "give the URL without them and store the key with 'autonomy keys set', or put the URL into your own settings with 'autonomy model setup'"
		return spec, refused
	}
	r, err := w.app.roleOf(spec.Role)
	if err != nil {
		return spec, control.Errorf(control.CodeInvalid, "%v", err)
	}
	spec = r.narrow(spec, w.usual())
	chosen := spec.Provider != "" || spec.Model != "" || spec.BaseURL != ""
	endpoint, err := w.models.resolve(ctx, choiceOf(spec))
	if errors.Is(err, provider.ErrNoProvider) && !chosen {
		return spec, nil // a member that works runbooks
	}
	if err != nil {
		return spec, w.app.modelError(err)
	}
	spec.Provider, spec.Model, spec.BaseURL = endpoint.Provider.ID, endpoint.Model, endpoint.BaseURL
	if hasCredentials(spec.BaseURL) { // of the person's own settings, from which it is taken again at each request
		spec.BaseURL = ""
	}
	return spec, nil
}

// hasCredentials reports whether a URL carries a user or a password.
func hasCredentials(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.User != nil
}

// knownToolsets refuses a name that is no toolset, or one that this version does not have: the member would be without
// tools, and say so task after task.
func (w *Workshop) knownToolsets(names []string) error {
	sets, err := w.app.Toolsets()
	if err != nil {
		return err
	}
	var there []string
	for _, set := range sets {
		if set.Implemented {
			there = append(there, set.Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(there, name) {
			return control.Errorf(control.CodeInvalid, "toolset %q: there are %s", name, strings.Join(there, ", "))
		}
	}
	return nil
}

// usual are the toolsets that are on by default.
func (w *Workshop) usual() (names []string) {
	sets, err := w.app.Toolsets()
	if err != nil {
		return nil
	}
	for _, set := range sets {
		if set.Available {
			names = append(names, set.Name)
		}
	}
	return names
}

func choiceOf(spec team.Spec) provider.Choice {
	return provider.Choice{Provider: spec.Provider, Model: spec.Model, BaseURL: spec.BaseURL}
}
