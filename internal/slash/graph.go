package slash

import (
	"fmt"
	"io"
	"strings"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// Graph writes the board as trees: under each task stand those that wait for it. A task that waits for several stands
// whole under the first and as a reference under the others.
func Graph(w io.Writer, entries []board.Entry) {
	if len(entries) == 0 {
		fmt.Fprintln(w, "No tasks.")
		return
	}
	g := newForest(entries)
	for _, e := range entries {
		if !g.placed[e.ID] && g.isRoot(e) {
			g.write(w, e.ID, 0)
		}
	}
	for _, e := range entries { // what is left waits in a ring, or for something that is not there
		if !g.placed[e.ID] {
			g.write(w, e.ID, 0)
		}
	}
}

type forest struct {
	byID    map[autonomy.TaskID]board.Entry
	waiters map[autonomy.TaskID][]autonomy.TaskID // who waits for it, in order
	placed  map[autonomy.TaskID]bool
	open    map[autonomy.TaskID]bool
}

func newForest(entries []board.Entry) *forest {
	g := &forest{
		byID: map[autonomy.TaskID]board.Entry{}, waiters: map[autonomy.TaskID][]autonomy.TaskID{},
		placed: map[autonomy.TaskID]bool{}, open: Open(entries),
	}
	for _, e := range entries {
		g.byID[e.ID] = e
	}
	for _, e := range entries {
		for _, b := range e.Blockers {
			g.waiters[b] = append(g.waiters[b], e.ID)
		}
	}
	return g
}

// isRoot reports whether the task waits for nothing that is on the board.
func (g *forest) isRoot(e board.Entry) bool {
	for _, b := range e.Blockers {
		if _, ok := g.byID[b]; ok {
			return false
		}
	}
	return true
}

func (g *forest) write(w io.Writer, id autonomy.TaskID, depth int) {
	e := g.byID[id]
	pad := strings.Repeat("    ", depth)
	if g.placed[id] {
		fmt.Fprintf(w, "%s#%d, see above\n", pad, id)
		return
	}
	g.placed[id] = true
	fmt.Fprintln(w, pad+TaskLine(e, g.open, nil))
	for _, next := range g.waiters[id] {
		g.write(w, next, depth+1)
	}
}

// DOT writes the board in the language of Graphviz, an arrow from each task to those that wait for it.
func DOT(w io.Writer, entries []board.Entry) {
	colours := map[board.Status]string{
		board.InProgress: "lightyellow", board.Completed: "palegreen", board.Failed: "lightpink", board.Cancelled: "lightgrey",
	}
	fmt.Fprintln(w, "digraph board {\n  rankdir=LR;\n  node [shape=box, style=filled, fillcolor=white];")
	for _, e := range entries {
		colour := colours[e.Task.Status]
		if e.Err != nil {
			colour = "lightpink"
		}
		fill := ""
		if colour != "" {
			fill = ", fillcolor=" + colour
		}
		fmt.Fprintf(w, "  t%d [label=%q%s];\n", e.ID, fmt.Sprintf("#%d: %s", e.ID, visible.Clip(e.Task.Subject, 60)), fill)
	}
	for _, e := range entries {
		for _, b := range e.Blockers {
			fmt.Fprintf(w, "  t%d -> t%d;\n", b, e.ID)
		}
	}
	fmt.Fprintln(w, "}")
}
