package board

import (
	"container/heap"
	"slices"
	"time"

	"github.com/autonomy-team/autonomy"
)

// record is what is known of one task file.
type record struct {
	id    autonomy.TaskID
	task  Task // the last good content, or what could be read of a bad one
	facts Facts

	stamp fileStamp // of the file when it was last read
	sum   uint64    // of its bytes, 0 when they were not acceptable
	gen   uint64    // changes with every update, so that a slow reader cannot put back what is older
	doubt doubt     // the file does not parse yet, or is gone for a moment
	list  uint64    // the listing in which it was last seen

	ready    bool
	reserved bool      // a claimer of this process is at it
	class    *class    // nil unless ready and not reserved
	place    int       // in class
	timed    time.Time // the notBefore that waits in index.later, zero for none
}

// settled reports whether the task is the file's present content, as far as is known.
func (r *record) settled() bool {
	return r.facts.Invalid == nil && !r.facts.Unsettled && r.facts.Unreadable == ""
}

// state is how the record stands for those that wait for it. A doubtful or unreadable file stands as it last did.
func (r *record) state() NodeState {
	switch {
	case r.facts.Invalid != nil:
		return StateInvalid
	case r.facts.Unreadable != "" && r.sum == 0:
		return StateUnreadable
	}
	switch r.task.Status {
	case Completed:
		return StateCompleted
	case Failed:
		return StateFailed
	case Cancelled:
		return StateCancelled
	}
	return StateOpen
}

// index is the board in memory: which tasks there are, which are ready. It does no I/O and knows no clock; Dir guards
// it. A change costs what the task and its dependents cost, whatever the size of the board.
type index struct {
	records map[autonomy.TaskID]*record
	graph   Graph
	classes map[classKey]*class
	later   laterHeap                                          // tasks that are ready but for their notBefore
	owned   map[autonomy.AgentName]map[Ref]autonomy.InstanceID // claims in the files, leftovers too, by who made them
	newly   map[autonomy.TaskID]bool                           // became ready and were not told yet
	order   []autonomy.TaskID                                  // of records, ascending; nil = to be made anew
	highest autonomy.TaskID                                    // ever seen
	gen     uint64
}

func newIndex() index {
	return index{
		records: map[autonomy.TaskID]*record{},
		classes: map[classKey]*class{},
		owned:   map[autonomy.AgentName]map[Ref]autonomy.InstanceID{},
		newly:   map[autonomy.TaskID]bool{},
	}
}

// obtain returns the record of an id, made if need be.
func (ix *index) obtain(id autonomy.TaskID) *record {
	r := ix.records[id]
	if r == nil {
		r = &record{id: id, task: Task{ID: id, Status: Pending}}
		ix.records[id] = r
		ix.order = nil
		ix.highest = max(ix.highest, id)
	}
	return r
}

// update lets change work on a record and draws the conclusions for it and its dependents.
func (ix *index) update(r *record, now time.Time, change func(*record)) {
	ix.leave(r)
	ix.disown(r)
	before := ix.graph.Dependents(r.id)
	old, known := ix.graph.nodes[r.id]
	change(r)
	ix.gen++
	r.gen = ix.gen
	ix.own(r)
	node := Node{BlockedBy: r.task.BlockedBy, Blocks: r.task.Blocks, State: r.state()}
	ix.graph.Set(r.id, node)
	if !known || old.State != node.State || !slices.Equal(old.Blocks, node.Blocks) {
		ix.evaluateAll(before, now)
		ix.evaluateAll(ix.graph.Dependents(r.id), now)
	}
	ix.evaluate(r, now)
}

// drop forgets a record whose file is gone.
func (ix *index) drop(r *record, now time.Time) {
	ix.leave(r)
	ix.disown(r)
	before := ix.graph.Dependents(r.id)
	delete(ix.records, r.id)
	delete(ix.newly, r.id)
	ix.order = nil
	ix.graph.Delete(r.id)
	ix.evaluateAll(before, now)
}

// archive records how a task stands that lies in the archive, StateMissing if it does not.
func (ix *index) archive(id autonomy.TaskID, state NodeState, now time.Time) {
	if ix.records[id] != nil || ix.graph.State(id) == state {
		return
	}
	if state == StateMissing {
		ix.graph.Delete(id)
	} else {
		ix.graph.Set(id, Node{State: state})
	}
	ix.evaluateAll(ix.graph.Dependents(id), now)
}

