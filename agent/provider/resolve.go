package provider

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/autonomy-team/autonomy/agent/provider/wire"
)

// ErrNoProvider says that neither flags nor environment nor user config choose a provider.
var ErrNoProvider = errors.New("no model is configured")

// UnknownProviderError names a provider that is not in the table.
type UnknownProviderError struct{ ID string }

// Error lists the providers there are.
func (e *UnknownProviderError) Error() string {
	ids := make([]string, 0, 10)
	for _, p := range Table() {
		ids = append(ids, p.ID)
	}
	return fmt.Sprintf("unknown provider %q; there are: %s", e.ID, strings.Join(ids, ", "))
}

// MissingKeyError says that a provider needs a key and none was found.
type MissingKeyError struct {
	Provider string
	Vars     []string
}

// Error names the variables, never a value.
func (e *MissingKeyError) Error() string {
	if len(e.Vars) == 1 {
		return fmt.Sprintf("no key for %s: %s is not set", e.Provider, e.Vars[0])
	}
	return fmt.Sprintf("no key for %s: none of %s is set", e.Provider, strings.Join(e.Vars, ", "))
}

// URLError says what is wrong with a base URL; URL is without user info.
type URLError struct{ URL, Reason string }

// Error shows the URL without user info.
func (e *URLError) Error() string { return fmt.Sprintf("base URL %q %s", e.URL, e.Reason) }

// RefusedModelError says that a model is known not to work.
type RefusedModelError struct{ Provider, Model, Reason string }

// Error gives the reason of the table.
func (e *RefusedModelError) Error() string {
	return fmt.Sprintf("%s model %q cannot be used: %s", e.Provider, e.Model, e.Reason)
}

// Choice is what one source of settings says; empty fields say nothing.
type Choice struct{ Provider, Model, BaseURL string }

// Settings are the sources from which an Endpoint is resolved, nearest first: the embedded flags, the AUTONOMY_*
// variables, the user's config (its choice before its rows), the table. Nothing of a workspace belongs here.
type Settings struct {
	Provider, Model, BaseURL string
	// Key is a key given by the caller itself; it goes before all lookups.
	Key Secret
	// User is the user-level config.
	User Choice
	// Env looks up an environment variable, Keys a name in the user's keys.env; "" is absent. Nil finds nothing.
	Env, Keys func(string) string
	// Window lowers the context window, in tokens.
	Window int
	// Rows are what the user's config changes of the table, by provider.
	Rows map[string]Row
}

// Row is what a user changes of one row of the table; a zero field leaves it as it is.
type Row struct {
	BaseURL, Model string
	// PerMinute is the number of requests a minute to begin with, and InFlight how many go at once.
	PerMinute, InFlight int
	Limits              wire.Limits
	// Window lowers the context window, in tokens.
	Window int
}

// Pace says for people how fast and how many at once.
func (p Provider) Pace() string {
	pace := "no limit a minute"
	if p.PerMinute > 0 {
		pace = fmt.Sprintf("%d a minute", p.PerMinute)
	}
	return fmt.Sprintf("%s, %d at once", pace, p.InFlight)
}

// changed is a row of the table with what the user says about it. BaseURL and Model are no part of it: they stand
// between the other sources and the table.
func (p Provider) changed(r Row) Provider {
	p.PerMinute, p.InFlight = cmp.Or(r.PerMinute, p.PerMinute), cmp.Or(r.InFlight, p.InFlight)
	p.Limits = wire.Limits{
		First: cmp.Or(r.Limits.First, p.Limits.First), Idle: cmp.Or(r.Limits.Idle, p.Limits.Idle),
		Total: cmp.Or(r.Limits.Total, p.Limits.Total),
	}
	return p
}

// level is one source with its name.
type level struct {
	Choice
	name string
}

