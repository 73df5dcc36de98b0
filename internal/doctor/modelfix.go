package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider"
)

// fix says what a person can do about a model's error.
func (p *probe) fix(e *llm.Error) string {
	id := p.e.Provider.ID
	switch e.Class {
	case llm.Auth:
		return "set another key with autonomy keys set " + id + p.otherHosts()
	case llm.Quota:
		return "top up the account, or wait until it is reset" + p.otherHosts()
	case llm.Rate:
		return "wait a minute; the account's limit is reached"
	case llm.NoModel:
		return cmp.Or(e.Hint, "list the models with autonomy model list")
	case llm.Protocol:
		return cmp.Or(e.Hint, "check the base URL") + ": autonomy model setup"
	case llm.Transport, llm.Cancelled:
		if p.e.Loopback() {
			return "start the server at " + p.e.ShownURL() + ", or correct the base URL"
		}
		return cmp.Or(e.Hint, "check the network, the proxy and the base URL")
	case llm.Server, llm.Cut:
		return "try again later; see the provider's status page"
	case llm.Overflow:
		return "serve the model with a larger window"
	}
	return cmp.Or(e.Hint, "choose another model with autonomy model use")
}

// otherHosts names the further base URLs of a provider whose keys belong to one host each.
func (p *probe) otherHosts() string {
	var hosts []string
	for _, url := range slices.Sorted(maps.Keys(p.e.Provider.Hosts)) {
		if url != p.e.BaseURL {
			hosts = append(hosts, fmt.Sprintf("%s (%s)", url, p.e.Provider.Hosts[url]))
		}
	}
	if len(hosts) == 0 || p.e.Provider.ID == "ollama" {
		return ""
	}
	return "; a key may belong to another base URL: " + strings.Join(hosts, ", ")
}

// nearestNames are the n listed models that are spelled most like name.
func nearestNames(name string, models []provider.ModelInfo, n int) []string {
	type near struct {
		id       string
		distance int
	}
	var all []near
	want := strings.ToLower(name)
	for _, m := range models {
		id := strings.ToLower(m.ID)
		d := distance(want, id)
		if strings.Contains(id, want) || strings.Contains(want, id) {
			d /= 4
		}
		all = append(all, near{m.ID, d})
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, a := range all[:min(n, len(all))] {
		names = append(names, a.id)
	}
	return names
}

// distance is the number of bytes to insert, remove or change between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
