package llm

// Usage is what a request cost, in tokens and money. Cached and Thinking are parts of Prompt and Completion.
type Usage struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
	Cached     int `json:"cached,omitempty"`
	Thinking   int `json:"thinking,omitempty"`
	// Cost is in US dollars and means nothing unless CostKnown.
	Cost      float64 `json:"cost,omitempty"`
	CostKnown bool    `json:"cost_known,omitempty"`
	// Estimated says that the server reported no usage and the tokens are our own guess.
	Estimated bool `json:"estimated,omitempty"`
}

// Total is the number of tokens that count against a budget.
func (u Usage) Total() int { return u.Prompt + u.Completion }

// Add sums two usages. The sum's cost is known only if both are (a usage without tokens is neutral), and it is
// estimated if either is.
func (u Usage) Add(v Usage) Usage {
	if u.Total() == 0 && u.Cost == 0 {
		u.CostKnown = v.CostKnown
	} else if v.Total() != 0 || v.Cost != 0 {
		u.CostKnown = u.CostKnown && v.CostKnown
	}
	u.Prompt += v.Prompt
	u.Completion += v.Completion
	u.Cached += v.Cached
	u.Thinking += v.Thinking
	u.Cost += v.Cost
	u.Estimated = u.Estimated || v.Estimated
	return u
}
