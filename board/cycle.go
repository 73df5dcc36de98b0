package board

import (
	"slices"

	"github.com/autonomy-team/autonomy"
)

// Cycle returns the shortest way along which id waits for itself, as 4, 5, 4, or nil. Completed tasks hold nobody up,
// so a ring that one of them interrupts is none.
func (g *Graph) Cycle(id autonomy.TaskID) []autonomy.TaskID {
	if g.State(id) == StateCompleted {
		return nil
	}
	return g.route(g.Blockers(id), id, id)
}

// Would returns the ring that id would be in if it waited for blockers, or nil.
func (g *Graph) Would(id autonomy.TaskID, blockers []autonomy.TaskID) []autonomy.TaskID {
	return g.route(blockers, id, id)
}

// route searches breadth first from start's blockers for goal, through tasks that are not completed.
func (g *Graph) route(first []autonomy.TaskID, start, goal autonomy.TaskID) []autonomy.TaskID {
	from := map[autonomy.TaskID]autonomy.TaskID{}
	queue := []autonomy.TaskID{}
	visit := func(ids []autonomy.TaskID, by autonomy.TaskID) bool {
		for _, id := range ids {
			if id == goal {
				from[goal] = by
				return true
			}
			if _, seen := from[id]; seen || g.State(id) == StateCompleted {
				continue
			}
			from[id] = by
			queue = append(queue, id)
		}
		return false
	}
	found := visit(first, start)
	for i := 0; !found && i < len(queue); i++ {
		found = visit(g.Blockers(queue[i]), queue[i])
	}
	if !found {
		return nil
	}
	way := []autonomy.TaskID{goal}
	for at := from[goal]; at != start; at = from[at] {
		way = append(way, at)
	}
	way = append(way, start)
	slices.Reverse(way)
	return way
}
