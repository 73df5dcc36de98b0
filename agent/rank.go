package agent

import "github.com/autonomy-team/autonomy/agent/action"

// claimed reports whether a is a claim that is no tool call, which only the evaluator answers.
func claimed(a action.Action) bool { return a.Claim && a.Arguments == nil }

// assess fills in what the gateway knows of an action.
func (r *run) assess(a action.Action) action.Action {
	if !claimed(a) {
		claim := a.Claim
		a = r.Executor.Assess(a)
		if claim {
			a.Claim, a.Fingerprint = true, action.ClaimFingerprint()
		}
		return a
	}
	a.Risk, a.Effect, a.Plan = action.Low, "claim that the goal is reached", "judge the claim"
	a.Fingerprint = action.ClaimFingerprint()
	return a
}

// rank is step 3: assess every action, score the paths, keep the best.
func (r *run) rank(p proposal) ([]action.Ranked, error) {
	for i := range p.paths {
		for j, a := range p.paths[i].Actions {
			p.paths[i].Actions[j] = r.assess(a)
		}
	}
	ranking := action.Select(p.paths, r.tally.facts, r.Beam)
	err := r.emit(CandidatesRanked{Certain: ranking[0].Certain, Position: r.tally.position, Paths: ranking})
	return ranking, err
}
