package board

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/strictjson"
)

// boardFields are the members that the board itself writes after creation; all others belong to people.
var boardFields = [...]string{
	"status", "owner", "attempt", "claim", "held", "result", "failure", "notBefore", "updatedAt",
}

// changes returns what must be written into a file to turn before into after, over all fields that the board may ever
// write. updatedAt follows only if something else differs, so that no change means no write.
func changes(before, after Task) []strictjson.Change {
	var list []strictjson.Change
	set := func(differs bool, key string, value []byte) {
		if differs {
			list = append(list, strictjson.Change{Key: key, Value: value})
		}
	}
	set(before.Subject != after.Subject, "subject", strictjson.Quote(after.Subject))
	set(before.Description != after.Description, "description", strictjson.Quote(after.Description))
	set(before.Priority != after.Priority, "priority", encode(after.Priority))
	set(!slices.Equal(before.BlockedBy, after.BlockedBy), "blockedBy", encodeIDs(after.BlockedBy))
	set(!bytes.Equal(before.Metadata, after.Metadata), "metadata", after.Metadata)
	set(before.Status != after.Status, "status", encode(after.Status))
	set(before.Owner != after.Owner, "owner", strictjson.Quote(string(after.Owner)))
	set(before.Attempt != after.Attempt, "attempt", encode(after.Attempt))
	set(!same(before.Claim, after.Claim), "claim", encodeClaim(after.Claim))
	set(!same(before.Held, after.Held), "held", encodeHeld(after.Held))
	set(!sameResult(before.Result, after.Result), "result", encodeResult(after.Result))
	set(!same(before.Failure, after.Failure), "failure", encodeFailure(after.Failure))
	set(!before.NotBefore.Equal(after.NotBefore), "notBefore", encodeTime(after.NotBefore))
	if len(list) > 0 {
		set(!before.UpdatedAt.Equal(after.UpdatedAt), "updatedAt", encodeTime(after.UpdatedAt))
	}
	return list
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func sameResult(a, b *Result) bool {
	return a == b || a != nil && b != nil && bytes.Equal(encodeResult(a), encodeResult(b))
}

// encode writes a value as people would: without the escapes that are only for HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null") // of a hand-made RawMessage that is no JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func encodeTime(t time.Time) []byte {
	if t.IsZero() {
		return nil
	}
	return strictjson.Quote(t.Format(time.RFC3339Nano))
}

// clock is the time as it stands inside a claim or a result; nil leaves the member out.
func clock(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.Format(time.RFC3339Nano)
	return &s
}

func encodeIDs(ids []autonomy.TaskID) []byte {
	b := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return append(b, ']')
}

func encodeClaim(c *Claim) []byte {
	if c == nil {
		return nil
	}
	return encode(struct {
		ID       autonomy.ClaimID    `json:"id"`
		By       autonomy.AgentName  `json:"by"`
		Instance autonomy.InstanceID `json:"instance,omitempty"`
		At       *string             `json:"at,omitempty"`
		Assigned bool                `json:"assigned,omitempty"`
	}{c.ID, c.By, c.Instance, clock(c.At), c.Assigned})
}

func encodeHeld(h *Held) []byte {
	if h == nil {
		return nil
	}
	return encode(struct {
		Reason string  `json:"reason"`
		At     *string `json:"at,omitempty"`
	}{h.Reason, clock(h.At)})
}

func encodeResult(r *Result) []byte {
	if r == nil {
		return nil
	}
	return encode(struct {
		Summary    string          `json:"summary"`
		RunID      autonomy.RunID  `json:"runId,omitempty"`
		FinishedAt *string         `json:"finishedAt,omitempty"`
		Verified   bool            `json:"verified"`
		Usage      json.RawMessage `json:"usage,omitempty"`
	}{r.Summary, r.RunID, clock(r.FinishedAt), r.Verified, r.Usage})
}

func encodeFailure(f *Failure) []byte {
	if f == nil {
		return nil
	}
	return encode(struct {
		Code    string  `json:"code"`
		Message string  `json:"message"`
		Count   int     `json:"count"`
		Deaths  int     `json:"deaths"`
		At      *string `json:"at,omitempty"`
	}{f.Code, f.Message, f.Count, f.Deaths, clock(f.At)})
}
