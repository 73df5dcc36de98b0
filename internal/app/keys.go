package app

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
)

// KeyInfo is one key without its text.
type KeyInfo struct {
	Name   string   `json:"name"`
	From   string   `json:"from"`             // "environment" or "keys.env": the one that counts
	Hidden bool     `json:"hidden,omitempty"` // keys.env has one too, which does not count
	UsedBy []string `json:"used_by"`          // providers
}

// Keys lists the keys that can be found here, by name. The error says why keys.env can't be read.
func (a *App) Keys() ([]KeyInfo, error) {
	if a.keyFault != nil {
		return nil, a.keyFault
	}
	found := map[string]KeyInfo{}
	for _, name := range a.keys.Names() {
		found[name] = KeyInfo{Name: name, From: "keys.env", UsedBy: users(name)}
	}
	for _, name := range append(a.keyNames(), a.keys.Names()...) {
		if a.opts.Getenv(name) != "" {
			found[name] = KeyInfo{Name: name, From: "environment", Hidden: a.keys.Get(name) != "", UsedBy: users(name)}
		}
	}
	list := []KeyInfo{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[name])
	}
	return list, nil
}

// users are the providers that look for a key under this name.
func users(name string) []string {
	ids := []string{}
	for _, p := range provider.Table() {
		if slices.Contains(p.KeyVars, name) || p.ID == provider.Custom && strings.HasPrefix(name, "AUTONOMY_KEY_") {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// KeyName is the name under which a key is stored: that of a provider, or the word itself when it can be a variable's.
func (a *App) KeyName(word string) (string, error) {
	row, known := provider.Find(word)
	switch {
	case !known && config.ValidKeyName(word) && word == strings.ToUpper(word):
		if word == "AUTONOMY_API_KEY" {
			return "", control.Errorf(control.CodeInvalid, "AUTONOMY_API_KEY counts in the environment alone: name a provider, or the provider's variable")
		}
		return word, nil
	case !known:
		return "", control.Errorf(control.CodeInvalid, "%q is not the name of a variable; %v", word, &provider.UnknownProviderError{ID: word})
	case row.ID != provider.Custom:
		return row.KeyVars[0], nil
	}
	set, err := a.Settings()
	if err != nil {
		return "", err
	}
	e := provider.Endpoint{Provider: row, BaseURL: cmp.Or(set.BaseURL, set.Providers[provider.Custom].BaseURL)}
	if names := e.KeyVars(); e.BaseURL != "" && len(names) > 0 {
		return names[0], nil
	}
	return "", control.Errorf(control.CodeInvalid,
		"the key of a custom server is named after its host, as in %s: give that name, or run autonomy model setup",
		provider.HostKeyVar("http://gpu.example.com:8000"))
}

// StoreKey keeps a key under a name in keys.env; an empty value removes it. wins says that the environment has one that
// goes before it.
func (a *App) StoreKey(name, value string) (path string, wins bool, err error) {
	dir, err := a.userDir()
	if err != nil {
		return "", false, err
	}
	path = config.KeysFile(dir)
	return path, a.opts.Getenv(name) != "", config.SetKey(path, name, value)
}

// HasStoredKey reports whether keys.env has a key of that name.
func (a *App) HasStoredKey(name string) bool { return a.keys.Get(name) != "" }
