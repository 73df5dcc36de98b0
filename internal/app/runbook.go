package app

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/outcome"
	"github.com/autonomy-team/autonomy/agent/runbook"
	"github.com/autonomy-team/autonomy/board"
)

// shellTool runs what a task spells out as a command.
const shellTool = "bash"

// runbookOf is the steps of a task as the loop takes them. A task without steps has an empty book.
func runbookOf(t board.Task) (*runbook.Book, error) {
	steps := make([]action.Action, len(t.Steps))
	for i, s := range t.Steps {
		a := action.Action{Name: s.Name, Tool: s.Tool, Arguments: s.Arguments, Timeout: s.Timeout}
		if s.Run != "" {
			a.Tool, a.Arguments = shellTool, commandOf(s.Run)
		}
		if e := s.Expect; e != nil {
			a.Expect = &action.Expect{Exit: e.Exit, Contains: e.Contains, File: e.File}
		}
		steps[i] = a
	}
	book, err := runbook.New(steps)
	if err != nil {
		return nil, fmt.Errorf("read the steps of task %d: %w", t.ID, err)
	}
	return book, nil
}

func commandOf(command string) json.RawMessage {
	args, _ := json.Marshal(map[string]string{"command": command}) // strings always encode
	return args
}

// verifier runs a verify command through the gateway; nil for none.
func verifier(gate agent.Executor, command string) outcome.Checker {
	if command == "" {
		return nil
	}
	return func(ctx context.Context) (ok bool, exit int, output string, err error) {
		a := gate.Assess(action.Action{
			Call: "verify", Tool: shellTool, Arguments: commandOf(command), Name: "verify", Purpose: "check that the goal is reached",
			Direct: true,
		})
		leave, err := gate.Admit(ctx, a)
		if err != nil {
			return false, 0, "", fmt.Errorf("ask for verify: %w", err)
		}
		if leave.Decision != action.Allow {
			return false, 0, "", &outcome.DeniedError{Reason: leave.Reason}
		}
		seen, err := gate.Execute(ctx, a, leave)
		if err != nil {
			return false, 0, "", fmt.Errorf("run verify: %w", err)
		}
		exit = 1
		if seen.Exit != nil {
			exit = *seen.Exit
		}
		return seen.Status == action.OK && exit == 0, exit, seen.Output, nil
	}
}
