// Package control is the contract between a running daemon and everyone who talks to it: the wire types, the route
// table, the client, and how a daemon is found and started.
//
// The protocol is HTTP/1.1 over a Unix socket, JSON with snake_case keys, version 1 under /v1. It knows nothing of teams
// and agents: the daemon translates. docs/formats/control.md describes it for people.
package control

import (
	"encoding/json"
	"time"
)

// Status is everything that a status line, a doctor row or a dashboard needs from the daemon in one answer.
type Status struct {
	PID       int            `json:"pid"`
	Instance  string         `json:"instance"`
	Version   string         `json:"version"`
	Workspace string         `json:"workspace"`
	Team      string         `json:"team"`
	Mode      string         `json:"mode"`
	StartedAt time.Time      `json:"started_at,omitzero"`
	UptimeMS  int64          `json:"uptime_ms"`
	PollMS    int64          `json:"poll_ms"`
	Watch     Watch          `json:"watch"`
	Trust     Trust          `json:"trust"`
	Tasks     map[string]int `json:"tasks"` // number of tasks by status; "ready", "held" and "invalid" are counted besides
	Members   []Member       `json:"members"`
	Problems  []Problem      `json:"problems"`  // files of the board that can't be used, and faults of the daemon itself
	Approvals int            `json:"approvals"` // open requests
	Usage     Usage          `json:"usage"`
	TaskUsage []TaskUsage    `json:"task_usage,omitempty"` // of tasks for which a model was asked, by number
	Stopping  bool           `json:"stopping"`
}

// TaskUsage is what models cost for one task since the daemon started, over all its attempts.
type TaskUsage struct {
	Task  int64 `json:"task"`
	Usage Usage `json:"usage"`
}

// Watch says how the daemon learns of changed files.
type Watch struct {
	Events bool   `json:"events"`           // false: polling only
	Reason string `json:"reason,omitempty"` // why there are no events
}

// Trust says whether the workspace may act.
type Trust struct {
	Trusted bool   `json:"trusted"`
	Why     string `json:"why,omitempty"`
}

// Problem is a file that can't be used, or a fault that a person should see.
type Problem struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}

// Usage counts what models cost.
type Usage struct {
	Prompt     int     `json:"prompt"`
	Completion int     `json:"completion"`
	Cached     int     `json:"cached,omitempty"`
	Cost       float64 `json:"cost,omitempty"`
	CostKnown  bool    `json:"cost_known"`
}

// Team is the roster with live states.
type Team struct {
	Name    string   `json:"name"`
	Members []Member `json:"members"`
	Trust   Trust    `json:"trust"`
}

// Member is one teammate as the daemon sees it now.
type Member struct {
	Name         string    `json:"name"`
	Role         string    `json:"role"`
	State        string    `json:"state"`   // starting working idle waiting_approval backoff stopping shutdown stopped failed
	Desired      string    `json:"desired"` // running or stopped
	Task         int64     `json:"task,omitempty"`
	Subject      string    `json:"subject,omitempty"` // of the task: its activeForm, else its subject
	Attempt      int       `json:"attempt,omitempty"`
	Run          string    `json:"run,omitempty"`
	Since        time.Time `json:"since,omitzero"` // of the state
	LastActivity time.Time `json:"last_activity,omitzero"`
	Tokens       int       `json:"tokens"`
	Reason       string    `json:"reason,omitempty"`
	Until        time.Time `json:"until,omitzero"` // of a back-off that ends by itself
	IdleLeftMS   int64     `json:"idle_left_ms,omitempty"`
	Unread       int       `json:"unread"`
	Provider     string    `json:"provider,omitempty"`
	Model        string    `json:"model,omitempty"`
	SpawnedBy    string    `json:"spawned_by,omitempty"`
	Usage        Usage     `json:"usage"`
}

// SpawnRequest asks for a teammate. It never carries a key.
type SpawnRequest struct {
	Name        string   `json:"name"`
	Role        string   `json:"role"`
	Prompt      string   `json:"prompt,omitempty"`
	Provider    string   `json:"provider,omitempty"`
	Model       string   `json:"model,omitempty"`
	BaseURL     string   `json:"base_url,omitempty"`
	Toolsets    []string `json:"toolsets,omitempty"`
	Mode        string   `json:"mode,omitempty"` // never "full"
	RequirePlan bool     `json:"require_plan,omitempty"`
	Worktree    bool     `json:"worktree,omitempty"`
	Resume      bool     `json:"resume,omitempty"` // keep the transcript of a stopped member
}

