package team

import (
	"context"
	"fmt"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
)

// Board is what the tools do with tasks. *board.Dir is one.
type Board interface {
	List() []board.Entry
	Get(id autonomy.TaskID) (board.Entry, error)
	Create(ctx context.Context, draft board.Draft) (board.Task, error)
	Edit(ctx context.Context, id autonomy.TaskID, patch board.Patch) (board.Task, error)
}

// Crew is what the lead may do with members.
type Crew interface {
	Spawn(ctx context.Context, by, name autonomy.AgentName, role autonomy.Role, prompt string) error
	Members() []Member
	Stop(ctx context.Context, name autonomy.AgentName) error
}

// Member is one row of list_teammates.
type Member struct {
	Name   autonomy.AgentName
	Role   autonomy.Role
	State  string
	Task   autonomy.TaskID // 0 = none
	Reason string          // of a back-off or a failure
}

// Config is what the tools are made from. Board, Claim, Send and Unread are required; a tool whose function is nil is
// not offered. All functions may be called from any goroutine.
type Config struct {
	Board Board
	// Claim takes a task for a member, with id 0 the best one.
	Claim func(ctx context.Context, who autonomy.AgentName, id autonomy.TaskID) (board.Task, error)
	// Send puts mail on disk. The note says when nobody reads it now.
	Send func(ctx context.Context, m inbox.Message) (note string, err error)
	// Unread counts a member's mail that is not in its conversation.
	Unread func(ctx context.Context, who autonomy.AgentName) (int, error)
	// Submit asks for the approval of a plan and returns what the member is told.
	Submit func(ctx context.Context, env tool.Env, plan string) (string, error)
	// Review answers a plan.
	Review func(ctx context.Context, by autonomy.AgentName, request string, approve bool, feedback string) error
	// Compact asks for a compaction of a member's conversation before its next turn.
	Compact func(ctx context.Context, who autonomy.AgentName, focus string) error
	// Crew makes these the tools of the lead; nil = those of a member.
	Crew Crew
}

// New makes the tools, in the order of the documentation.
func New(cfg Config) ([]tool.Tool, error) {
	for name, missing := range map[string]bool{
		"Board": cfg.Board == nil, "Claim": cfg.Claim == nil, "Send": cfg.Send == nil, "Unread": cfg.Unread == nil,
	} {
		if missing {
			return nil, fmt.Errorf("team tools: %s is required", name)
		}
	}
	tools := []tool.Tool{idle(cfg), claimTask(cfg), completeTask(), createTask(cfg), updateTask(cfg), listTasks(cfg), getTask(cfg), sendMessage(cfg), readInbox(cfg)}
	if cfg.Submit != nil {
		tools = append(tools, submitPlan(cfg))
	}
	if cfg.Compact != nil {
		tools = append(tools, compact(cfg))
	}
	if cfg.Crew == nil {
		return tools, nil
	}
	tools = append(tools, spawnTeammate(cfg), listTeammates(cfg), stopTeammate(cfg))
	if cfg.Review != nil {
		tools = append(tools, reviewPlan(cfg))
	}
	return tools, nil
}
