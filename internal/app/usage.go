package app

import (
	"maps"
	"slices"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/internal/control"
)

// Usage is what models have cost since the daemon started, in all and by member.
func (w *Workshop) Usage() (total control.Usage, of map[autonomy.AgentName]control.Usage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of = map[autonomy.AgentName]control.Usage{}
	for name, purse := range w.purses {
		of[name] = wireUsage(purse.Used())
	}
	return wireUsage(w.budget.Used()), of
}

func wireUsage(u llm.Usage) control.Usage {
	return control.Usage{
		Prompt: u.Prompt, Completion: u.Completion, Cached: u.Cached, Cost: u.Cost, CostKnown: u.CostKnown,
	}
}

// TaskUsage is what models have cost for each task since the daemon started, by number.
func (w *Workshop) TaskUsage() []control.TaskUsage {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []control.TaskUsage
	for _, id := range slices.Sorted(maps.Keys(w.tasks)) {
		list = append(list, control.TaskUsage{Task: int64(id), Usage: wireUsage(w.tasks[id])})
	}
	return list
}

// spent adds the cost of one request to that of its task.
func (w *Workshop) spent(id autonomy.TaskID, u llm.Usage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks[id] = w.tasks[id].Add(u)
}
