package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
)

// proposal is what step 2 gives: the paths, and the model's replies behind some of them.
type proposal struct {
	paths   []action.Path
	replies []llm.Response
}

// asker gets the model's paths: from a model, with the replies behind them, or out of a log, without.
type asker interface {
	ask(ctx context.Context) ([]action.Path, []llm.Response, error)
}

func (r *run) state() State {
	return State{
		Goal: r.goal, Turn: r.turn, Position: r.tally.position, Steps: r.tally.steps,
		Uncertain: r.tally.uncertain, Deviated: r.tally.deviated, Model: r.tally.model,
	}
}

// propose is step 2. A certain path is all that is proposed; otherwise the model is asked, if there is one and it has
// turns left.
func (r *run) propose(ctx context.Context) (proposal, ending, error) {
	s := r.state()
	var p proposal
	for _, source := range r.Proposers {
		paths, err := source.Propose(ctx, s)
		if err != nil {
			if context.Cause(ctx) != nil {
				return p, ending{}, err
			}
			if err := r.fault(FaultProposer, err); err != nil {
				return p, ending{}, err
			}
		}
		for _, path := range paths {
			if path.Certain {
				return proposal{paths: []action.Path{path}}, ending{}, nil
			}
		}
		p.paths = append(p.paths, paths...)
	}
	if r.ask != nil {
		if r.tally.asked >= r.goal.MaxSteps {
			return p, ending{MaxStepsReached, "", "the model turns of this run are used up"}, nil
		}
		r.tally.asked++
		if err := r.brief(s); err != nil {
			return p, ending{}, err
		}
		paths, replies, err := r.ask.ask(ctx)
		if err != nil {
			return p, ending{}, err
		}
		p.paths, p.replies = append(p.paths, paths...), replies
	}
	if len(p.paths) == 0 {
		return p, ending{NoCandidates, "", "nothing proposes a next action: no model and no steps"}, nil
	}
	return p, ending{}, nil
}

// brief tells the model, once, what is left of a runbook whose certainty has ended.
func (r *run) brief(s State) error {
	if r.briefed {
		return nil
	}
	for _, source := range r.Proposers {
		if b, ok := source.(Briefer); ok {
			if text := b.Brief(s); text != "" {
				r.briefed = true
				return r.tell(escape(r.Mask(text))) // it quotes the task
			}
		}
	}
	return nil
}

// pathOf is a model's reply as a path: its calls in order, or on a goal that is claimed an answer without calls as the
// claim.
func (r *run) pathOf(reply llm.Response, i int) action.Path {
	m := reply.Message
	p := action.Path{Source: action.FromModel, Text: m.Content, Reply: i, Actions: []action.Action{}}
	claims := r.goal.Kind.Claims()
	p.Cut = reply.Stop == llm.StopLength
	for _, c := range m.Calls {
		a := action.Action{Call: c.ID, Tool: c.Name, Arguments: c.Arguments, Purpose: purpose(c.Arguments), Problem: c.Problem}
		a.Claim = claims && c.Name == action.ClaimTool
		if p.Cut && a.Problem == "" {
			a.Problem = "output was cut; send smaller calls"
		}
		p.Actions = append(p.Actions, a)
	}
	if len(m.Calls) == 0 && claims && !p.Cut {
		p.Actions = append(p.Actions, action.Action{Call: "claim", Tool: action.ClaimTool, Claim: true})
	}
	return p
}

// purpose is the purpose argument of a call.
func purpose(args json.RawMessage) string {
	if !strings.Contains(string(args), `"purpose"`) {
		return ""
	}
	var v struct {
		Purpose string `json:"purpose"`
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(args, &v); err != nil && !errors.As(err, &wrong) {
		return ""
	}
	return v.Purpose
}
