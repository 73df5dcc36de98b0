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
	return g.Ring(id, g.Blockers(id))
}

// Ring returns the shortest ring that id would be in if it waited for blockers, or nil. It searches breadth first
// through tasks that are not completed.
func (g *Graph) Ring(id autonomy.TaskID, blockers []autonomy.TaskID) []autonomy.TaskID {
	from := map[autonomy.TaskID]autonomy.TaskID{}
	var queue []autonomy.TaskID
	visit := func(ids []autonomy.TaskID, by autonomy.TaskID) bool {
		for _, next := range ids {
			_, seen := from[next]
			if seen || g.State(next) == StateCompleted {
				continue
			}
			from[next] = by
			if next == id {
				return true
			}
			queue = append(queue, next)
		}
		return false
	}
	found := visit(blockers, id)
	for i := 0; !found && i < len(queue); i++ {
		found = visit(g.Blockers(queue[i]), queue[i])
	}
	if !found {
		return nil
	}
	way := []autonomy.TaskID{id}
	for at := from[id]; at != id; at = from[at] {
		way = append(way, at)
	}
	way = append(way, id)
	slices.Reverse(way)
	return way
}

// Stuck returns the tasks that are open and will not complete unless a person acts: those that fixed says are so by
// themselves (held, say), those with a dead or missing blocker or in a ring, and all that wait for one of these.
// Ascending.
func (g *Graph) Stuck(fixed func(autonomy.TaskID) bool) []autonomy.TaskID {
	free := g.completable(fixed)
	var stuck []autonomy.TaskID
	for id, n := range g.nodes {
		if n.State == StateOpen && !free[id] {
			stuck = append(stuck, id)
		}
	}
	slices.Sort(stuck)
	return stuck
}

// completable peels the graph from its free ends: what it never reaches is in a ring, or behind one, or behind
// something dead.
func (g *Graph) completable(fixed func(autonomy.TaskID) bool) map[autonomy.TaskID]bool {
	left := map[autonomy.TaskID]int{} // blockers that are not known to complete
	var queue []autonomy.TaskID
	for id, n := range g.nodes {
		if n.State != StateOpen || fixed(id) {
			continue
		}
		for _, b := range g.Blockers(id) {
			if g.State(b) != StateCompleted {
				left[id]++
			}
		}
		if left[id] == 0 {
			queue = append(queue, id)
		}
	}
	free := map[autonomy.TaskID]bool{}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		free[id] = true
		for _, d := range g.Dependents(id) {
			if left[d] > 0 {
				if left[d]--; left[d] == 0 {
					queue = append(queue, d)
				}
			}
		}
	}
	return free
}

// Rings returns the open tasks that may be in a ring: those left when the graph is peeled from both ends. All others
// are in none, which spares a list the search for each.
func (g *Graph) Rings() map[autonomy.TaskID]bool {
	left := map[autonomy.TaskID]bool{}
	for id, n := range g.nodes {
		if n.State != StateCompleted {
			left[id] = true
		}
	}
	g.peel(left, g.Blockers, g.Dependents)
	g.peel(left, g.Dependents, g.Blockers)
	return left
}

// peel removes from left, again and again, what has nothing of left before it.
func (g *Graph) peel(left map[autonomy.TaskID]bool, before, behind func(autonomy.TaskID) []autonomy.TaskID) {
	count := map[autonomy.TaskID]int{}
	var queue []autonomy.TaskID
	for id := range left {
		for _, b := range before(id) {
			if left[b] {
				count[id]++
			}
		}
		if count[id] == 0 {
			queue = append(queue, id)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		delete(left, queue[0])
		for _, next := range behind(queue[0]) {
			if count[next]--; count[next] == 0 && left[next] {
				queue = append(queue, next)
			}
		}
	}
}
