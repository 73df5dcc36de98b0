package daemon

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/team"
)

func wireMember(s team.Status) control.Member {
	m := control.Member{
		Name: string(s.Name), Role: string(s.Role), State: string(s.Phase), Desired: string(s.Desired), Task: int64(s.Task),
		Subject: s.ActiveForm, Attempt: s.Attempt, Run: string(s.Run), Since: s.Since, LastActivity: s.LastActivity,
		Tokens: s.Tokens, Reason: s.Reason, Until: s.Until, IdleLeftMS: s.IdleLeft.Milliseconds(), Unread: s.Unread,
		Provider: s.Provider, Model: s.Model, SpawnedBy: string(s.SpawnedBy),
	}
	if m.Subject == "" {
		m.Subject = s.Subject
	}
	if s.Approval != "" {
		m.Reason = s.Approval
	}
	return m
}

func wireReceipt(r team.Receipt) control.SendReply {
	reply := control.SendReply{IDs: []string{}, Queued: r.Queued, Note: r.Note}
	for _, id := range r.IDs {
		reply.IDs = append(reply.IDs, string(id))
	}
	return reply
}

func wireReport(r agent.Report) *control.Report {
	return &control.Report{
		Run: string(r.Run), Termination: string(r.Termination), Code: string(r.Code), Message: r.Message, Text: r.Text,
		Turns: r.Turns, Usage: wireUsage(r.Usage),
	}
}

func wireUsage(u llm.Usage) control.Usage {
	return control.Usage{
		Prompt: u.Prompt, Completion: u.Completion, Cached: u.Cached, Cost: u.Cost, CostKnown: u.CostKnown,
	}
}

// wireError gives an error of the team, the mail or the composition root its code and hint. nil stays nil.
func wireError(err error) error {
	if err == nil {
		return nil
	}
	var wire *control.Error
	if errors.As(err, &wire) {
		return wire
	}
	code, hint := classify(err)
	return &control.Error{Code: code, Message: err.Error(), Hint: hint}
}

func classify(err error) (control.Code, string) {
	var (
		name    *team.NameError
		live    *team.LiveError
		full    *team.FullError
		unknown *team.UnknownNameError
	)
	switch {
	case errors.As(err, &name), errors.Is(err, inbox.ErrName):
		return control.CodeInvalid, ""
	case errors.As(err, &live):
		return control.CodeConflict, fmt.Sprintf("stop it first: autonomy team stop %s", live.Name)
	case errors.As(err, &full):
		return control.CodeConflict, "stop a member, or start the daemon with a larger --max-teammates"
	case errors.As(err, &unknown):
		return control.CodeNotFound, ""
	case errors.Is(err, inbox.ErrTooLong):
		return control.CodeTooLarge, ""
	case errors.Is(err, inbox.ErrFull):
		return control.CodeConflict, "let the receiver read its mail first"
	case errors.Is(err, team.ErrNoModel):
		return control.CodeNeedsModel, "run autonomy model setup"
	case errors.Is(err, app.ErrUntrusted):
		return control.CodeUntrusted, "run autonomy trust"
	case errors.Is(err, team.ErrNotServing):
		return control.CodeStopping, ""
	}
	return control.CodeInternal, ""
}

// encodeRunEvent is one event of a run as docs/formats/run-events.md describes it, without the log's own fields.
func encodeRunEvent(e agent.Event) (json.RawMessage, error) { return json.Marshal(e) }
