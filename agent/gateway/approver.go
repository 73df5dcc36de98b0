package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// The kinds of requests.
const (
	KindTool = "tool" // an action of the gateway; only a person answers
	KindPlan = "plan" // a plan; a person or the lead answers
)

// Request is one question to a person. Text in it is redacted; it may come from a model, so whoever shows it escapes it.
type Request struct {
	ID        string             `json:"id"`
	Kind      string             `json:"kind"`
	Actor     autonomy.AgentName `json:"actor,omitempty"`
	Role      autonomy.Role      `json:"role,omitempty"`
	Task      autonomy.TaskID    `json:"task,omitempty"`
	Run       autonomy.RunID     `json:"run_id,omitempty"`
	Tool      string             `json:"tool,omitempty"`
	Arguments json.RawMessage    `json:"arguments,omitempty"`
	Plan      string             `json:"plan,omitempty"` // of KindPlan
	Dir       string             `json:"dir,omitempty"`
	Purpose   string             `json:"purpose,omitempty"`
	Effect    string             `json:"effect,omitempty"`
	Risk      action.Risk        `json:"risk,omitempty"`
	Reason    string             `json:"reason,omitempty"` // why it has to be asked
	Digest    string             `json:"digest"`           // of what exactly is asked, unredacted; equal = the same question

	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	State     State     `json:"state"`
	By        string    `json:"by,omitempty"` // who answered
	Feedback  string    `json:"feedback,omitempty"`
}

// Answer is what came of a request. Decision is Allow, Deny or Expired.
type Answer struct {
	Decision action.Decision
	By       string
	Reason   string
	Request  string // its id, if it had one
}

// Approver asks a person. Approve waits for the answer or the end of ctx, whose error it returns. It is called on the
// goroutine of the agent that wants to act and holds no lock.
type Approver interface {
	Approve(ctx context.Context, r Request) (Answer, error)
}

// Nobody is the Approver where no person can be reached: batch runs, closed input.
type Nobody struct{}

// Approve denies at once.
func (Nobody) Approve(_ context.Context, r Request) (Answer, error) {
	return Answer{Decision: action.Deny, By: "nobody", Reason: r.Reason + ", and there is nobody to ask"}, nil
}

// Inline asks on a terminal. Ask shows the question and returns the line that the person typed; an error, like the end of
// input, is a no. One question is asked at a time.
type Inline struct {
	Ask func(ctx context.Context, question string) (line string, err error)
	By  string // how the person is called in the log; "" = user
}

// Approve asks and takes nothing but y or yes for a yes.
func (i Inline) Approve(ctx context.Context, r Request) (Answer, error) {
	by := i.By
	if by == "" {
		by = "user"
	}
	line, err := i.Ask(ctx, Question(r))
	if ctx.Err() != nil {
		return Answer{}, context.Cause(ctx)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		if err == nil {
			return Answer{Decision: action.Allow, By: by, Reason: "approved"}, nil
		}
	}
	if err != nil {
		return Answer{Decision: action.Deny, By: "nobody", Reason: "no answer: " + err.Error()}, nil
	}
	return Answer{Decision: action.Deny, By: by, Reason: "denied by " + by}, nil
}

// Question renders a request for a terminal: whole, with everything that could steer or deceive as visible escapes.
func Question(r Request) string {
	var b strings.Builder
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", name, strings.ReplaceAll(visible.Block(text), "\n", "\n            "))
		}
	}
	fmt.Fprintf(&b, "%s wants to use %s (%s risk)\n", orWord(string(r.Actor), "The agent"), visible.Line(orWord(r.Tool, r.Kind)), r.Risk)
	for _, p := range parameters(r.Arguments) {
		row(p[0], p[1])
	}
	row("plan", r.Plan)
	row("in", r.Dir)
	row("purpose", r.Purpose)
	if r.Effect != r.Purpose {
		row("effect", r.Effect)
	}
	row("because", r.Reason)
	b.WriteString("Allow this once? [y/N] ")
	return b.String()
}

// parameters are the members of the arguments in their order, strings decoded, all else as JSON.
func parameters(args json.RawMessage) [][2]string {
	dec := json.NewDecoder(strings.NewReader(string(args)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return [][2]string{{"arguments", string(args)}}
	}
	var rows [][2]string
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return [][2]string{{"arguments", string(args)}}
		}
		text := string(value)
		var s string
		if json.Unmarshal(value, &s) == nil {
			text = s
		}
		if name != "purpose" {
			rows = append(rows, [2]string{visible.Line(fmt.Sprint(name)), text})
		}
	}
	return rows
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}
