package cli

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// taskView is a task as --json prints it: the fields of the file under their own names, and what the board makes of
// them (file, valid, ready, reason).
type taskView struct {
	ID          autonomy.TaskID    `json:"id"`
	File        string             `json:"file"`
	Subject     string             `json:"subject"`
	Description string             `json:"description,omitempty"`
	ActiveForm  string             `json:"activeForm,omitempty"`
	Status      board.Status       `json:"status"`
	Owner       autonomy.AgentName `json:"owner"`
	BlockedBy   []autonomy.TaskID  `json:"blockedBy"`
	Priority    int64              `json:"priority"`
	Role        autonomy.Role      `json:"role,omitempty"`
	Requires    []string           `json:"requires,omitempty"`
	Steps       []stepView         `json:"steps,omitempty"`
	Verify      string             `json:"verify,omitempty"`
	Worktree    bool               `json:"worktree,omitempty"`
	NotBefore   time.Time          `json:"notBefore,omitzero"`
	CreatedBy   autonomy.AgentName `json:"createdBy,omitempty"`
	Metadata    json.RawMessage    `json:"metadata,omitempty"`
	Attempt     int                `json:"attempt"`
	Claim       *claimView         `json:"claim,omitempty"`
	Held        *heldView          `json:"held,omitempty"`
	Result      *resultView        `json:"result,omitempty"`
	Failure     *failureView       `json:"failure,omitempty"`
	CreatedAt   time.Time          `json:"createdAt,omitzero"`
	UpdatedAt   time.Time          `json:"updatedAt,omitzero"`

	Valid  bool              `json:"valid"`
	Ready  bool              `json:"ready"`
	Kind   board.Kind        `json:"kind"`
	Reason string            `json:"reason,omitempty"`
	Error  *board.CheckError `json:"error,omitempty"`
	Stale  bool              `json:"stale,omitempty"`
}

type stepView struct {
	Name      string          `json:"name,omitempty"`
	Run       string          `json:"run,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Timeout   string          `json:"timeout,omitempty"`
	Expect    *expectView     `json:"expect,omitempty"`
}

type expectView struct {
	Exit     *int   `json:"exit,omitempty"`
	Contains string `json:"contains,omitempty"`
	File     string `json:"file,omitempty"`
}

type claimView struct {
	ID       autonomy.ClaimID    `json:"id"`
	By       autonomy.AgentName  `json:"by"`
	Instance autonomy.InstanceID `json:"instance,omitempty"`
	At       time.Time           `json:"at,omitzero"`
	Assigned bool                `json:"assigned,omitempty"`
}

type heldView struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at,omitzero"`
}

type resultView struct {
	Summary    string          `json:"summary"`
	RunID      autonomy.RunID  `json:"runId,omitempty"`
	FinishedAt time.Time       `json:"finishedAt,omitzero"`
	Verified   bool            `json:"verified"`
	Usage      json.RawMessage `json:"usage,omitempty"`
}

type failureView struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Count   int       `json:"count"`
	Deaths  int       `json:"deaths,omitempty"`
	At      time.Time `json:"at,omitzero"`
}

// graphView is what `task graph --json` prints. An edge leads from a task to one that waits for it; From need not be a
// node: a blocker may be archived or missing.
type graphView struct {
	Nodes []graphNode `json:"nodes"`
	Edges []graphEdge `json:"edges"`
}

type graphNode struct {
	ID      autonomy.TaskID    `json:"id"`
	Subject string             `json:"subject"`
	Status  board.Status       `json:"status"`
	Owner   autonomy.AgentName `json:"owner"`
	Valid   bool               `json:"valid"`
	Ready   bool               `json:"ready"`
	Kind    board.Kind         `json:"kind"`
	Reason  string             `json:"reason,omitempty"`
}

type graphEdge struct {
	From autonomy.TaskID `json:"from"`
	To   autonomy.TaskID `json:"to"`
}

func graphOf(entries []board.Entry) graphView {
	g := graphView{Nodes: []graphNode{}, Edges: []graphEdge{}}
	for _, e := range entries {
		g.Nodes = append(g.Nodes, graphNode{
			ID: e.ID, Subject: e.Task.Subject, Status: e.Task.Status, Owner: e.Task.Owner, Valid: e.Err == nil,
			Ready: e.Readiness.Ready, Kind: e.Readiness.Kind, Reason: e.Readiness.Reason,
		})
		for _, blocker := range e.Blockers {
			g.Edges = append(g.Edges, graphEdge{From: blocker, To: e.ID})
		}
	}
	return g
}

// view builds what --json prints of an entry. BlockedBy holds the effective blockers.
func view(e board.Entry) taskView {
	t := e.Task
	v := taskView{
		ID: e.ID, File: filepath.Base(e.Path), Subject: t.Subject, Description: t.Description, ActiveForm: t.ActiveForm,
		Status: t.Status, Owner: t.Owner, BlockedBy: e.Blockers, Priority: t.Priority, Role: t.Role, Requires: t.Requires,
		Verify: t.Verify, Worktree: t.Worktree, NotBefore: t.NotBefore, CreatedBy: t.CreatedBy, Metadata: t.Metadata,
		Attempt: t.Attempt, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
		Valid: e.Err == nil, Ready: e.Readiness.Ready, Kind: e.Readiness.Kind, Reason: e.Readiness.Reason, Stale: e.Stale,
	}
	if v.BlockedBy == nil {
		v.BlockedBy = []autonomy.TaskID{}
	}
	for _, s := range t.Steps {
		v.Steps = append(v.Steps, viewStep(s))
	}
	if c := t.Claim; c != nil {
		v.Claim = &claimView{ID: c.ID, By: c.By, Instance: c.Instance, At: c.At, Assigned: c.Assigned}
	}
	if h := t.Held; h != nil {
		v.Held = &heldView{Reason: h.Reason, At: h.At}
	}
	if r := t.Result; r != nil {
		v.Result = &resultView{Summary: r.Summary, RunID: r.RunID, FinishedAt: r.FinishedAt, Verified: r.Verified, Usage: r.Usage}
	}
	if f := t.Failure; f != nil {
		v.Failure = &failureView{Code: f.Code, Message: f.Message, Count: f.Count, Deaths: f.Deaths, At: f.At}
	}
	if e.Err != nil {
		v.Error = &board.CheckError{Line: e.Err.Line, Column: e.Err.Column, Message: e.Err.Reason}
	}
	return v
}

func viewStep(s board.Step) stepView {
	v := stepView{Name: s.Name, Run: s.Run, Tool: s.Tool, Arguments: s.Arguments}
	if s.Timeout > 0 {
		v.Timeout = s.Timeout.String()
	}
	if s.Expect != nil {
		v.Expect = &expectView{Exit: s.Expect.Exit, Contains: s.Expect.Contains, File: s.Expect.File}
	}
	return v
}
