package team

import (
	"context"
	"errors"
	"fmt"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/board"
)

// lead is the name of the member a person talks to.
const lead autonomy.AgentName = "lead"

type nothing struct{}

func idle(Config) tool.Tool {
	return op[nothing]{
		name: "idle", ends: true,
		about: "Say that you cannot or need not go on now. An unfinished task stays yours and is resumed.",
		run: func(_ context.Context, call tool.Call, _ nothing) (string, error) {
			if call.Env.Actor == lead {
				return "", errors.New("the lead does not idle; end your answer with text")
			}
			return "idle", nil
		},
	}
}

type claimArgs struct {
	ID int64 `json:"id,omitempty" jsonschema:"the task; without it the best that is ready for you"`
}

func claimTask(cfg Config) tool.Tool {
	return op[claimArgs]{
		name: "claim_task", effect: "take a task of the board",
		about: "Take a ready task from the board. You can hold one. It starts when this run ends.",
		run: func(ctx context.Context, call tool.Call, a claimArgs) (string, error) {
			task, err := cfg.Claim(ctx, call.Env.Actor, autonomy.TaskID(a.ID))
			if err != nil {
				return "", claimHint(err)
			}
			return fmt.Sprintf("Task #%d is yours: %s\nIt starts as soon as this run ends.", task.ID, task.Subject), nil
		},
	}
}

// claimHint adds the next legal step to a refusal.
func claimHint(err error) error {
	var holds *board.HoldsError
	var claimed *board.ClaimedError
	switch {
	case errors.As(err, &holds):
		return fmt.Errorf("%w; finish it with complete_task or leave it with idle", err)
	case errors.As(err, &claimed), errors.Is(err, board.ErrNotReady), errors.Is(err, board.ErrNothing):
		return fmt.Errorf("%w; list_tasks shows what is ready", err)
	}
	return err
}

type completeArgs struct {
	Summary string `json:"summary,omitempty" jsonschema:"what was done and how it was checked"`
}

// completeTask only states the claim. It ends the turn, the loop evaluates it, and a verdict of ours closes the task.
func completeTask() tool.Tool {
	return op[completeArgs]{
		name: "complete_task", ends: true,
		about: "State that the task you work on is done. The statement is checked; if it does not hold you are told why.",
		run: func(_ context.Context, call tool.Call, _ completeArgs) (string, error) {
			if call.Env.Task == 0 {
				return "", errors.New("no task is being worked in this run; a task that you claimed starts when the run ends")
			}
			return fmt.Sprintf("task #%d: completion stated, to be checked", call.Env.Task), nil
		},
	}
}

type planArgs struct {
	Plan string `json:"plan" jsonschema:"what you will do, step by step, in Markdown"`
}

func submitPlan(cfg Config) tool.Tool {
	return op[planArgs]{
		name: "submit_plan", effect: "ask for approval of a plan",
		about: "Ask the lead or a person to approve your plan. Until then you may only read.",
		run: func(ctx context.Context, call tool.Call, a planArgs) (string, error) {
			return cfg.Submit(ctx, call.Env, a.Plan)
		},
	}
}

type compactArgs struct {
	Focus string `json:"focus,omitempty" jsonschema:"what must be kept"`
}

func compact(cfg Config) tool.Tool {
	return op[compactArgs]{
		name: "compact", effect: "shorten the conversation",
		about: "Have this conversation summarised before your next turn.",
		run: func(ctx context.Context, call tool.Call, a compactArgs) (string, error) {
			if err := cfg.Compact(ctx, call.Env.Actor, a.Focus); err != nil {
				return "", err
			}
			return "the conversation is compacted before your next turn", nil
		},
	}
}