// StopRequest ends a member at its next safe point, or at once.
type StopRequest struct {
	Name string `json:"name"`
	Now  bool   `json:"now,omitempty"`
}

// SendRequest sends mail. From is "user" unless set.
type SendRequest struct {
	To        string `json:"to"` // a name, "all", "lead" or "user"
	From      string `json:"from,omitempty"`
	Content   string `json:"content"`
	ReplyTo   string `json:"reply_to,omitempty"`
	Interrupt bool   `json:"interrupt,omitempty"`
}

// SendReply says what became of the mail: it is on disk, and whether anyone reads it now.
type SendReply struct {
	IDs    []string `json:"ids"`
	Queued bool     `json:"queued"`         // the receiver does not run
	Note   string   `json:"note,omitempty"` // for people, for example "queued; not running"
}

// Event is one record of the team log, as docs/formats/events.md describes it. Fields that do not apply are zero.
type Event struct {
	Seq      int64     `json:"seq"`
	Time     time.Time `json:"ts"`
	Type     string    `json:"type"` // spawned state claimed claim_lost released reaped completed failed mail_delivered shutdown error
	Actor    string    `json:"actor,omitempty"`
	Task     int64     `json:"task,omitempty"`
	Claim    string    `json:"claim,omitempty"`
	Run      string    `json:"run_id,omitempty"`
	From     string    `json:"from,omitempty"` // of a state
	To       string    `json:"to,omitempty"`   // of a state
	Code     string    `json:"code,omitempty"` // of a failed
	Reason   string    `json:"reason,omitempty"`
	Messages []string  `json:"messages,omitempty"` // of a mail_delivered
}

// Approval is a request that waits for a person, or its answer.
type Approval struct {
	ID        string          `json:"id"`
	Member    string          `json:"member"`
	Task      int64           `json:"task,omitempty"`
	Kind      string          `json:"kind"` // "tool" or "plan"
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // redacted
	Plan      string          `json:"plan,omitempty"`
	Dir       string          `json:"dir,omitempty"` // where it would run
	Purpose   string          `json:"purpose,omitempty"`
	Risk      string          `json:"risk,omitempty"`
	Effect    string          `json:"effect,omitempty"`
	Reason    string          `json:"reason,omitempty"` // why it has to be asked
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt time.Time       `json:"expires_at,omitzero"`
	State     string          `json:"state"` // open approved denied expired withdrawn
	By        string          `json:"by,omitempty"`
}

// Answer approves or denies a request. The first answer counts.
type Answer struct {
	ID       string `json:"id"`
	Approve  bool   `json:"approve"`
	Feedback string `json:"feedback,omitempty"`
}

// LineRequest is one line of a person to the lead.
type LineRequest struct {
	Text     string `json:"text"`
	Provider string `json:"provider,omitempty"` // of the lead, when it does not run yet
	Model    string `json:"model,omitempty"`
	BaseURL  string `json:"base_url,omitempty"`
}

// The kinds of a LineEvent.
const (
	LineDelta  = "delta"  // Text: a piece of the answer
	LineAction = "event"  // Event: one event of the lead's run
	LineReport = "report" // Report: the run has ended; nothing follows
)

// LineEvent is one item of the stream that answers a LineRequest.
type LineEvent struct {
	Kind   string          `json:"kind"`
	Text   string          `json:"text,omitempty"`
	Event  json.RawMessage `json:"event,omitempty"`
	Report *Report         `json:"report,omitempty"`
}

// Report is how a run ended.
type Report struct {
	Run         string `json:"run_id"`
	Termination string `json:"termination"`
	Code        string `json:"code,omitempty"`
	Message     string `json:"message,omitempty"`
	Text        string `json:"text,omitempty"` // the final answer
	Turns       int    `json:"turns"`
	Usage       Usage  `json:"usage"`
}

// Down asks the daemon to end; the roster stays.
type Down struct {
	Now bool `json:"now,omitempty"` // without the grace for running attempts
}

// Interrupt cancels a member's model call in flight.
type Interrupt struct {
	Name string `json:"name"`
}

// Compact asks a member to compact its conversation before its next turn.
type Compact struct {
	Name  string `json:"name"`
	Focus string `json:"focus,omitempty"`
}