func (ix *index) evaluateAll(ids []autonomy.TaskID, now time.Time) {
	for _, id := range ids {
		if r := ix.records[id]; r != nil {
			ix.evaluate(r, now)
		}
	}
}

// evaluate decides by the rules of Ready, without words, whether a task is ready, and files it accordingly.
func (ix *index) evaluate(r *record, now time.Time) {
	ready := r.settled() && r.task.Status == Pending && r.facts.Refused == "" && r.task.Held == nil &&
		r.facts.Stopping == "" && !ix.graph.Open(r.id)
	if ready && r.task.NotBefore.After(now) {
		ix.wait(r)
		ready = false
	}
	switch {
	case ready && !r.ready:
		ix.newly[r.id] = true
	case !ready:
		delete(ix.newly, r.id)
	}
	r.ready = ready
	if listed := ready && !r.reserved; listed && r.class == nil {
		ix.enter(r)
	} else if !listed {
		ix.leave(r)
	}
}

// advance moves tasks whose notBefore has passed among the ready ones.
func (ix *index) advance(now time.Time) {
	for len(ix.later) > 0 && !ix.later[0].at.After(now) {
		if r := ix.unwait(); r != nil {
			ix.evaluate(r, now)
		}
	}
}

// wait puts a task among those that become ready by themselves, once for each notBefore.
func (ix *index) wait(r *record) {
	if !r.timed.Equal(r.task.NotBefore) {
		r.timed = r.task.NotBefore
		heap.Push(&ix.later, later{r.timed, r.id})
	}
}

// unwait takes the next one out and returns its record, nil if that is gone.
func (ix *index) unwait() *record {
	next := heap.Pop(&ix.later).(later)
	r := ix.records[next.id]
	if r != nil && r.timed.Equal(next.at) {
		r.timed = time.Time{}
	}
	return r
}

// due returns when advance has something to do, zero for never.
func (ix *index) due() time.Time {
	for len(ix.later) > 0 {
		r := ix.records[ix.later[0].id]
		if r != nil && !r.ready && r.task.NotBefore.Equal(ix.later[0].at) && r.task.Status == Pending {
			return ix.later[0].at
		}
		ix.unwait() // the task has changed since
	}
	return time.Time{}
}

func (ix *index) own(r *record) {
	if r.task.Claim == nil {
		return
	}
	by := r.task.Claim.By
	if ix.owned[by] == nil {
		ix.owned[by] = map[Ref]autonomy.InstanceID{}
	}
	ix.owned[by][r.task.Ref()] = r.task.Claim.Instance
}

func (ix *index) disown(r *record) {
	if r.task.Claim == nil {
		return
	}
	by := r.task.Claim.By
	delete(ix.owned[by], r.task.Ref())
	if len(ix.owned[by]) == 0 {
		delete(ix.owned, by)
	}
}

// holds returns the unfinished task that a member of an instance holds, nil if none. Of several the smallest id.
func (ix *index) holds(name autonomy.AgentName, instance autonomy.InstanceID) *record {
	var found *record
	for ref, in := range ix.owned[name] {
		r := ix.records[ref.ID]
		if in == instance && r.task.InForce() && (found == nil || r.id < found.id) {
			found = r
		}
	}
	return found
}

// sorted returns the ids of all records, ascending. The slice must not be changed.
func (ix *index) sorted() []autonomy.TaskID {
	if ix.order == nil {
		ix.order = make([]autonomy.TaskID, 0, len(ix.records))
		for id := range ix.records {
			ix.order = append(ix.order, id)
		}
		slices.Sort(ix.order)
	}
	return ix.order
}

// after returns the place of the first id of a sorted list that is greater than id, 0 if there is none.
func after(ids []autonomy.TaskID, id autonomy.TaskID) int {
	i, found := slices.BinarySearch(ids, id)
	if found {
		i++
	}
	if i == len(ids) {
		return 0
	}
	return i
}

// readiness answers with reasons.
func (ix *index) readiness(r *record, now time.Time) Readiness {
	return Ready(r.task, r.facts, &ix.graph, now)
}

// later is a task and when it may be claimed.
type later struct {
	at time.Time
	id autonomy.TaskID
}

type laterHeap []later

func (h laterHeap) Len() int           { return len(h) }
func (h laterHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h laterHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *laterHeap) Push(x any)        { *h = append(*h, x.(later)) }

func (h *laterHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
