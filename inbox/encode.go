package inbox

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy"
)

// wire is a message as this package writes it. Reading is ParseLine, which is stricter than encoding/json.
type wire struct {
	ID        autonomy.MessageID `json:"id"`
	Type      Kind               `json:"type"`
	From      autonomy.AgentName `json:"from"`
	To        autonomy.AgentName `json:"to,omitempty"`
	Content   string             `json:"content"`
	Timestamp string             `json:"timestamp,omitempty"`
	ReplyTo   autonomy.MessageID `json:"replyTo,omitempty"`
	RequestID string             `json:"requestId,omitempty"`
	Approve   *bool              `json:"approve,omitempty"`
	Plan      string             `json:"plan,omitempty"`
	Feedback  string             `json:"feedback,omitempty"`
	Interrupt bool               `json:"interrupt,omitempty"`
}

// encode returns m as one line with its newline. Text that is not valid UTF-8 was replaced by the caller.
func encode(m Message) ([]byte, error) {
	w := wire{
		ID: m.ID, Type: m.Kind, From: m.From, To: m.To, Content: m.Content, ReplyTo: m.ReplyTo,
		RequestID: m.RequestID, Approve: m.Approve, Plan: m.Plan, Feedback: m.Feedback, Interrupt: m.Interrupt,
	}
	if !m.Timestamp.IsZero() {
		w.Timestamp = m.Timestamp.Format(time.RFC3339Nano)
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // the file is for people too; what enters a prompt is escaped there
	if err := e.Encode(w); err != nil {
		return nil, err
	}
	return line.Bytes(), nil
}

// storable makes m what a reader of its line will get: valid UTF-8, the time in UTC and whole milliseconds.
func storable(m Message) Message {
	text := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	m.From = autonomy.AgentName(text(string(m.From)))
	m.Content, m.Plan, m.Feedback, m.RequestID = text(m.Content), text(m.Plan), text(m.Feedback), text(m.RequestID)
	m.ReplyTo = autonomy.MessageID(text(string(m.ReplyTo)))
	m.Timestamp = m.Timestamp.UTC().Truncate(time.Millisecond)
	return m
}
