package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/autonomy-team/autonomy"
)

// Settings are all layers merged.
type Settings struct {
	Team         autonomy.TeamName
	Provider     string // "" = none chosen
	Model        string // "" = the provider's default, or none
	BaseURL      string // "" = the provider's own
	Fallback     []string
	Mode         string
	Judge        string
	Poll         time.Duration
	IdleTimeout  time.Duration
	MaxTeammates int
	Revive       bool
	Budget       Budget
	Prices       map[string]Price    // by PROVIDER/MODEL, * for any
	Providers    map[string]Provider // by name

	Sources  map[string]Source // of each value, by the field's name in config.yaml ("budget.run_cost")
	Warnings []string          // values of the workspace that would have widened what the user allows, and were left
}

// Budget limits what is spent. Token counts are of prompt and answer together; costs are US dollars, 0 = no limit.
type Budget struct {
	RunTokens    int64
	RunTime      time.Duration
	RunCost      float64
	MemberTokens int64 // of one member in one life of the daemon
	MemberCost   float64
	TeamTokens   int64 // of all members in one life of the daemon
	TeamCost     float64
}

// Source says where a value comes from: "default", "user", "workspace", "environment" or "flag".
type Source string

// The sources, weakest first.
const (
	FromDefault     Source = "default"
	FromUser        Source = "user"
	FromWorkspace   Source = "workspace"
	FromEnvironment Source = "environment"
	FromFlag        Source = "flag"
)

func defaults() Settings {
	s := Settings{
		Team: "default", Mode: ModeAuto, Judge: "auto", Poll: 5 * time.Second, IdleTimeout: time.Minute,
		MaxTeammates: 8, Revive: true,
		Budget:  Budget{RunTokens: 2_000_000, RunTime: 2 * time.Hour, MemberTokens: 20_000_000, TeamTokens: 100_000_000},
		Sources: map[string]Source{},
	}
	return s
}

// Options say which layers Load reads.
type Options struct {
	UserDir   string     // from UserDir; "" = no user settings
	Workspace *Workspace // nil = none, or one whose config.yaml may not act: not trusted, or changed since
	Env       func(string) string
	Flags     File
}

// Load reads and merges the layers: defaults, the user's config.yaml, the workspace's, the environment, the flags. The
// workspace narrows what the two before it allow; the person's own environment and flags come after it.
func Load(o Options) (Settings, error) {
	s := defaults()
	if o.UserDir != "" {
		path := filepath.Join(o.UserDir, "config.yaml")
		f, err := readFile(path)
		if err = errors.Join(err, f.checkStored(path)); err != nil {
			return Settings{}, err
		}
		s.apply(f, FromUser)
	}
	if o.Workspace != nil {
		path := o.Workspace.Config()
		f, err := readFile(path)
		if err = errors.Join(err, f.checkWorkspace(path)); err != nil {
			return Settings{}, err
		}
		s.apply(s.narrowed(f, path), FromWorkspace)
	}
	if o.Env != nil {
		s.apply(File{
			Provider: fromEnv(o.Env, "AUTONOMY_PROVIDER"), Model: fromEnv(o.Env, "AUTONOMY_MODEL"),
			BaseURL: fromEnv(o.Env, "AUTONOMY_BASE_URL"),
		}, FromEnvironment)
	}
	if err := o.Flags.check("flags"); err != nil {
		return Settings{}, err
	}
	s.apply(o.Flags, FromFlag)
	return s, nil
}

func fromEnv(env func(string) string, name string) *string {
	if value := env(name); value != "" {
		return &value
	}
	return nil
}

// Source of a field by its name in config.yaml.
func (s *Settings) Source(field string) Source {
	return cmp.Or(s.Sources[field], FromDefault)
}

// apply overwrites s with what f says. A layer that changes the provider also forgets the model and the URL of the
// layers below, which belong to another server.
func (s *Settings) apply(f File, from Source) {
	if f.Provider != nil && *f.Provider != s.Provider {
		s.Model, s.BaseURL = "", ""
		delete(s.Sources, "model")
		delete(s.Sources, "base_url")
	}
	if f.Team != nil {
		team := autonomy.TeamName(*f.Team)
		set(s, "team", &s.Team, &team, from)
	}
	set(s, "provider", &s.Provider, f.Provider, from)
	set(s, "model", &s.Model, f.Model, from)
	set(s, "base_url", &s.BaseURL, f.BaseURL, from)
	if f.Fallback != nil {
		set(s, "fallback", &s.Fallback, &f.Fallback, from)
	}
	if f.Prices != nil {
		set(s, "prices", &s.Prices, &f.Prices, from)
	}
	if f.Providers != nil {
		set(s, "providers", &s.Providers, &f.Providers, from)
	}
	set(s, "mode", &s.Mode, f.Mode, from)
	set(s, "judge", &s.Judge, f.Judge, from)
	set(s, "poll", &s.Poll, f.Poll, from)
	set(s, "idle_timeout", &s.IdleTimeout, f.IdleTimeout, from)
	set(s, "max_teammates", &s.MaxTeammates, f.MaxTeammates, from)
	set(s, "revive", &s.Revive, f.Revive, from)
	b := &s.Budget
	set(s, "budget.run_tokens", &b.RunTokens, f.Budget.RunTokens, from)
	set(s, "budget.run_time", &b.RunTime, f.Budget.RunTime, from)
	set(s, "budget.run_cost", &b.RunCost, f.Budget.RunCost, from)
	set(s, "budget.member_tokens", &b.MemberTokens, f.Budget.MemberTokens, from)
	set(s, "budget.member_cost", &b.MemberCost, f.Budget.MemberCost, from)
	set(s, "budget.team_tokens", &b.TeamTokens, f.Budget.TeamTokens, from)
	set(s, "budget.team_cost", &b.TeamCost, f.Budget.TeamCost, from)
}

func set[T any](s *Settings, field string, to, value *T, from Source) {
	if value != nil {
		*to = *value
		s.Sources[field] = from
	}
}

// narrowed leaves out of a workspace's layer what would widen s.
func (s *Settings) narrowed(f File, path string) File {
	if f.Mode != nil && modeRank(*f.Mode) > modeRank(s.Mode) {
		s.warn(path, "mode", *f.Mode, s.Mode)
		f.Mode = nil
	}
	atMost(s, path, "max_teammates", &f.MaxTeammates, s.MaxTeammates)
	atMost(s, path, "budget.run_tokens", &f.Budget.RunTokens, s.Budget.RunTokens)
	atMost(s, path, "budget.run_time", &f.Budget.RunTime, s.Budget.RunTime)
	atMost(s, path, "budget.run_cost", &f.Budget.RunCost, s.Budget.RunCost)
	atMost(s, path, "budget.member_tokens", &f.Budget.MemberTokens, s.Budget.MemberTokens)
	atMost(s, path, "budget.member_cost", &f.Budget.MemberCost, s.Budget.MemberCost)
	atMost(s, path, "budget.team_tokens", &f.Budget.TeamTokens, s.Budget.TeamTokens)
	atMost(s, path, "budget.team_cost", &f.Budget.TeamCost, s.Budget.TeamCost)
	return f
}

// atMost drops a value above the limit; a limit of 0 is none.
func atMost[T cmp.Ordered](s *Settings, path, field string, value **T, limit T) {
	var none T
	if *value != nil && limit != none && **value > limit {
		s.warn(path, field, **value, limit)
		*value = nil
	}
}

func (s *Settings) warn(path, field string, wants, allowed any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf("%s: %s %v would widen what you allow; %v stays", path, field, wants, allowed))
}
