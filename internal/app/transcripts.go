package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/eventlog"
	"github.com/autonomy-team/autonomy/internal/ulid"
	"github.com/autonomy-team/autonomy/team"
)

// transcripts keeps the members' conversations: one log file each, opened once in the life of a daemon. It is the
// supervisor's team.Transcripts and where the worker gets the conversation of a job.
type transcripts struct {
	ws     config.Workspace
	now    func() time.Time
	head   func(team.Spec) agent.Head // what stands at the head of a conversation that begins today
	report func(Notice)
	mask   func(record []byte) []byte // over what goes to the disk

	mu   sync.Mutex
	open map[autonomy.AgentName]*conversation
}

// conversation is an open transcript and the log it is written to.
type conversation struct {
	*agent.Transcript
	log *eventlog.Log
}

// journal is a log as a transcript sees it.
type journal struct{ *eventlog.Log }

// Append drops the number: a transcript has none.
func (j journal) Append(v any) error {
	_, err := j.Log.Append(v)
	return err
}

// of returns the conversation of a member and reads it from disk the first time, and again after somebody removed or
// replaced its file: what lies there is what the member knows. The member must not be in the middle of a run.
func (t *transcripts) of(member team.Spec) (*agent.Transcript, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.open[member.Name]; c != nil {
		if c.log.InPlace() {
			return c.Transcript, nil
		}
		t.report(Notice{
			Part: "transcript", File: t.ws.Transcript(string(member.Name)),
			Text: "was removed or replaced while " + string(member.Name) + " was live; the conversation goes on with what is there now",
		})
		delete(t.open, member.Name)
		_ = c.log.Close() // nobody can read it
	}
	if err := os.MkdirAll(t.ws.Transcripts(), 0o700); err != nil {
		return nil, fmt.Errorf("open the transcript of %s: %w", member.Name, err)
	}
	c, err := t.load(member)
	if err != nil {
		return nil, fmt.Errorf("open the transcript of %s: %w", member.Name, err)
	}
	t.open[member.Name] = c
	return c.Transcript, nil
}

// load continues the log of a member. A damaged one is put aside under a name that is reported, and a new conversation
// begins that says so: what can't be trusted is not sent to a model, and a member without a past can still work.
func (t *transcripts) load(member team.Spec) (*conversation, error) {
	path := t.ws.Transcript(string(member.Name))
	log, found, err := eventlog.Open(eventlog.Config{Path: path, Now: t.now, Mask: t.mask})
	if err != nil {
		return nil, err
	}
	if found.Damage == nil {
		script, err := agent.Restore(t.head(member), records(path), journal{log})
		if err != nil {
			return nil, errors.Join(err, log.Close())
		}
		return &conversation{Transcript: script, log: log}, nil
	}
	if err := log.Close(); err != nil {
		return nil, err
	}
	aside, err := t.putAside(member.Name)
	if err != nil {
		return nil, err
	}
	t.report(Notice{Part: "transcript", File: path, Line: int(found.Damage.Line), Text: found.Damage.Reason + "; kept as " + aside})
	if log, _, err = eventlog.Open(eventlog.Config{Path: path, Now: t.now, Mask: t.mask}); err != nil {
		return nil, err
	}
	script, err := agent.NewTranscript(t.head(member), journal{log})
	if err == nil {
		err = script.User("Your earlier conversation could not be read and was put aside. The board says what is to be done.")
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &conversation{Transcript: script, log: log}, nil
}

// records yields the bodies of a log's records. The log has been opened, so a torn end has been cut already.
func records(path string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for r, err := range eventlog.Read(path) {
			if !yield(r.Data, err) {
				return
			}
		}
	}
}

// Store puts mail into a member's transcript, durably, and returns what was not in it before.
func (t *transcripts) Store(_ context.Context, member team.Spec, mail []inbox.Message) ([]inbox.Message, error) {
	script, err := t.of(member)
	if err != nil {
		return nil, err
	}
	ids, err := script.Deliver(agent.Delivery{Letters: letters(mail)})
	if err != nil {
		return nil, fmt.Errorf("store mail of %s: %w", member.Name, err)
	}
	fresh := map[autonomy.MessageID]bool{}
	for _, id := range ids {
		fresh[id] = true
	}
	var stored []inbox.Message
	for _, m := range mail {
		if fresh[m.ID] {
			stored = append(stored, m)
			fresh[m.ID] = false
		}
	}
	return stored, nil
}

// Reset puts a transcript aside under a name of its own. The member must not be at work.
func (t *transcripts) Reset(_ context.Context, name autonomy.AgentName) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.open[name]; c != nil {
		delete(t.open, name)
		if err := c.log.Close(); err != nil {
			return fmt.Errorf("close the transcript of %s: %w", name, err)
		}
	}
	_, err := t.putAside(name)
	return err
}

// putAside renames a transcript to NAME.ULID.jsonl; the dot keeps it from being any member's.
func (t *transcripts) putAside(name autonomy.AgentName) (string, error) {
	aside := filepath.Join(t.ws.Transcripts(), string(name)+"."+ulid.New()+".jsonl")
	err := os.Rename(t.ws.Transcript(string(name)), aside)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("put the transcript of %s aside: %w", name, err)
	}
	return aside, nil
}

// close makes every conversation durable and closes its log.
func (t *transcripts) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, c := range t.open {
		errs = append(errs, c.log.Sync(), c.log.Close())
	}
	clear(t.open)
	return errors.Join(errs...)
}

// letters is mail as a conversation shows it.
func letters(mail []inbox.Message) []agent.Letter {
	out := make([]agent.Letter, len(mail))
	for i, m := range mail {
		out[i] = agent.Letter{
			ID: m.ID, Type: string(m.Kind), From: string(m.From), Content: m.Content, ReplyTo: m.ReplyTo,
		}
		if !m.Timestamp.IsZero() {
			out[i].Timestamp = m.Timestamp.UTC().Format(time.RFC3339)
		}
	}
	return out
}
