package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
)

// listWithin bounds the question which models a server has.
const listWithin = 15 * time.Second

// models makes the clients of one process: one for each distinct choice, all behind the same limiters, so that members
// with one key share its limits.
type models struct {
	app      *App
	find     func(provider.Choice) (provider.Endpoint, error) // flagEndpoint or memberEndpoint
	limiters provider.Limiters

	mu   sync.Mutex
	open map[provider.Choice]*provider.Client
}

// resolve completes a choice from environment, user settings and table. Nothing of the workspace enters here. The error
// is provider.ErrNoProvider when nobody has chosen a model.
func (m *models) resolve(ctx context.Context, c provider.Choice) (provider.Endpoint, error) {
	endpoint, err := m.find(c)
	if err != nil {
		return endpoint, err
	}
	if endpoint.Model == "" {
		ctx, cancel := context.WithTimeout(ctx, listWithin)
		defer cancel()
		if endpoint.Model, err = provider.DefaultModel(ctx, endpoint, nil); err != nil {
			return endpoint, fmt.Errorf("choose a model of %s: %w", endpoint.Provider.ID, err)
		}
	}
	return endpoint, nil
}

// client is the model of a choice that resolve has completed.
func (m *models) client(c provider.Choice) (*provider.Client, error) {
	m.mu.Lock()
	client := m.open[c]
	m.mu.Unlock()
	if client != nil {
		return client, nil
	}
	endpoint, err := m.find(c)
	if err != nil {
		return nil, err
	}
	return m.dial(c, endpoint)
}

// dial makes the client of a choice at its endpoint, or returns the one that is there.
func (m *models) dial(c provider.Choice, endpoint provider.Endpoint) (*provider.Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if client := m.open[c]; client != nil {
		return client, nil
	}
	client, err := provider.New(provider.Config{
		Endpoint: endpoint, Fallbacks: m.fallbacks(endpoint), Limiters: &m.limiters, Version: control.Version(),
		Prices: m.app.prices(),
	})
	if err != nil {
		return nil, fmt.Errorf("reach model %s of %s: %w", endpoint.Model, endpoint.Provider.ID, err)
	}
	m.open[c] = client
	return client, nil
}

// fallbacks are the models of the settings that stand in when the first is in trouble. One that can't be reached from
// here (a key is missing) is left out.
func (m *models) fallbacks(first provider.Endpoint) []provider.Endpoint {
	set, err := m.app.Settings()
	if err != nil {
		return nil
	}
	var endpoints []provider.Endpoint
	for _, name := range set.Fallback {
		id, model, _ := strings.Cut(name, "/")
		e, err := m.app.memberEndpoint(provider.Choice{Provider: id, Model: model})
		if err == nil && (e.Provider.ID != first.Provider.ID || e.Model != first.Model) {
			endpoints = append(endpoints, e)
		}
	}
	return endpoints
}

// close releases idle connections.
func (m *models) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, client := range m.open {
		client.Close()
	}
	clear(m.open)
}

// modelSettings are the sources of a choice, nearest first.
func (a *App) modelSettings(c provider.Choice) provider.Settings {
	env := a.variables()
	if c.BaseURL != "" && c.Provider == "" { // like AUTONOMY_BASE_URL, a flag never gives a workspace's provider its URL
		c.Provider = cmp.Or(env("AUTONOMY_PROVIDER"), a.ownChoice().Provider, provider.Custom)
	}
	s := provider.Settings{Provider: c.Provider, Model: c.Model, BaseURL: c.BaseURL, Env: env, Keys: a.keys.Get}
	if set, err := a.Settings(); err == nil { // a broken file has been refused where the daemon or the command began
		s.User = provider.Choice{Provider: set.Provider, Model: set.Model, BaseURL: set.BaseURL}
		if set.Source("base_url") != config.FromUser {
			s.User.BaseURL = "" // the environment's is looked up there, with its provider
		}
		s.Rows = rows(set)
	}
	return s
}

// secrets are the values of all keys that this process can find, for the redactor.
func (a *App) secrets() []string {
	var values []string
	for _, name := range a.keyNames() {
		if v := a.opts.Getenv(name); v != "" {
			values = append(values, v)
		}
	}
	return values
}

// modelError gives a failed choice of a model its code and advice; any other error stays as it is.
func (a *App) modelError(err error) error {
	var missing *provider.MissingKeyError
	var unknown *provider.UnknownProviderError
	var refused *provider.RefusedModelError
	var url *provider.URLError
	var foreign *ForeignURLError
	switch {
	case errors.As(err, &missing) && a.keyFault != nil:
		return &control.Error{Code: control.CodeNeedsModel, Message: err.Error(), Hint: a.keyFault.Error()}
	case errors.As(err, &missing):
		hint := "run autonomy keys set " + missing.Provider + ", or set the variable; a running daemon has to be started again"
		return &control.Error{Code: control.CodeNeedsModel, Message: err.Error(), Hint: hint}
	case errors.As(err, &foreign):
		hint := "save it with autonomy model setup, or use --provider custom and autonomy keys set " + provider.HostKeyVar(foreign.URL)
		return &control.Error{Code: control.CodeNeedsModel, Message: err.Error(), Hint: hint}
	case errors.Is(err, provider.ErrNoProvider):
		return &control.Error{Code: control.CodeNeedsModel, Message: err.Error(), Hint: "run autonomy model setup"}
	case errors.As(err, &unknown), errors.As(err, &refused), errors.As(err, &url):
		return &control.Error{Code: control.CodeInvalid, Message: err.Error(), Hint: "autonomy model list shows what there is"}
	}
	return err
}
