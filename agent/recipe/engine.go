package recipe

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
)

// Store is where the file lies. Update gives the file as it is to edit and replaces it by what edit returns, with no
// other Update in between; an error of edit leaves the file alone.
type Store interface {
	Read() ([]byte, error)
	Update(edit func(old []byte) ([]byte, error)) error
}

// Config is what an Engine works with.
type Config struct {
	Store Store
	// Unasked reports whether the policy in force lets the action run without asking anybody. Such a recipe becomes
	// active by itself. nil = none does.
	Unasked func(action.Action) bool
}

// Engine proposes recipes in one run and learns from it. Make one for each run.
type Engine struct {
	cfg  Config
	once sync.Once
	list []Recipe
	err  error
}

// New makes an engine.
func New(cfg Config) (*Engine, error) {
	if cfg.Store == nil {
		return nil, errors.New("recipe: Config.Store is required")
	}
	if cfg.Unasked == nil {
		cfg.Unasked = func(action.Action) bool { return false }
	}
	return &Engine{cfg: cfg}, nil
}

// Propose offers the recipes of this goal at this position. The only active one is certain, unless the run has left
// the recipes' way or it is a claim that no verify command would decide. After a deviation nothing is offered.
func (e *Engine) Propose(_ context.Context, s agent.State) ([]action.Path, error) {
	if s.Deviated || !s.Goal.Kind.Claims() {
		return nil, nil
	}
	e.once.Do(e.load)
	if e.err != nil {
		err := e.err
		e.err = nil // said once
		return nil, err
	}
	goal := s.Goal.Fingerprint()
	var here []Recipe
	active := 0
	for _, r := range e.list {
		if r.Goal == goal && r.Position == s.Position && (r.State == Candidate || r.State == Active) {
			here = append(here, r)
			if r.State == Active {
				active++
			}
		}
	}
	slices.SortFunc(here, byEvidence)
	paths := make([]action.Path, len(here))
	for i, r := range here {
		paths[i] = action.Path{
			Source: action.FromRecipe, Actions: []action.Action{r.action()}, Evidence: r.Count,
			Certain: r.State == Active && active == 1 && (!r.Claim || s.Goal.Verify != ""),
		}
	}
	return paths, nil
}

func (e *Engine) load() {
	data, err := e.cfg.Store.Read()
	if err == nil {
		e.list, err = Parse(data)
	}
	e.err = err
}

// Achieved counts each action once and says which have become recipes by it.
func (e *Engine) Achieved(goal string, done []agent.Done) ([]agent.RecipeLearned, error) {
	if len(done) == 0 {
		return nil, nil
	}
	var learned []agent.RecipeLearned
	err := e.cfg.Store.Update(func(old []byte) ([]byte, error) {
		list, err := Parse(old)
		if err != nil {
			return nil, err
		}
		learned = nil
		seen := map[string]bool{}
		for _, d := range done {
			if d.Action.Redacted || seen[id(goal, d.Position, d.Action.Fingerprint)] {
				continue
			}
			seen[id(goal, d.Position, d.Action.Fingerprint)] = true
			var r Recipe
			var changed bool
			list, r, changed = e.count(list, goal, d)
			if changed {
				learned = append(learned, agent.RecipeLearned{
					Goal: goal, Position: r.Position, Fingerprint: r.Fingerprint, Tool: r.Tool, State: string(r.State),
				})
			}
		}
		return Format(trim(list))
	})
	if err != nil {
		return nil, err
	}
	return learned, nil
}

// count adds one success to an action and moves it to the end of the list, the place of the most recently used.
// changed says that its state is another now.
func (e *Engine) count(list []Recipe, goal string, d agent.Done) (_ []Recipe, r Recipe, changed bool) {
	a := d.Action
	key := id(goal, d.Position, a.Fingerprint)
	r = Recipe{
		ID: key, Goal: goal, Position: d.Position, Fingerprint: a.Fingerprint, Tool: a.Tool, Arguments: a.Arguments,
		Claim: a.Claim, Timeout: a.Timeout, State: Counting,
	}
	if i := slices.IndexFunc(list, func(r Recipe) bool { return r.ID == key }); i >= 0 {
		r = list[i]
		list = slices.Delete(list, i, i+1)
	}
	before := r.State
	r.Count++
	if r.State == Counting && r.Count >= Threshold {
		r.State = Candidate
	}
	if r.State == Candidate && (a.Claim || e.cfg.Unasked(a)) {
		r.State = Active
	}
	return append(list, r), r, r.State != before
}
