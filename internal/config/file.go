package config

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/strictyaml"
)

// File is one layer of settings: what a config.yaml, the environment or the flags say. A nil field says nothing.
type File struct {
	Team         *string        `yaml:"team"`
	Provider     *string        `yaml:"provider"`
	Model        *string        `yaml:"model"`
	BaseURL      *string        `yaml:"base_url"` // never from a workspace
	Fallback     []string       `yaml:"fallback"` // PROVIDER/MODEL, in the order they are tried
	Mode         *string        `yaml:"mode"`
	Judge        *string        `yaml:"judge"`
	Poll         *time.Duration `yaml:"poll"`
	IdleTimeout  *time.Duration `yaml:"idle_timeout"`
	MaxTeammates *int           `yaml:"max_teammates"`
	Revive       *bool          `yaml:"revive"`
	Budget       BudgetFile     `yaml:"budget"`

	Prices    map[string]Price    `yaml:"prices"`    // by PROVIDER/MODEL, * for any; the user's alone
	Providers map[string]Provider `yaml:"providers"` // by name; the user's alone
}

// Provider is what a user changes of one provider's row; a zero field leaves it as it is.
type Provider struct {
	BaseURL           string `yaml:"base_url"`
	Model             string `yaml:"model"`
	RequestsPerMinute int    `yaml:"requests_per_minute"`
	MaxInFlight       int    `yaml:"max_in_flight"`
	Window            int    `yaml:"window"` // tokens; lowers alone
	Limits            Limits `yaml:"limits"`
}

// Limits are how long a request may take: until the answer begins, between two of its bytes, and in all.
type Limits struct {
	FirstByte time.Duration `yaml:"first_byte"`
	Idle      time.Duration `yaml:"idle"`
	Total     time.Duration `yaml:"total"`
}

// check names the field that may not be what it is.
func (p Provider) check() (field string) {
	for name, n := range map[string]int64{
		"requests_per_minute": int64(p.RequestsPerMinute), "max_in_flight": int64(p.MaxInFlight), "window": int64(p.Window),
		"limits.first_byte": int64(p.Limits.FirstByte), "limits.idle": int64(p.Limits.Idle), "limits.total": int64(p.Limits.Total),
	} {
		if n < 0 {
			return name
		}
	}
	return ""
}

// Price is what a million tokens of a model cost, in US dollars. Cached 0 = as much as Input.
type Price struct {
	Input  float64 `yaml:"input"`
	Output float64 `yaml:"output"`
	Cached float64 `yaml:"cached"`
}

// BudgetFile is the part of a File on budgets. Tokens count prompt and answer; costs are US dollars.
type BudgetFile struct {
	RunTokens    *int64         `yaml:"run_tokens"`
	RunTime      *time.Duration `yaml:"run_time"`
	RunCost      *float64       `yaml:"run_cost"`
	MemberTokens *int64         `yaml:"member_tokens"`
	MemberCost   *float64       `yaml:"member_cost"`
	TeamTokens   *int64         `yaml:"team_tokens"`
	TeamCost     *float64       `yaml:"team_cost"`
}

// ValueError says that a layer sets a field to what it may not be.
type ValueError struct {
	Where string // path of the file, or "environment" or "flags"
	Field string
	Msg   string
}

func (e *ValueError) Error() string { return fmt.Sprintf("%s: %s %s", e.Where, e.Field, e.Msg) }

// readFile reads a config.yaml; one that does not exist says nothing. Errors are *strictyaml.Error, *ValueError or the
// disk's.
func readFile(path string) (File, error) {
	var f File
	src, _, err := atomicfile.ReadFile(atomicfile.OS(), path, strictyaml.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("read settings: %w", err)
	}
	if err := strictyaml.Decode(src, path, &f); err != nil {
		return f, err
	}
	return f, f.check(path)
}

