package slash

import (
	"fmt"
	"io"
	"strings"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// Tasks writes the board as /tasks and `task list` show it, one line a task, in the order of the entries:
//
//	[ ] #1: subject                     pending
//	[>] #2: subject @alice              in progress
//	[x] #3: subject @bob                completed
//	[!] #4: subject (reason)            needs a person: failed, held, invalid, untrusted, never ready by itself; cancelled
//	[ ] #5: subject (blocked by: 1, 2)  waits for others
//
// open is Open of the whole board. remark may add why a ready task is not taken; nil adds nothing.
func Tasks(w io.Writer, entries []board.Entry, open map[autonomy.TaskID]bool, remark func(board.Entry) string) {
	if len(entries) == 0 {
		fmt.Fprintln(w, "No tasks.")
		return
	}
	for _, e := range entries {
		if e.ID != 0 {
			fmt.Fprintln(w, TaskLine(e, open, remark))
		}
	}
	for _, e := range entries { // files whose name gives no number come last
		if e.ID == 0 {
			fmt.Fprintln(w, TaskLine(e, open, remark))
		}
	}
}

// TaskLine is one line of Tasks. open says which ids of the board are not completed.
func TaskLine(e board.Entry, open map[autonomy.TaskID]bool, remark func(board.Entry) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] %s:", mark(e), label(e))
	if e.Task.Subject != "" {
		b.WriteString(" " + visible.Line(e.Task.Subject))
	}
	if e.Task.Owner != "" {
		fmt.Fprintf(&b, " @%s", visible.Line(string(e.Task.Owner)))
	}
	if e.Readiness.Kind == board.KindWaiting {
		fmt.Fprintf(&b, " (blocked by: %s)", join(waiting(e, open)))
		return b.String()
	}
	reason := e.Readiness.Reason
	if e.Readiness.Ready && remark != nil {
		reason = remark(e)
	}
	if reason != "" && !obvious(e) {
		fmt.Fprintf(&b, " (%s)", visible.Line(reason))
	}
	if e.Stale {
		b.WriteString(" (unreadable now; shown as last read)")
	}
	return b.String()
}

// mark is the sign in the brackets. An exclamation mark means that nothing happens without a person.
func mark(e board.Entry) string {
	switch e.Readiness.Kind {
	case board.KindInvalid, board.KindUnreadable, board.KindUntrusted, board.KindHeld, board.KindCycle, board.KindMissing,
		board.KindDead:
		return "!"
	}
	switch e.Task.Status {
	case board.InProgress:
		return ">"
	case board.Completed:
		return "x"
	case board.Failed, board.Cancelled:
		return "!"
	}
	return " "
}

// obvious reports whether the reason repeats what mark and owner already say.
func obvious(e board.Entry) bool {
	return e.Readiness.Kind == board.KindStatus && (e.Task.Status == board.InProgress || e.Task.Status == board.Completed)
}

// label is #N, or the file's name where there is no number.
func label(e board.Entry) string {
	if e.ID == 0 {
		return visible.Line(e.Path[strings.LastIndexByte(e.Path, '/')+1:])
	}
	return fmt.Sprintf("#%d", e.ID)
}

// Open tells for every id of the board whether it is not completed.
func Open(entries []board.Entry) map[autonomy.TaskID]bool {
	open := make(map[autonomy.TaskID]bool, len(entries))
	for _, e := range entries {
		open[e.ID] = e.Task.Status != board.Completed
	}
	return open
}

// waiting is the effective blockers that are not completed.
func waiting(e board.Entry, open map[autonomy.TaskID]bool) []autonomy.TaskID {
	var left []autonomy.TaskID
	for _, id := range e.Blockers {
		if open[id] {
			left = append(left, id)
		}
	}
	return left
}

func join(ids []autonomy.TaskID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	return strings.Join(words, ", ")
}
