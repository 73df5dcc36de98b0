package provider

import (
	"path"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// Price is what a million tokens cost, in US dollars. Cached is for prompt tokens read from the cache; 0 means that
// they cost as much as others.
type Price struct {
	Input, Output, Cached float64
}

// Prices maps "PROVIDER/MODEL" to prices. The model may be a pattern of path.Match in lower case, where * also takes
// slashes. The longest pattern that fits counts. Vendors change prices at will, so none are built in: users set those
// they care about, and a provider that reports the cost itself needs none.
type Prices map[string]Price

// cost adds the cost to a usage if it is known: the provider's own, else by the table, else nothing for a server on
// this machine.
func (p Prices) cost(e Endpoint, model string, u llm.Usage) llm.Usage {
	if u.CostKnown {
		return u
	}
	price, ok := p.find(e.Provider.ID, model)
	if !ok {
		u.CostKnown = e.Loopback()
		return u
	}
	cached := price.Cached
	if cached == 0 {
		cached = price.Input
	}
	const million = 1e6
	u.Cost = (float64(u.Prompt-u.Cached)*price.Input + float64(u.Cached)*cached + float64(u.Completion)*price.Output) / million
	u.CostKnown = true
	return u
}

// find is the price whose pattern fits and is longest; of equals the first in alphabetical order, so that the choice
// never depends on the order of a map.
func (p Prices) find(provider, model string) (Price, bool) {
	// path.Match stops at slashes, which model names contain.
	name := flat(provider + "/" + model)
	best, found := "", false
	for pattern := range p {
		ok, err := path.Match(flat(pattern), name)
		if err != nil || !ok {
			continue
		}
		if !found || len(pattern) > len(best) || len(pattern) == len(best) && pattern < best {
			best, found = pattern, true
		}
	}
	return p[best], found
}

// flat hides the slashes of model names from path.Match, which stops at them.
func flat(s string) string { return strings.ReplaceAll(strings.ToLower(s), "/", "\x00") }
