package team

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/tool"
)

type spawnArgs struct {
	Name   string `json:"name" jsonschema:"lower-case letters, digits, - and _"`
	Role   string `json:"role" jsonschema:"what it does, for example coder or tester"`
	Prompt string `json:"prompt,omitempty" jsonschema:"worked first; without it the member looks at the board by itself"`
}

func spawnTeammate(cfg Config) tool.Tool {
	return op[spawnArgs]{
		name: "spawn_teammate", effect: "start a member",
		about: "Start a member. It takes tasks that suit its role from the board by itself.",
		run: func(ctx context.Context, call tool.Call, a spawnArgs) (string, error) {
			err := cfg.Crew.Spawn(ctx, call.Env.Actor, autonomy.AgentName(a.Name), autonomy.Role(a.Role), a.Prompt)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("Spawned '%s' (role: %s)", a.Name, a.Role), nil
		},
	}
}

func listTeammates(cfg Config) tool.Tool {
	return op[nothing]{
		name: "list_teammates", reads: true,
		about: "List the members and what they do.",
		run: func(context.Context, tool.Call, nothing) (string, error) {
			var rows []string
			for _, m := range cfg.Crew.Members() {
				line := fmt.Sprintf("%s (%s): %s", m.Name, m.Role, m.State)
				if m.Task != 0 {
					line += fmt.Sprintf(" #%d", m.Task)
				}
				if m.Reason != "" {
					line += " (" + m.Reason + ")"
				}
				rows = append(rows, line)
			}
			if rows == nil {
				return "No teammates.", nil
			}
			return strings.Join(rows, "\n"), nil
		},
	}
}

type stopArgs struct {
	Name string `json:"name"`
	tool.Mutating
}

func stopTeammate(cfg Config) tool.Tool {
	return op[stopArgs]{
		name: "stop_teammate", effect: "stop a member",
		about: "Stop a member at its next safe point. Its task goes back to the board.",
		run: func(ctx context.Context, call tool.Call, a stopArgs) (string, error) {
			if autonomy.AgentName(a.Name) == lead || autonomy.AgentName(a.Name) == call.Env.Actor {
				return "", errors.New("no member can stop the lead")
			}
			if err := cfg.Crew.Stop(ctx, autonomy.AgentName(a.Name)); err != nil {
				return "", err
			}
			return a.Name + " has stopped", nil
		},
	}
}

type reviewArgs struct {
	Request  string `json:"request" jsonschema:"id of the request"`
	Approve  bool   `json:"approve"`
	Feedback string `json:"feedback,omitempty"`
}

func reviewPlan(cfg Config) tool.Tool {
	return op[reviewArgs]{
		name: "review_plan", effect: "answer a member's plan",
		about: "Approve or reject a plan that a member submitted.",
		run: func(ctx context.Context, call tool.Call, a reviewArgs) (string, error) {
			if err := cfg.Review(ctx, call.Env.Actor, a.Request, a.Approve, a.Feedback); err != nil {
				return "", err
			}
			if a.Approve {
				return "approved", nil
			}
			return "rejected", nil
		},
	}
}
