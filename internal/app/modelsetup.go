package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/doctor"
)

// ModelDraft is a model that is being set up: what would be saved, tried before it is.
type ModelDraft struct {
	Provider string
	BaseURL  string // "" = the provider's own
	Model    string
	Key      string // entered now; "" = the one that is found
}

// DraftEndpoint is where a draft leads once it is saved: the AUTONOMY_* variables do not count, for they may be gone by
// then. Errors are those of provider.Resolve; the endpoint comes with a *provider.MissingKeyError too.
func (a *App) DraftEndpoint(d ModelDraft) (provider.Endpoint, error) {
	env := a.opts.Getenv
	for _, name := range []string{"AUTONOMY_PROVIDER", "AUTONOMY_MODEL", "AUTONOMY_BASE_URL", "AUTONOMY_API_KEY"} {
		env = without(env, name)
	}
	s := provider.Settings{
		User: provider.Choice{Provider: d.Provider, Model: d.Model, BaseURL: d.BaseURL},
		Key:  provider.Secret(d.Key), Env: env, Keys: a.keys.Get,
	}
	if set, err := a.Settings(); err == nil { // a broken file is refused when it is written
		s.Rows = rows(set)
	}
	return provider.Resolve(s)
}

// ModelsOf lists the models of a server.
func (a *App) ModelsOf(ctx context.Context, e provider.Endpoint) ([]provider.ModelInfo, error) {
	return provider.ListModels(ctx, e, nil)
}

// CheckModel tries a draft as doctor tries the model of the settings.
func (a *App) CheckModel(ctx context.Context, d ModelDraft, progress func(done, total int)) []doctor.Row {
	e, err := a.DraftEndpoint(d)
	m := doctor.Model{Endpoint: e, Err: err, Version: control.Version()}
	var wire *control.Error
	if errors.As(a.modelError(err), &wire) {
		m.Fix = wire.Hint
	}
	return a.clean(doctor.Run(ctx, []doctor.Chain{doctor.Models(m)}, doctor.Options{Progress: progress}))
}

// SavedModel says where a draft went.
type SavedModel struct {
	Config  string   // path of the user's config.yaml
	KeyName string   // under which the key is stored; "" = none was entered
	Keys    string   // path of keys.env
	Wins    []string // what goes before the saved values here, for people
}

// SaveModel writes a draft to the user's own files, the key first: a model without its key is of no use.
func (a *App) SaveModel(d ModelDraft) (SavedModel, error) {
	dir, err := a.userDir()
	if err != nil {
		return SavedModel{}, err
	}
	saved := SavedModel{Config: config.UserConfig(dir), Keys: config.KeysFile(dir)}
	e, err := a.DraftEndpoint(d)
	if missing := (*provider.MissingKeyError)(nil); err != nil && !errors.As(err, &missing) {
		return saved, err
	}
	if d.Key != "" {
		names := e.KeyVars()
		if len(names) == 0 {
			return saved, fmt.Errorf("save the key: %s at %s takes none", e.Provider.ID, e.ShownURL())
		}
		saved.KeyName = names[0]
		if err := config.SetKey(saved.Keys, saved.KeyName, d.Key); err != nil {
			return saved, err
		}
	}
	base := strings.TrimSuffix(d.BaseURL, "/")
	if set, err := a.Settings(); err == nil && base == e.Provider.BaseURL && set.Providers[e.Provider.ID].BaseURL == "" {
		base = "" // it would be that without being said
	}
	err = config.SetModel(saved.Config, config.ModelChoice{Provider: e.Provider.ID, Model: d.Model, BaseURL: base})
	saved.Wins = a.wins(saved.KeyName)
	return saved, err
}

// wins names what goes before the user's own files at this moment.
func (a *App) wins(key string) []string {
	var notes []string
	for _, name := range []string{"AUTONOMY_PROVIDER", "AUTONOMY_MODEL", "AUTONOMY_BASE_URL", key} {
		if name != "" && a.opts.Getenv(name) != "" {
			notes = append(notes, name+" is set in the environment and wins here")
		}
	}
	if set, err := a.Settings(); err == nil {
		for _, field := range []string{"provider", "model"} {
			if set.Source(field) == config.FromWorkspace {
				notes = append(notes, "the "+field+" of "+a.ws.Config()+" wins in this workspace")
			}
		}
	}
	return notes
}

