package team

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/board"
)

type createArgs struct {
	Subject     string   `json:"subject" jsonschema:"one line"`
	Description string   `json:"description,omitempty" jsonschema:"Markdown: all that the one who works it must know"`
	BlockedBy   []int64  `json:"blocked_by,omitempty" jsonschema:"tasks that must be completed before"`
	Priority    int64    `json:"priority,omitempty" jsonschema:"higher first; 0 is usual"`
	Role        string   `json:"role,omitempty" jsonschema:"only members of this role may take it"`
	Owner       string   `json:"owner,omitempty" jsonschema:"only this member may take it"`
	Requires    []string `json:"requires,omitempty" jsonschema:"toolsets or tools that the work needs"`
	Verify      string   `json:"verify,omitempty" jsonschema:"shell command that must exit 0 before the task counts as done"`
}

func createTask(cfg Config) tool.Tool {
	return op[createArgs]{
		name: "create_task", effect: "put a task on the board",
		about: "Put a task on the board. An idle member takes it by itself; nobody needs to be told.",
		run: func(ctx context.Context, call tool.Call, a createArgs) (string, error) {
			task, err := cfg.Board.Create(ctx, board.Draft{
				Subject: a.Subject, Description: a.Description, BlockedBy: ids(a.BlockedBy), Priority: a.Priority,
				Role: autonomy.Role(a.Role), Owner: autonomy.AgentName(a.Owner), Requires: a.Requires, Verify: a.Verify,
				CreatedBy: call.Env.Actor,
			})
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("created task #%d: %s", task.ID, task.Subject), nil
		},
	}
}

type updateArgs struct {
	ID          int64           `json:"id"`
	Subject     *string         `json:"subject,omitempty"`
	Description *string         `json:"description,omitempty"`
	Priority    *int64          `json:"priority,omitempty"`
	BlockedBy   *[]int64        `json:"blocked_by,omitempty" jsonschema:"replaces the list"`
	Metadata    *map[string]any `json:"metadata,omitempty" jsonschema:"replaces the object"`
}

func updateTask(cfg Config) tool.Tool {
	return op[updateArgs]{
		name: "update_task", effect: "edit a task of the board",
		about: "Change subject, description, priority, blockers or metadata of a task. Status and owner are not yours to set.",
		run: func(ctx context.Context, _ tool.Call, a updateArgs) (string, error) {
			patch := board.Patch{Subject: a.Subject, Description: a.Description, Priority: a.Priority}
			if a.BlockedBy != nil {
				blockers := ids(*a.BlockedBy)
				patch.BlockedBy = &blockers
			}
			if a.Metadata != nil {
				data, err := json.Marshal(*a.Metadata)
				if err != nil {
					return "", fmt.Errorf("encode metadata: %w", err)
				}
				patch.Metadata = data
			}
			task, err := cfg.Board.Edit(ctx, autonomy.TaskID(a.ID), patch)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("task #%d: %s", task.ID, task.Subject), nil
		},
	}
}

func ids(numbers []int64) []autonomy.TaskID {
	out := make([]autonomy.TaskID, len(numbers))
	for i, n := range numbers {
		out[i] = autonomy.TaskID(n)
	}
	return out
}

type listArgs struct {
	Status string `json:"status,omitempty" jsonschema:"only this status: pending, in_progress, completed, failed or cancelled"`
}

func listTasks(cfg Config) tool.Tool {
	return op[listArgs]{
		name: "list_tasks", reads: true,
		about: "List the board: number, subject, owner, and why a task is not ready.",
		run: func(_ context.Context, _ tool.Call, a listArgs) (string, error) {
			var b strings.Builder
			for _, e := range cfg.Board.List() {
				if a.Status == "" || string(e.Task.Status) == a.Status {
					b.WriteString(row(e) + "\n")
				}
			}
			if b.Len() == 0 {
				return "No tasks.", nil
			}
			return strings.TrimRight(b.String(), "\n"), nil
		},
	}
}

// row renders one line of the board.
func row(e board.Entry) string {
	t := e.Task
	mark := map[board.Status]string{board.Pending: " ", board.InProgress: ">", board.Completed: "x"}[t.Status]
	if mark == "" || e.Err != nil {
		mark = "!"
	}
	line := fmt.Sprintf("[%s] #%d: %s", mark, e.ID, t.Subject)
	if t.Owner != "" {
		line += " @" + string(t.Owner)
	}
	switch {
	case e.Err != nil || t.Status == board.Failed || t.Status == board.Cancelled,
		t.Status == board.Pending && !e.Readiness.Ready:
		line += " (" + e.Readiness.Reason + ")"
	}
	return line
}

type getArgs struct {
	ID int64 `json:"id"`
}

func getTask(cfg Config) tool.Tool {
	return op[getArgs]{
		name: "get_task", reads: true,
		about: "Show all of one task.",
		run: func(_ context.Context, _ tool.Call, a getArgs) (string, error) {
			e, err := cfg.Board.Get(autonomy.TaskID(a.ID))
			if err != nil {
				return "", err
			}
			return detail(e), nil
		},
	}
}

func detail(e board.Entry) string {
	t := e.Task
	var b strings.Builder
	b.WriteString(row(e))
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "\n%s: %s", name, value)
		}
	}
	field("status", string(t.Status))
	field("role", string(t.Role))
	field("requires", strings.Join(t.Requires, ", "))
	field("created by", string(t.CreatedBy))
	if len(e.Blockers) > 0 {
		field("blocked by", strings.Trim(fmt.Sprint(e.Blockers), "[]"))
	}
	field("verify", t.Verify)
	if len(t.Steps) > 0 {
		field("steps", fmt.Sprint(len(t.Steps)))
	}
	if t.Failure != nil {
		field("last failure", t.Failure.Code+": "+t.Failure.Message)
	}
	if t.Result != nil {
		field("result", t.Result.Summary)
	}
	field("metadata", string(t.Metadata))
	if t.Description != "" {
		b.WriteString("\n\n" + t.Description)
	}
	return b.String()
}
