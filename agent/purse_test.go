package agent_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/llm"
)

func purse(t *testing.T, cfg agent.PurseConfig) *agent.Purse {
	t.Helper()
	p, err := agent.NewPurse(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestR19_CostIsCountedAndCapped(t *testing.T) {
	team := purse(t, agent.PurseConfig{Scope: agent.ScopeTeam, Tokens: 1300})
	member := purse(t, agent.PurseConfig{Scope: agent.ScopeMember, Parent: team})
	work := call("c", "write", `{}`)
	b := newBench(says("", work), says("", work), says("", work))
	b.cfg.Budget = purse(t, agent.PurseConfig{Scope: agent.ScopeRun, Parent: member})
	rep := b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s"})
	b.want(t, agent.Blocked, agent.CodeBudget)
	if rep.Scope != agent.ScopeTeam {
		t.Errorf("scope %q", rep.Scope)
	}
	sum := llm.Usage{}
	for _, c := range find[agent.ModelCall](b.log) {
		sum = sum.Add(c.Usage)
	}
	if sum != rep.Usage || sum != team.Used() || sum != member.Used() || sum.Total() == 0 {
		t.Errorf("events %v, report %v, member %v, team %v", sum, rep.Usage, member.Used(), team.Used())
	}
	if got := find[agent.BudgetRefused](b.log); len(got) != 1 || got[0].Kind != "tokens" {
		t.Errorf("budget events %+v", got)
	}
}

func TestPurseNeverOversells(t *testing.T) {
	team := purse(t, agent.PurseConfig{Scope: agent.ScopeTeam, Tokens: 1000})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			p := purse(t, agent.PurseConfig{Scope: agent.ScopeRun, Parent: team})
			for range 20 {
				settle, err := p.Reserve(10)
				var refused *agent.BudgetError
				if errors.As(err, &refused) {
					continue
				}
				settle(llm.Usage{Prompt: 10})
				settle(llm.Usage{Prompt: 10}) // only the first counts
			}
		})
	}
	wg.Wait()
	if got := team.Used().Total(); got != 1000 {
		t.Errorf("spent %d of 1000", got)
	}
}

func TestCostLimit(t *testing.T) {
	p := purse(t, agent.PurseConfig{Scope: agent.ScopeTask, Cost: 0.5})
	settle, err := p.Reserve(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	settle(llm.Usage{Prompt: 1, Cost: 0.6, CostKnown: true})
	var refused *agent.BudgetError
	if _, err := p.Reserve(1); !errors.As(err, &refused) || refused.Kind != "cost" || refused.Scope != agent.ScopeTask {
		t.Fatalf("got %v", err)
	}
	if _, err := agent.NewPurse(agent.PurseConfig{}); err == nil {
		t.Error("a purse without a scope was made")
	}
}

func TestUsedUpBudgetsAreReadable(t *testing.T) {
	for want, e := range map[string]agent.BudgetError{
		"the member's budget of tokens is used up (1,100,000 of 20,000,000)": {Scope: agent.ScopeMember, Kind: "tokens", Used: 1.1e6, Limit: 2e7},
		"the run's budget of tokens is used up (7 of 999)":                   {Scope: agent.ScopeRun, Kind: "tokens", Used: 7, Limit: 999},
		"the team's budget of cost is used up ($1.5 of $1)":                  {Scope: agent.ScopeTeam, Kind: "cost", Used: 1.5, Limit: 1},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDefaultBudgets(t *testing.T) {
	for scope, tokens := range map[agent.Scope]int{agent.ScopeRun: 2_000_000, agent.ScopeMember: 20_000_000, agent.ScopeTeam: 100_000_000} {
		p := purse(t, agent.PurseConfig{Scope: scope})
		if _, err := p.Reserve(tokens + 1); err == nil {
			t.Errorf("%s: more than %d tokens", scope, tokens)
		}
		if _, err := p.Reserve(tokens); err != nil {
			t.Errorf("%s: %v", scope, err)
		}
	}
	p := purse(t, agent.PurseConfig{Scope: agent.ScopeTask})
	settle, err := p.Reserve(1 << 40)
	if err != nil {
		t.Fatal(err)
	}
	settle(llm.Usage{Cost: 1e6, CostKnown: true})
	if _, err := p.Reserve(1); err != nil {
		t.Errorf("a task has a limit that nobody set: %v", err)
	}
	if agent.DefaultWallTime != 2*time.Hour {
		t.Errorf("a run may take %s", agent.DefaultWallTime)
	}
}

func TestARefusedReservationLeavesNothingBehind(t *testing.T) {
	parent := purse(t, agent.PurseConfig{Scope: agent.ScopeMember, Tokens: 50})
	child := purse(t, agent.PurseConfig{Scope: agent.ScopeRun, Tokens: 100, Parent: parent})
	for range 3 {
		var refused *agent.BudgetError
		if _, err := child.Reserve(60); !errors.As(err, &refused) || refused.Scope != agent.ScopeMember {
			t.Fatalf("got %v", err)
		}
	}
	if _, err := child.Reserve(50); err != nil {
		t.Error(err)
	}
}