// UseModel makes the draft for `model use PROVIDER/MODEL` or, for the provider of the user's settings, `model use MODEL`.
func (a *App) UseModel(word string) (ModelDraft, error) {
	dir, err := a.userDir()
	if err != nil {
		return ModelDraft{}, err
	}
	now, err := config.UserModel(config.UserConfig(dir))
	if err != nil {
		return ModelDraft{}, err
	}
	if now.Provider == "" && now.BaseURL != "" {
		now.Provider = provider.Custom
	}
	d := ModelDraft{Provider: now.Provider, BaseURL: now.BaseURL, Model: word}
	if id, model, ok := strings.Cut(word, "/"); ok {
		if _, known := provider.Find(id); known {
			d.Provider, d.Model = id, model
		}
	}
	switch {
	case d.Model == "":
		return d, control.Errorf(control.CodeInvalid, "no model in %q: want PROVIDER/MODEL or MODEL", word)
	case d.Provider == "":
		return d, control.Errorf(control.CodeInvalid, "no provider is chosen yet: want PROVIDER/MODEL, or run autonomy model setup")
	}
	if d.Provider != now.Provider {
		d.BaseURL = "" // it belongs to the other one
	}
	_, err = a.DraftEndpoint(d)
	var missing *provider.MissingKeyError
	if err != nil && !errors.As(err, &missing) {
		return d, a.modelError(err)
	}
	return d, nil
}

// ModelValue is one value of the model in use, and where it comes from.
type ModelValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// ShowModel tells every value of the model in use. Of the key it tells where it is, never what.
func (a *App) ShowModel() ([]ModelValue, error) {
	set, err := a.Settings()
	if err != nil {
		return nil, err
	}
	e, err := a.flagEndpoint(provider.Choice{})
	var missing *provider.MissingKeyError
	if err != nil && !errors.As(err, &missing) {
		return nil, a.modelError(err)
	}
	key := ModelValue{Name: "key", Value: "found", From: e.KeyFrom}
	switch {
	case missing != nil:
		key.Value, key.From = "missing", "looked for "+strings.Join(missing.Vars, ", ")
	case e.Key == "" || e.KeyFrom == "fixed":
		key.Value, key.From = "none needed", ""
	}
	values := []ModelValue{
		{"provider", e.Provider.ID, a.from(set, "provider", e.Provider.ID == set.Provider, "a base URL without a provider")},
		a.shownModel(set, e),
		{"base_url", e.ShownURL(), a.from(set, "base_url", e.BaseURL == strings.TrimSuffix(set.BaseURL, "/"), e.URLFrom)},
		key,
	}
	if len(set.Fallback) > 0 {
		values = append(values, ModelValue{"fallback", strings.Join(set.Fallback, ", "), a.sourceName(set, "fallback", "")})
	}
	return append(values, bounds(set.Providers[e.Provider.ID], e)...), nil
}

// shownModel is the model's name and where it comes from.
func (a *App) shownModel(set config.Settings, e provider.Endpoint) ModelValue {
	otherwise := "the provider's default"
	switch {
	case e.Model == "":
		return ModelValue{"model", "the first of the server that can use tools", otherwise}
	case set.Providers[e.Provider.ID].Model == e.Model:
		otherwise = ownRow
	}
	return ModelValue{"model", e.Model, a.from(set, "model", e.Model == set.Model, otherwise)}
}

// ownRow names the part of the user's settings that changes a row of the table.
const ownRow = "providers in your config.yaml"

// bounds are the pace of an endpoint and the patience with it, and whether the user's settings changed them.
func bounds(mine config.Provider, e provider.Endpoint) []ModelValue {
	of := func(name, value string, changed bool) ModelValue {
		if changed {
			return ModelValue{name, value, ownRow}
		}
		return ModelValue{name, value, "table"}
	}
	values := []ModelValue{
		of("requests", e.Provider.Pace(), mine.RequestsPerMinute > 0 || mine.MaxInFlight > 0),
		of("limits", e.Patience(), mine.Limits != config.Limits{}),
	}
	if e.Window > 0 {
		values = append(values, of("window", fmt.Sprintf("at most %d tokens", e.Window), true))
	}
	return values
}

// from is the place of a setting where it decides, else of what decided in its stead.
func (a *App) from(set config.Settings, field string, decides bool, otherwise string) string {
	if !decides {
		return otherwise
	}
	return a.sourceName(set, field, otherwise)
}

// sourceName is the place of a setting for people.
func (a *App) sourceName(set config.Settings, field, otherwise string) string {
	switch from := set.Source(field); from {
	case config.FromEnvironment:
		return "AUTONOMY_" + strings.ToUpper(field) + " (environment)"
	case config.FromUser:
		if dir, err := a.userDir(); err == nil {
			return config.UserConfig(dir)
		}
		return string(from)
	case config.FromWorkspace:
		return a.ws.Config()
	case config.FromDefault:
		return otherwise
	default:
		return string(from)
	}
}

// Endpoint resolves the choice of a command line; its errors carry advice.
func (a *App) Endpoint(c provider.Choice) (provider.Endpoint, error) {
	e, err := a.flagEndpoint(c)
	if err != nil {
		return e, a.modelError(err)
	}
	return e, nil
}

// MissesKey reports whether a draft needs a key that is not found.
func (a *App) MissesKey(d ModelDraft) bool {
	var missing *provider.MissingKeyError
	_, err := a.DraftEndpoint(d)
	return errors.As(err, &missing)
}
