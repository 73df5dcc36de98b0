package board

import (
	"slices"

	"github.com/autonomy-team/autonomy"
)

// NodeState is how a task stands for those that wait for it.
type NodeState string

// The states. All but open, completed and missing are dead: they will not complete unless a person acts.
const (
	StateOpen       NodeState = "open"
	StateCompleted  NodeState = "completed"
	StateFailed     NodeState = "failed"
	StateCancelled  NodeState = "cancelled"
	StateInvalid    NodeState = "invalid"
	StateUnreadable NodeState = "unreadable"
	StateArchived   NodeState = "archived" // put away unfinished
	StateMissing    NodeState = "missing"
)

// Node is what the graph knows of a task.
type Node struct {
	BlockedBy []autonomy.TaskID
	Blocks    []autonomy.TaskID
	State     NodeState
}

// Graph is who waits for whom. It grows and shrinks a node at a time, and an edge may lead to a task that is not there.
// It is not safe for concurrent use. The zero value is empty.
type Graph struct {
	nodes map[autonomy.TaskID]Node
	// Edges by the side that did not write them: who lists a task in blockedBy, and who says that it blocks it.
	listedBy map[autonomy.TaskID][]autonomy.TaskID
	blockers map[autonomy.TaskID][]autonomy.TaskID
}

// Set adds a node or replaces it.
func (g *Graph) Set(id autonomy.TaskID, n Node) {
	if g.nodes == nil {
		g.nodes = map[autonomy.TaskID]Node{}
		g.listedBy = map[autonomy.TaskID][]autonomy.TaskID{}
		g.blockers = map[autonomy.TaskID][]autonomy.TaskID{}
	}
	old := g.nodes[id]
	if !slices.Equal(old.BlockedBy, n.BlockedBy) {
		unlink(g.listedBy, old.BlockedBy, id)
		link(g.listedBy, n.BlockedBy, id)
	}
	if !slices.Equal(old.Blocks, n.Blocks) {
		unlink(g.blockers, old.Blocks, id)
		link(g.blockers, n.Blocks, id)
	}
	g.nodes[id] = n
}

// Delete removes a node. Those that wait for it now miss it.
func (g *Graph) Delete(id autonomy.TaskID) {
	old, ok := g.nodes[id]
	if !ok {
		return
	}
	unlink(g.listedBy, old.BlockedBy, id)
	unlink(g.blockers, old.Blocks, id)
	delete(g.nodes, id)
}

func link(edges map[autonomy.TaskID][]autonomy.TaskID, ends []autonomy.TaskID, id autonomy.TaskID) {
	for _, end := range ends {
		edges[end] = append(edges[end], id)
	}
}

func unlink(edges map[autonomy.TaskID][]autonomy.TaskID, ends []autonomy.TaskID, id autonomy.TaskID) {
	for _, end := range ends {
		rest := edges[end]
		if i := slices.Index(rest, id); i >= 0 {
			rest[i] = rest[len(rest)-1]
			rest = rest[:len(rest)-1]
		}
		if len(rest) == 0 {
			delete(edges, end)
		} else {
			edges[end] = rest
		}
	}
}

// State returns how a task stands; StateMissing when there is none.
func (g *Graph) State(id autonomy.TaskID) NodeState {
	if n, ok := g.nodes[id]; ok {
		return n.State
	}
	return StateMissing
}

// Blockers returns the tasks that id waits for, whoever wrote the edge, ascending and without repeats.
func (g *Graph) Blockers(id autonomy.TaskID) []autonomy.TaskID {
	return union(g.nodes[id].BlockedBy, g.blockers[id])
}

// Dependents returns the tasks that wait for id, ascending and without repeats.
func (g *Graph) Dependents(id autonomy.TaskID) []autonomy.TaskID {
	return union(g.nodes[id].Blocks, g.listedBy[id])
}

func union(a, b []autonomy.TaskID) []autonomy.TaskID {
	if len(a)+len(b) == 0 {
		return nil
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Open reports whether id still waits for something: any blocker that is not completed.
func (g *Graph) Open(id autonomy.TaskID) bool {
	waits := func(ids []autonomy.TaskID) bool {
		return slices.ContainsFunc(ids, func(b autonomy.TaskID) bool { return g.State(b) != StateCompleted })
	}
	return waits(g.nodes[id].BlockedBy) || waits(g.blockers[id])
}
