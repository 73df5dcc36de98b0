package provider

import (
	"context"
	"sync"
)

// memory is what is learned about the models of one key, for as long as the process lives.
type memory struct {
	mu     sync.Mutex
	models map[string]*known
	choice string // the model found for endpoints that name none
}

// known is what is learned about one model; its fields are guarded by the memory's mutex.
type known struct {
	renamed map[string]string // request field → the name to send it under, "" to leave it out
	window  int               // tokens, 0 until discovered
	found   bool              // discovery has run
	asked   int               // how often
	unsure  bool              // what was discovered may change when the model is loaded
	finding chan struct{}     // closed when the running discovery ends
	factor  float64           // tokens seen per token estimated
	warned  bool              // that the server cuts prompts
}

// of gives what is known of a model; the caller holds mu.
func (m *memory) of(model string) *known {
	if m.models == nil {
		m.models = map[string]*known{}
	}
	k := m.models[model]
	if k == nil {
		k = &known{renamed: map[string]string{}, factor: 1}
		m.models[model] = k
	}
	return k
}

// fieldName is the name under which a field is sent to a model, "" if it is left out.
func (m *memory) fieldName(model, field string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if to, ok := m.of(model).renamed[field]; ok {
		return to
	}
	return field
}

// refuse remembers that a model refuses a field under the name it was sent: a limit is tried under its other name once,
// anything else is left out. It reports whether there was anything left to change, and what was done.
func (m *memory) refuse(model, name string, limitField string) (change string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(model)
	field := name
	isLimit := name == "max_tokens" || name == "max_completion_tokens"
	if isLimit {
		field = limitField
	}
	to, seen := k.renamed[field]
	switch {
	case seen && to == "":
		return "", false
	case isLimit && !seen:
		other := "max_tokens"
		if name == other {
			other = "max_completion_tokens"
		}
		k.renamed[field] = other
		return name + " → " + other, true
	default:
		k.renamed[field] = ""
		return name, true
	}
}

// discover runs find once for a model; others wait while it runs. find reports the window and whether it is sure.
func (m *memory) discover(ctx context.Context, model string, find func() (window int, sure bool)) {
	for {
		m.mu.Lock()
		k := m.of(model)
		if k.found {
			m.mu.Unlock()
			return
		}
		if k.finding == nil {
			k.finding = make(chan struct{})
			m.mu.Unlock()
			window, sure := find()
			m.found(model, window, sure)
			return
		}
		finding := k.finding
		m.mu.Unlock()
		select {
		case <-finding:
		case <-ctx.Done():
			return
		}
	}
}

// found stores what a discovery gave and wakes those who wait for it. A window that a server has shown meanwhile stays
// if it is smaller.
func (m *memory) found(model string, window int, sure bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(model)
	if k.window == 0 || k.unsure || window < k.window {
		k.window = window
	}
	k.asked++
	k.found, k.unsure = true, !sure && k.asked < 2 // once more when the model is loaded is enough
	close(k.finding)
	k.finding = nil
}

// settle is told of a success: the model is loaded now, so what was unsure is worth another question.
func (m *memory) settle(model string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.of(model); k.unsure {
		k.found = false
	}
}

// knownWindow is the window without discovering it.
func (m *memory) knownWindow(model string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of(model).window
}

// narrow lowers the window to what a server said or showed.
func (m *memory) narrow(model string, window int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.of(model); window > 0 && (k.window == 0 || window < k.window) {
		k.window = window
	}
}

// factor is how many tokens there really are for one that was estimated.
func (m *memory) factor(model string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of(model).factor
}

// calibrate learns from a request of estimated and of seen prompt tokens.
func (m *memory) calibrate(model string, estimated, seen int) {
	if estimated < 50 || seen <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(model)
	ratio := min(max(float64(seen)/float64(estimated), 0.5), 3)
	k.factor += (ratio - k.factor) / 4
}

// warnOnce reports whether this is the first warning about cut prompts for a model.
func (m *memory) warnOnce(model string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(model)
	first := !k.warned
	k.warned = true
	return first
}

// choose remembers the model found for endpoints that name none.
func (m *memory) choose(model string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.choice = model
}

// chosen is the model found by choose, "" before.
func (m *memory) chosen() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.choice
}
