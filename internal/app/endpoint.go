package app

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/agent/provider/wire"
	"github.com/autonomy-team/autonomy/internal/config"
)

// ForeignURLError says that a member's base URL comes from the workspace's files, not from the person's own settings,
// so that no stored key is sent there.
type ForeignURLError struct{ Provider, URL string }

func (e *ForeignURLError) Error() string {
	return fmt.Sprintf("no key of %s is sent to %s: that base URL is not in your own settings", e.Provider, e.URL)
}

// flagEndpoint resolves the choice of a command line that runs in this process.
func (a *App) flagEndpoint(c provider.Choice) (provider.Endpoint, error) {
	return provider.Resolve(a.modelSettings(c))
}

// memberEndpoint resolves the choice of a member. It comes from the roster, which lies in the workspace, so it is
// trusted less than flags: AUTONOMY_API_KEY counts only if the environment chose the provider too, and a URL that the
// person's own settings do not give gets no key but the one that is named after its host.
func (a *App) memberEndpoint(c provider.Choice) (provider.Endpoint, error) {
	if c.Provider == "" && c.BaseURL != "" {
		c.Provider = provider.Custom
	}
	s := a.modelSettings(provider.Choice{Provider: c.Provider, Model: c.Model})
	if c.Provider != "" && !a.chosenByEnvironment(c.Provider) {
		s.Env = without(s.Env, "AUTONOMY_API_KEY")
	}
	own, err := provider.Resolve(s)
	given := strings.TrimSuffix(c.BaseURL, "/")
	var bad *provider.URLError // custom, and no URL in the settings
	if given == "" || given == own.BaseURL || err != nil && own.BaseURL == "" && !errors.As(err, &bad) {
		return own, err
	}
	s.BaseURL = given
	row, _ := provider.Find(c.Provider)
	if foreign(row, given) {
		only := []string{provider.HostKeyVar(given), "OLLAMA_CONTEXT_LENGTH"}
		s.Env, s.Keys = just(s.Env, only...), just(s.Keys, only...)
	}
	e, err := provider.Resolve(s)
	if missing := (*provider.MissingKeyError)(nil); errors.As(err, &missing) && foreign(row, given) {
		return e, &ForeignURLError{Provider: row.ID, URL: e.ShownURL()}
	}
	return e, err
}

// chosenByEnvironment reports whether the AUTONOMY_* variables chose this provider.
func (a *App) chosenByEnvironment(id string) bool { return a.variables()("AUTONOMY_PROVIDER") == id }

// variables are the environment, in which AUTONOMY_BASE_URL never stands alone: it belongs to the provider of the
// person's own settings, else to none of the table. Without that it would be taken for the URL of any provider that a
// workspace names, whose stored key would then go there.
func (a *App) variables() func(string) string {
	env := a.opts.Getenv
	if env("AUTONOMY_BASE_URL") == "" || env("AUTONOMY_PROVIDER") != "" {
		return env
	}
	return func(name string) string {
		if name == "AUTONOMY_PROVIDER" {
			return cmp.Or(a.ownChoice().Provider, provider.Custom)
		}
		return env(name)
	}
}

// WithEnvironment completes the choice of a command line by the AUTONOMY_* variables, which the daemon that gets the
// choice may have been started without. What the settings say is left to it, for it reads them itself.
func (a *App) WithEnvironment(c provider.Choice) provider.Choice {
	env := a.variables()
	named := env("AUTONOMY_PROVIDER")
	if c.Provider == "" && c.BaseURL == "" {
		c.Provider = named
	}
	if c.Provider == named {
		c.Model = cmp.Or(c.Model, env("AUTONOMY_MODEL"))
		c.BaseURL = cmp.Or(c.BaseURL, env("AUTONOMY_BASE_URL"))
	}
	return c
}

// ownChoice is the model that the person's config.yaml chooses by itself.
func (a *App) ownChoice() config.ModelChoice {
	dir, err := a.userDir()
	if err != nil {
		return config.ModelChoice{}
	}
	choice, err := config.UserModel(config.UserConfig(dir))
	if err != nil {
		return config.ModelChoice{} // a broken file has been refused where the daemon or the command began
	}
	return choice
}

// foreign reports whether a URL is neither on this machine nor at one of the provider's own hosts.
func foreign(row provider.Provider, base string) bool {
	if (provider.Endpoint{BaseURL: base}).Loopback() {
		return false
	}
	for host := range row.Hosts {
		if sameServer(host, base) {
			return false
		}
	}
	return !sameServer(row.BaseURL, base)
}

func sameServer(a, b string) bool {
	u, err1 := url.Parse(a)
	v, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && u.Host != "" && u.Scheme == v.Scheme && u.Host == v.Host
}

// without is a look-up that does not find one name.
func without(get func(string) string, hidden string) func(string) string {
	return func(name string) string {
		if name == hidden {
			return ""
		}
		return get(name)
	}
}

// just is a look-up that finds the given names alone.
func just(get func(string) string, names ...string) func(string) string {
	return func(name string) string {
		for _, n := range names {
			if n == name && n != "" {
				return get(name)
			}
		}
		return ""
	}
}

// keyNames are all names under which this process may find a key.
func (a *App) keyNames() []string {
	names := []string{"AUTONOMY_API_KEY"}
	for _, p := range provider.Table() {
		names = append(names, p.KeyVars...)
	}
	urls := []string{a.opts.Getenv("AUTONOMY_BASE_URL"), a.ownChoice().BaseURL}
	if dir, err := a.userDir(); err == nil {
		if mine, err := config.UserProviders(config.UserConfig(dir)); err == nil { // a broken file is refused elsewhere
			urls = append(urls, mine[provider.Custom].BaseURL)
		}
	}
	for _, base := range urls {
		if name := provider.HostKeyVar(base); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// rows are what the user's settings change of the table.
func rows(set config.Settings) map[string]provider.Row {
	changed := map[string]provider.Row{}
	for id, p := range set.Providers {
		changed[id] = provider.Row{
			BaseURL: p.BaseURL, Model: p.Model, PerMinute: p.RequestsPerMinute, InFlight: p.MaxInFlight, Window: p.Window,
			Limits: wire.Limits{First: p.Limits.FirstByte, Idle: p.Limits.Idle, Total: p.Limits.Total},
		}
	}
	return changed
}

// prices are the user's prices for the client.
func (a *App) prices() provider.Prices {
	set, err := a.Settings()
	if err != nil {
		return nil
	}
	prices := provider.Prices{}
	for model, p := range set.Prices {
		prices[model] = provider.Price{Input: p.Input, Output: p.Output, Cached: p.Cached}
	}
	return prices
}