// Resolve decides provider, model, URL and key. A model or URL that a source gives together with another provider does
// not count. Errors: ErrNoProvider, *UnknownProviderError, *MissingKeyError, *URLError, *RefusedModelError; with a
// *MissingKeyError comes all of the endpoint but its key, for a caller that shows what was found.
func Resolve(s Settings) (Endpoint, error) {
	env := func(name string) string { return lookup(s.Env, name) }
	levels := []level{
		{Choice{s.Provider, s.Model, s.BaseURL}, "flag"},
		{Choice{env("AUTONOMY_PROVIDER"), env("AUTONOMY_MODEL"), env("AUTONOMY_BASE_URL")}, "AUTONOMY_*"},
		{s.User, "user config"},
	}
	for id := range s.Rows {
		if _, ok := Find(id); !ok {
			return Endpoint{}, &UnknownProviderError{ID: id}
		}
	}
	row, from, err := chooseProvider(levels)
	if err != nil {
		return Endpoint{}, err
	}
	mine := s.Rows[row.ID]
	row = row.changed(mine)
	levels = append(levels, level{Choice{row.ID, mine.Model, mine.BaseURL}, "providers in your config.yaml"})
	e := Endpoint{
		Provider: row, Limits: row.Limits, Window: cmp.Or(s.Window, mine.Window), Model: row.Model, BaseURL: row.BaseURL, URLFrom: "table",
	}
	urlFrom := -1
	for i := len(levels) - 1; i >= 0; i-- {
		l := levels[i]
		if l.Provider != "" && l.Provider != row.ID {
			continue
		}
		if l.Model != "" {
			e.Model = l.Model
		}
		if l.BaseURL != "" {
			e.BaseURL, e.URLFrom, urlFrom = l.BaseURL, l.name, i
		}
	}
	if urlFrom < 0 {
		e.urlFromRow(env)
	}
	if row.ID == "ollama" {
		e.ContextHint, _ = strconv.Atoi(env("OLLAMA_CONTEXT_LENGTH")) // nonsense counts as absent
	}
	chosenHere := from < 2 || urlFrom >= 0 && urlFrom < 2
	e.findKey(s, env, chosenHere)
	if row.ID == "kimi-coding" && e.URLFrom == "table" && strings.HasPrefix(e.Key.Reveal(), kimiCodingKey) {
		e.BaseURL = kimiCodingURL
	}
	return e.checked()
}

// Keys of Kimi's coding plan belong to a host of their own.
const (
	kimiCodingURL = "https://api.kimi.com/coding/v1"
	kimiCodingKey = "sk-kimi-"
)

// lookup is a trimmed look-up that also takes no function at all.
func lookup(f func(string) string, name string) string {
	if f == nil {
		return ""
	}
	return strings.TrimSpace(f(name))
}

// chooseProvider finds the row and the level that named it. A base URL alone means the custom row.
func chooseProvider(levels []level) (Provider, int, error) {
	for i, l := range levels {
		id := l.Provider
		if id == "" && l.BaseURL != "" && !laterProvider(levels[i+1:]) {
			id = Custom
		}
		if id == "" {
			continue
		}
		row, ok := Find(id)
		if !ok {
			return Provider{}, 0, &UnknownProviderError{ID: id}
		}
		return row, i, nil
	}
	return Provider{}, 0, ErrNoProvider
}

// laterProvider reports whether a source further away names a provider, which a nearer base URL then belongs to.
func laterProvider(levels []level) bool {
	for _, l := range levels {
		if l.Provider != "" {
			return true
		}
	}
	return false
}

// urlFromRow takes the base URL from the row's own variables.
func (e *Endpoint) urlFromRow(env func(string) string) {
	for _, name := range e.Provider.URLVars {
		v := env(name)
		if v == "" {
			continue
		}
		if name == "OLLAMA_HOST" {
			v = ollamaURL(v)
		}
		e.BaseURL, e.URLFrom = v, name
		return
	}
}

