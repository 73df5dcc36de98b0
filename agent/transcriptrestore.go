package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// Compact replaces all but the last messages by a summary: the head again, the summary as a user message, then at most
// keep messages, fewer where an exchange would be cut. The journal keeps everything; what was forgotten is only left
// out of Messages. Mail and skills that were seen stay known.
func (t *Transcript) Compact(summary string, keep int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.settle(); err != nil {
		return err
	}
	r := record{Kind: recordCompact, Summary: defuse(summary), Keep: t.cut(keep)}
	if err := t.write(r); err != nil {
		return err
	}
	t.compact(r)
	return nil
}

// cut is how many of the last messages can be kept so that none begins with results whose calls are gone.
func (t *Transcript) cut(keep int) int {
	keep = max(0, min(keep, len(t.messages)-t.fixed))
	for keep > 0 && t.messages[len(t.messages)-keep].Role == llm.ToolRole {
		keep--
	}
	return keep
}

func (t *Transcript) compact(r record) {
	kept := slices.Clone(t.messages[len(t.messages)-r.Keep:])
	t.restart()
	t.put(llm.Message{Role: llm.User, Content: r.Summary})
	for _, m := range kept {
		t.put(m)
	}
}

// errNoBegin is what Restore says of a journal that is not a transcript's.
var errNoBegin = errors.New("the transcript does not begin with its head")

// Restore rebuilds a transcript from its journal, whose records come in the order in which they were appended, and
// goes on in it. A call whose result was lost is given one. head says what would stand at the head today: the old one
// stays as it was, and a change of the tools is told in a user message. With no records at all a new transcript is
// begun.
func Restore(head Head, records iter.Seq2[json.RawMessage, error], journal Journal) (*Transcript, error) {
	t := &Transcript{}
	n := 0
	for raw, err := range records {
		if err != nil {
			return nil, fmt.Errorf("read transcript: %w", err)
		}
		n++
		if err := t.replay(raw, n); err != nil {
			return nil, fmt.Errorf("read transcript, record %d: %w", n, err)
		}
	}
	if n == 0 {
		return NewTranscript(head, journal)
	}
	t.journal = journal
	if err := t.settle(); err != nil {
		return nil, err
	}
	if note := toolsChanged(t.head.Tools, head.Tools); note != "" && !t.Empty() && !t.said(note) {
		if err := t.User(note); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// said reports whether the conversation holds this user message.
func (t *Transcript) said(text string) bool {
	return slices.ContainsFunc(t.messages, func(m llm.Message) bool { return m.Role == llm.User && m.Content == text })
}

func (t *Transcript) replay(raw json.RawMessage, n int) error {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	switch {
	case r.Kind == recordBegin && r.Head != nil:
		t.begin(*r.Head)
	case n == 1:
		return errNoBegin
	case r.Kind == recordMessage && r.Message != nil:
		t.take(r)
	case r.Kind == recordCompact && r.Keep >= 0 && r.Keep <= len(t.messages)-t.fixed:
		t.compact(r)
	default:
		return fmt.Errorf("unknown or incomplete record of kind %q", r.Kind)
	}
	return nil
}

// toolsChanged tells which tools came and went since a transcript began; "" = none.
func toolsChanged(old, now []llm.Tool) string {
	missing := func(from, in []llm.Tool) (names []string) {
		for _, t := range from {
			if !slices.ContainsFunc(in, func(o llm.Tool) bool { return o.Name == t.Name }) {
				names = append(names, t.Name)
			}
		}
		return names
	}
	var notes []string
	if gone := missing(old, now); len(gone) > 0 {
		notes = append(notes, "no longer available: "+strings.Join(gone, ", "))
	}
	if came := missing(now, old); len(came) > 0 {
		notes = append(notes, "available after the next compaction: "+strings.Join(came, ", "))
	}
	if len(notes) == 0 {
		return ""
	}
	return "Tools have changed; " + strings.Join(notes, "; ") + "."
}