// check refuses values that no layer may set.
func (f *File) check(where string) error {
	bad := func(field, format string, args ...any) error {
		return &ValueError{Where: where, Field: field, Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case f.Team != nil && !validTeam(*f.Team):
		return bad("team", "must be 1 to 64 letters, digits, - and _, not %q", *f.Team)
	case f.Mode != nil && modeRank(*f.Mode) == 0:
		return bad("mode", "must be read-only, ask, auto or full, not %q", *f.Mode)
	case f.Judge != nil && *f.Judge != "auto" && *f.Judge != "never" && *f.Judge != "always":
		return bad("judge", "must be auto, never or always, not %q", *f.Judge)
	case f.Poll != nil && (*f.Poll < 10*time.Millisecond || *f.Poll > 10*time.Minute):
		return bad("poll", "must be from 10ms to 10m, not %s", *f.Poll)
	case f.IdleTimeout != nil && *f.IdleTimeout <= 0:
		return bad("idle_timeout", "must be more than 0, not %s", *f.IdleTimeout)
	case f.MaxTeammates != nil && (*f.MaxTeammates < 1 || *f.MaxTeammates > 512):
		return bad("max_teammates", "must be from 1 to 512, not %d", *f.MaxTeammates)
	}
	for model, p := range f.Prices {
		if !(p.Input >= 0 && p.Output >= 0 && p.Cached >= 0) {
			return bad("prices", "of %q must not be below 0", model)
		}
	}
	for name, p := range f.Providers {
		if field := p.check(); field != "" {
			return bad("providers."+name+"."+field, "must not be below 0")
		}
	}
	return f.Budget.check(bad)
}

func (b *BudgetFile) check(bad func(field, format string, args ...any) error) error {
	for field, tokens := range map[string]*int64{
		"run_tokens": b.RunTokens, "member_tokens": b.MemberTokens, "team_tokens": b.TeamTokens,
	} {
		if tokens != nil && *tokens <= 0 {
			return bad("budget."+field, "must be more than 0, not %d", *tokens)
		}
	}
	for field, cost := range map[string]*float64{
		"run_cost": b.RunCost, "member_cost": b.MemberCost, "team_cost": b.TeamCost,
	} {
		if cost != nil && !(*cost > 0) {
			return bad("budget."+field, "must be more than 0, not %v", *cost)
		}
	}
	if b.RunTime != nil && *b.RunTime <= 0 {
		return bad("budget.run_time", "must be more than 0, not %s", *b.RunTime)
	}
	return nil
}

// checkStored refuses what a file may not say: full is given by a flag, each time, and announced.
func (f *File) checkStored(where string) error {
	if f.Mode != nil && *f.Mode == ModeFull {
		return &ValueError{Where: where, Field: "mode", Msg: "full is given by up --mode full or run --mode full alone"}
	}
	return nil
}

// checkWorkspace refuses what a workspace may not say, even a trusted one.
func (f *File) checkWorkspace(where string) error {
	if f.BaseURL != nil {
		return &ValueError{Where: where, Field: "base_url", Msg: "is not for a workspace to set: it says where keys are sent"}
	}
	if f.Prices != nil {
		return &ValueError{Where: where, Field: "prices", Msg: "are not for a workspace to set: they decide when a budget is used up"}
	}
	if f.Providers != nil {
		return &ValueError{Where: where, Field: "providers", Msg: "are not for a workspace to set: they say where keys are sent"}
	}
	return f.checkStored(where)
}

func validTeam(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			continue
		}
		return false
	}
	return true
}

// The modes, narrowest first.
const (
	ModeReadOnly = "read-only"
	ModeAsk      = "ask"
	ModeAuto     = "auto"
	ModeFull     = "full"
)

// modeRank orders the modes; 0 is no mode.
func modeRank(mode string) int {
	for i, known := range [...]string{ModeReadOnly, ModeAsk, ModeAuto, ModeFull} {
		if mode == known {
			return i + 1
		}
	}
	return 0
}
