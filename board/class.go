package board

import (
	"container/heap"
	"slices"
	"strings"

	"github.com/autonomy-team/autonomy"
)

// classKey is all that Eligible looks at. Ready tasks of one class suit the same members, so that a claim costs as much
// as there are classes, not tasks.
type classKey struct {
	owner    autonomy.AgentName
	role     autonomy.Role
	requires string // sorted, each ended by NUL
	work     work
	worktree bool
}

// work says who can work a task at all.
type work uint8

const (
	workModel  work = iota // no steps
	workSteps              // anybody
	workFailed             // steps that failed once: a model first
)

func keyOf(t Task) classKey {
	k := classKey{owner: t.Owner, role: t.Role, worktree: t.Worktree}
	switch {
	case len(t.Steps) == 0:
		k.work = workModel
	case t.failed():
		k.work = workFailed
	default:
		k.work = workSteps
	}
	if len(t.Requires) > 0 {
		sorted := slices.Clone(t.Requires)
		slices.Sort(sorted)
		k.requires = strings.Join(sorted, "\x00") + "\x00"
	}
	return k
}

// class holds the ready tasks of one key, the best at the top of a heap. Each record knows its place, so that any may
// leave.
type class struct {
	key     classKey
	records []*record
}

func (c *class) Len() int           { return len(c.records) }
func (c *class) Less(i, j int) bool { return Compare(c.records[i].task, c.records[j].task) < 0 }

func (c *class) Swap(i, j int) {
	c.records[i], c.records[j] = c.records[j], c.records[i]
	c.records[i].place, c.records[j].place = i, j
}

func (c *class) Push(x any) {
	r := x.(*record)
	r.place = len(c.records)
	c.records = append(c.records, r)
}

func (c *class) Pop() any {
	last := len(c.records) - 1
	r := c.records[last]
	c.records[last] = nil
	c.records = c.records[:last]
	return r
}

// enter puts a record into the class of its task.
func (ix *index) enter(r *record) {
	key := keyOf(r.task)
	c := ix.classes[key]
	if c == nil {
		c = &class{key: key}
		ix.classes[key] = c
	}
	r.class = c
	heap.Push(c, r)
}

// leave takes a record out of its class, if it is in one. It must happen before the record's task changes, for the heap
// compares tasks.
func (ix *index) leave(r *record) {
	if r.class == nil {
		return
	}
	heap.Remove(r.class, r.place)
	if r.class.Len() == 0 {
		delete(ix.classes, r.class.key)
	}
	r.class = nil
}

// best returns the ready task that who should take next, or nil.
func (ix *index) best(who Claimant) *record {
	var best *record
	for _, c := range ix.classes {
		top := c.records[0]
		if best != nil && Compare(best.task, top.task) < 0 {
			continue
		}
		if ok, _ := Eligible(top.task, who); ok {
			best = top
		}
	}
	return best
}
