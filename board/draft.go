package board

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/strictjson"
)

// render writes the file of a new task, in the order in which a person would read it. What is zero is left out.
func (d Draft) render(id autonomy.TaskID, now time.Time) []byte {
	var list []strictjson.Change
	add := func(key string, present bool, value []byte) {
		if present {
			list = append(list, strictjson.Change{Key: key, Value: value})
		}
	}
	add("id", true, encode(id))
	add("subject", true, strictjson.Quote(d.Subject))
	add("description", d.Description != "", strictjson.Quote(d.Description))
	add("activeForm", d.ActiveForm != "", strictjson.Quote(d.ActiveForm))
	add("status", true, encode(Pending))
	add("owner", d.Owner != "", strictjson.Quote(string(d.Owner)))
	add("blockedBy", true, encodeIDs(d.BlockedBy))
	add("priority", d.Priority != 0, encode(d.Priority))
	add("role", d.Role != "", strictjson.Quote(string(d.Role)))
	add("requires", len(d.Requires) > 0, encode(d.Requires))
	add("steps", len(d.Steps) > 0, encodeSteps(d.Steps))
	add("verify", d.Verify != "", strictjson.Quote(d.Verify))
	add("worktree", d.Worktree, encode(true))
	add("notBefore", !d.NotBefore.IsZero(), encodeTime(d.NotBefore))
	add("createdBy", d.CreatedBy != "", strictjson.Quote(string(d.CreatedBy)))
	add("metadata", len(d.Metadata) > 0, d.Metadata)
	add("createdAt", true, encodeTime(now))
	add("updatedAt", true, encodeTime(now))

	var b bytes.Buffer
	b.WriteByte('{')
	for i, c := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		b.Write(strictjson.Quote(c.Key))
		b.WriteString(": ")
		b.Write(c.Value)
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// encodeSteps writes a bare command as a string, everything else as an object, one a line.
func encodeSteps(steps []Step) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, s := range steps {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		b.Write(encodeStep(s))
	}
	b.WriteString("\n  ]")
	return b.Bytes()
}

func encodeStep(s Step) []byte {
	if s.Name == "" && s.Tool == "" && s.Timeout == 0 && s.Expect == nil {
		return strictjson.Quote(s.Run)
	}
	type expect struct {
		Exit     *int   `json:"exit,omitempty"`
		Contains string `json:"contains,omitempty"`
		File     string `json:"file,omitempty"`
	}
	out := struct {
		Name      string          `json:"name,omitempty"`
		Run       string          `json:"run,omitempty"`
		Tool      string          `json:"tool,omitempty"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Timeout   string          `json:"timeout,omitempty"`
		Expect    *expect         `json:"expect,omitempty"`
	}{Name: s.Name, Run: s.Run, Tool: s.Tool, Arguments: s.Arguments}
	if s.Timeout != 0 {
		out.Timeout = s.Timeout.String()
	}
	if s.Expect != nil {
		out.Expect = &expect{s.Expect.Exit, s.Expect.Contains, s.Expect.File}
	}
	return encode(out)
}
