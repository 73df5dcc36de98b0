package agent

import (
	"errors"
	"sync"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// The token budgets where nobody sets one. Cost is unlimited until somebody does.
const (
	RunTokens    = 2_000_000
	MemberTokens = 20_000_000
	TeamTokens   = 100_000_000
)

// PurseConfig describes a purse. A limit of 0 is the scope's default (no limit for a task), a negative one no limit.
type PurseConfig struct {
	Scope  Scope
	Tokens int
	Cost   float64 // US dollars
	Parent *Purse  // pays as well: a run's is its member's, a member's the team's
}

// Purse is a Budget of one scope in front of that of its parent. It is safe for concurrent use: what is reserved by one
// run can't be reserved by another.
type Purse struct {
	cfg      PurseConfig
	mu       sync.Mutex
	reserved int
	used     llm.Usage
}

// NewPurse makes a full purse.
func NewPurse(cfg PurseConfig) (*Purse, error) {
	if cfg.Tokens == 0 {
		switch cfg.Scope {
		case ScopeRun:
			cfg.Tokens = RunTokens
		case ScopeMember:
			cfg.Tokens = MemberTokens
		case ScopeTeam:
			cfg.Tokens = TeamTokens
		case ScopeTask:
			cfg.Tokens = -1
		default:
			return nil, errors.New("agent: PurseConfig.Scope is not a scope")
		}
	}
	return &Purse{cfg: cfg}, nil
}

// Reserve sets tokens aside here and in every parent, or in none of them.
func (p *Purse) Reserve(tokens int) (func(llm.Usage), error) {
	if err := p.take(tokens); err != nil {
		return nil, err
	}
	parent := func(llm.Usage) {}
	if p.cfg.Parent != nil {
		var err error
		if parent, err = p.cfg.Parent.Reserve(tokens); err != nil {
			p.give(tokens, llm.Usage{})
			return nil, err
		}
	}
	var once sync.Once
	return func(u llm.Usage) {
		once.Do(func() {
			p.give(tokens, u)
			parent(u)
		})
	}, nil
}

func (p *Purse) take(tokens int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	spoken := p.used.Total() + p.reserved
	if limit := p.cfg.Tokens; limit >= 0 && spoken+tokens > limit {
		return &BudgetError{p.cfg.Scope, "tokens", float64(limit), float64(spoken)}
	}
	if limit := p.cfg.Cost; limit > 0 && p.used.Cost >= limit {
		return &BudgetError{p.cfg.Scope, "cost", limit, p.used.Cost}
	}
	p.reserved += tokens
	return nil
}

func (p *Purse) give(tokens int, u llm.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved -= tokens
	p.used = p.used.Add(u)
}

// Used is what has been settled so far.
func (p *Purse) Used() llm.Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}