// findKey takes the first key there is. AUTONOMY_API_KEY counts only if a flag or an AUTONOMY_* variable chose the
// provider or the URL, so that it is never sent where it was not meant to go.
func (e *Endpoint) findKey(s Settings, env func(string) string, chosenHere bool) {
	if s.Key != "" {
		e.Key, e.KeyFrom = s.Key, "given"
		return
	}
	vars := e.KeyVars()
	if chosenHere {
		vars = append([]string{"AUTONOMY_API_KEY"}, vars...)
	}
	for _, source := range []struct {
		name string
		get  func(string) string
	}{{"environment", env}, {"keys.env", func(n string) string { return lookup(s.Keys, n) }}} {
		for _, name := range vars {
			if v := source.get(name); v != "" {
				e.Key, e.KeyFrom = Secret(v), name+" ("+source.name+")"
				return
			}
		}
	}
	if e.Provider.LocalKey != "" {
		e.Key, e.KeyFrom = Secret(e.Provider.LocalKey), "fixed"
	}
}

// KeyVars are the names under which a key for this endpoint is looked up, in order: the row's variables as far as they
// belong to the host. A local Ollama gets no key of the cloud, the keys of LM Studio and LiteLLM go to their own ports
// alone, and any other custom server has a name of its own.
func (e *Endpoint) KeyVars() []string {
	switch {
	case e.Provider.ID == "ollama" && e.Loopback():
		return nil
	case e.Provider.ID == Custom:
		switch {
		case e.URLFrom == "LM_BASE_URL" || hasPort(e.BaseURL, "1234"):
			return []string{"LM_API_KEY"}
		case hasPort(e.BaseURL, "4000"):
			return []string{"LITELLM_API_KEY"}
		}
		return []string{HostKeyVar(e.BaseURL)}
	}
	return e.Provider.KeyVars
}

// HostKeyVar is the name of the key for one custom server: its host and port are part of it, so that the key is never
// sent elsewhere. "" is the answer for what is no URL.
func HostKeyVar(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return ""
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(u.Host))
	return "AUTONOMY_KEY_" + name
}

// hasPort tells local servers apart by their usual ports.
func hasPort(base, port string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Port() == port
}

// checked validates what was found.
func (e Endpoint) checked() (Endpoint, error) {
	base, err := checkURL(e.BaseURL)
	if err != nil {
		return Endpoint{}, err
	}
	e.BaseURL = base
	e.Quirks = e.Provider.QuirksFor(e.Model)
	if e.Quirks.Refused != "" {
		return Endpoint{}, &RefusedModelError{Provider: e.Provider.ID, Model: e.Model, Reason: e.Quirks.Refused}
	}
	if e.Key == "" && !e.Provider.KeyOptional {
		return e, &MissingKeyError{Provider: e.Provider.ID, Vars: e.Provider.KeyVars}
	}
	if strings.HasPrefix(e.BaseURL, "http://") && e.Key != "" && e.Key != Secret(e.Provider.LocalKey) && !e.Loopback() {
		e.Warnings = append(e.Warnings, "the key is sent over plain http to "+hostOf(e.BaseURL))
	}
	return e, nil
}

// checkURL takes a base URL as it is written, less one slash at the end; nothing is added or repaired.
func checkURL(base string) (string, error) {
	base = strings.TrimSuffix(base, "/")
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", &URLError{"[not a URL]", "does not parse"}
	case base == "":
		return "", &URLError{base, "is missing"}
	case u.Scheme != "http" && u.Scheme != "https":
		return "", &URLError{shownURL(base), "must begin with http:// or https://"}
	case u.Host == "":
		return "", &URLError{shownURL(base), "has no host"}
	case u.RawQuery != "" || u.Fragment != "":
		return "", &URLError{shownURL(base), "must not have a query or fragment"}
	}
	return base, nil
}

// ollamaURL turns OLLAMA_HOST, which is a host rather than a URL, into the base URL that Ollama itself would mean.
func ollamaURL(host string) string {
	scheme, rest, ok := strings.Cut(host, "://")
	port := "11434"
	switch {
	case !ok:
		scheme, rest = "http", host
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	}
	rest = strings.TrimRight(rest, "/")
	hostPort, path, _ := strings.Cut(rest, "/")
	u, err := url.Parse(scheme + "://" + hostPort)
	if err != nil {
		return host
	}
	name := u.Hostname()
	if u.Port() != "" {
		port = u.Port()
	}
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	base := scheme + "://" + name + ":" + port
	if path != "" {
		base += "/" + path
	}
	return base + "/v1"
}
