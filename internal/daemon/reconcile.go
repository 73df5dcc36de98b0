package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/eventlog"
	"github.com/autonomy-team/autonomy/team"
)

// history is what the team log says of the time before this start.
type history struct {
	orderly bool                               // the last daemon ended in order, or there was none
	last    map[autonomy.TaskID]team.EventKind // of each task, the last event that says where it stands
}

// downEvent is the last record of a daemon that ended in order.
func downEvent() team.Event { return team.Event{Kind: team.EventShutdown, Reason: "daemon down"} }

// readHistory reads the team log. What can't be read counts as a crash: bringing members back needlessly is the
// smaller mistake.
func readHistory(path string) history {
	h := history{orderly: true, last: map[autonomy.TaskID]team.EventKind{}}
	for record, err := range eventlog.Read(path) {
		if errors.Is(err, fs.ErrNotExist) {
			break // the first daemon of this workspace
		}
		if err != nil {
			h.orderly = false
			break
		}
		e, err := app.DecodeTeamEvent(record)
		if err != nil {
			h.orderly = false
			break
		}
		h.orderly = e.Type == string(team.EventShutdown) && e.Actor == "" && e.Reason == downEvent().Reason
		switch kind := team.EventKind(e.Type); kind {
		case team.EventClaimed, team.EventClaimLost, team.EventReleased, team.EventReaped, team.EventCompleted, team.EventFailed:
			h.last[autonomy.TaskID(e.Task)] = kind
		}
	}
	return h
}

// corrections are the events that bring the log in line with the task files: a daemon that was killed between an effect
// and its event, or whose claim a power cut rolled back, leaves them apart. The files are the truth.
func corrections(h history, entries map[autonomy.TaskID]board.Task) []team.Event {
	var events []team.Event
	for _, id := range slices.Sorted(maps.Keys(h.last)) {
		task, there := entries[id]
		if !there {
			continue // archived or removed: there is nothing to be said of it
		}
		kind, said := h.last[id], ""
		switch {
		case task.Status == board.Completed && kind != team.EventCompleted:
			said = "completed"
			kind = team.EventCompleted
		case task.Status == board.InProgress:
			continue // a dead instance's claim is reaped with its own event, a person's is their own affair
		case task.Status != board.Completed && kind == team.EventCompleted, kind == team.EventClaimed:
			said = string(task.Status)
			kind = team.EventReleased
		default:
			continue
		}
		events = append(events, team.Event{
			Kind: kind, Task: id, Actor: task.Owner,
			Reason: fmt.Sprintf("correction: the log said %s, the file says %s", h.last[id], said),
		})
	}
	return events
}
