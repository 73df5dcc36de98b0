package app

import (
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/board"
)

const (
	lookBack    = 100 // run logs looked at for the attempt before
	lastActions = 5   // of it that are told
)

// before tells the next attempt what the one before it did last, when that one was cut off by the death of its daemon:
// a command may have had its effect and never been recorded as done. "" when there is nothing to tell.
func (a *App) before(t board.Task) string {
	if t.Failure == nil || t.Failure.Deaths == 0 {
		return ""
	}
	ids, err := a.runIDs()
	if err != nil {
		return ""
	}
	for _, id := range ids[:min(len(ids), lookBack)] {
		trail, ours := a.trail(t, id)
		if !ours {
			continue
		}
		if len(trail) == 0 {
			return fmt.Sprintf("The attempt before this one was cut off (run %s) before it did anything.", id)
		}
		trail = trail[max(0, len(trail)-lastActions):]
		return fmt.Sprintf("The attempt before this one was cut off (run %s). What it did last:\n%s", id, strings.Join(trail, "\n"))
	}
	return ""
}

// trail lists the actions of a run that was a cut-off attempt at the task.
func (a *App) trail(t board.Task, id autonomy.RunID) (trail []string, ours bool) {
	open := map[string]string{}
	for e, err := range a.Run(id) {
		if err != nil {
			break // torn by the same crash, or damaged: what came before still helps
		}
		switch d := e.Event.Data.(type) {
		case agent.RunStarted:
			if e.Event.Task != t.ID || t.Claim != nil && e.Event.Claim == t.Claim.ID {
				return nil, false
			}
			ours = true
		case agent.ActionSelected:
			open[d.Call] = fmt.Sprintf("- %s %s", d.Tool, d.Arguments)
			trail = append(trail, open[d.Call]+": not known to have ended")
		case agent.Observed:
			for i, line := range trail {
				if line == open[d.Call]+": not known to have ended" {
					trail[i] = fmt.Sprintf("%s: %s", open[d.Call], d.Status)
				}
			}
		case agent.RunFinished:
			return nil, false
		}
	}
	return trail, ours
}
