// Package inboxtest is the conformance suite of mailboxes. Every implementation must pass it, fakes too.
package inboxtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/inbox"
)

// Box is what a store of mailboxes offers.
type Box interface {
	Send(ctx context.Context, m inbox.Message) (inbox.Message, error)
	Receive(ctx context.Context, name autonomy.AgentName) (inbox.Batch, error)
	Ack(ctx context.Context, name autonomy.AgentName, c inbox.Cursor) error
	Unread(ctx context.Context, name autonomy.AgentName) (int, error)
	Peek(ctx context.Context, name autonomy.AgentName, limit int) ([]inbox.Listed, error)
	Waiting(name autonomy.AgentName) (bool, error)
}

// Run tests an implementation. Fresh makes an empty store and returns how to open it; opening it again is what a
// restarted process does.
func Run(t *testing.T, fresh func(t *testing.T) (open func() Box)) {
	tests := []struct {
		name string
		test func(t *testing.T, open func() Box)
	}{
		{"what is sent is received whole and in order", roundTrip},
		{"nothing is consumed before Ack", ackConsumes},
		{"a name that cannot have a mailbox is refused", R04Names},
		{"what is no message is refused", refusals},
		{"an empty mailbox is no error", empty},
		{"Peek consumes nothing", peek},
		{"an id that is sent again is received once", again},
		{"concurrent senders lose nothing and keep their order", concurrent},
		{"a context that has ended stops before the effect", ended},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.test(t, fresh(t)) })
	}
}

func send(t *testing.T, box Box, m inbox.Message) inbox.Message {
	t.Helper()
	sent, err := box.Send(t.Context(), m)
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	return sent
}

func receive(t *testing.T, box Box, name autonomy.AgentName) inbox.Batch {
	t.Helper()
	batch, err := box.Receive(t.Context(), name)
	if err != nil {
		t.Fatalf("receive: %v", err)
	}
	return batch
}

func ack(t *testing.T, box Box, name autonomy.AgentName, c inbox.Cursor) {
	t.Helper()
	if err := box.Ack(t.Context(), name, c); err != nil {
		t.Fatalf("ack: %v", err)
	}
}

func contents(messages []inbox.Message) (all []string) {
	for _, m := range messages {
		all = append(all, m.Content)
	}
	return all
}

func wantContents(t *testing.T, batch inbox.Batch, want ...string) {
	t.Helper()
	if got := contents(batch.Messages); !slices.Equal(got, want) {
		t.Fatalf("received %q, want %q", got, want)
	}
}

func roundTrip(t *testing.T, open func() Box) {
	box, yes := open(), true
	full := send(t, box, inbox.Message{
		Kind: inbox.KindPlanResponse, From: "lead", To: "alice", Content: "line\n<b> \u2028 \"é\" 任务", ReplyTo: "x1",
		RequestID: "r1", Approve: &yes, Plan: "p", Feedback: "f", Interrupt: true,
	})
	plain := send(t, box, inbox.Message{To: "alice", Content: "bad \xff utf-8"})
	if plain.ID == "" || plain.ID == full.ID || plain.Timestamp.IsZero() || plain.From != "user" || plain.Kind != inbox.KindMessage {
		t.Errorf("not filled in: %+v", plain)
	}
	got := receive(t, box, "alice").Messages
	if len(got) != 2 {
		t.Fatalf("received %d messages, want 2", len(got))
	}
	for i, want := range []inbox.Message{full, plain} {
		if !same(got[i], want) {
			t.Errorf("received %+v, want %+v", got[i], want)
		}
	}
}

// same compares by value: times by instant, approvals by what they say.
func same(a, b inbox.Message) bool {
	if (a.Approve == nil) != (b.Approve == nil) || a.Approve != nil && *a.Approve != *b.Approve {
		return false
	}
	if !a.Timestamp.Equal(b.Timestamp) {
		return false
	}
	a.Approve, a.Timestamp = b.Approve, b.Timestamp
	return a == b
}

func ackConsumes(t *testing.T, open func() Box) {
	box := open()
	send(t, box, inbox.Message{To: "alice", Content: "1"})
	send(t, box, inbox.Message{To: "bob", Content: "for bob"})
	send(t, box, inbox.Message{To: "alice", Content: "2"})
	wantContents(t, receive(t, box, "alice"), "1", "2")
	box = open() // killed before Ack
	batch := receive(t, box, "alice")
	wantContents(t, batch, "1", "2")
	send(t, box, inbox.Message{To: "alice", Content: "3"})
	ack(t, box, "alice", batch.Cursor)
	wantContents(t, receive(t, box, "alice"), "3")
	box = open()
	batch = receive(t, box, "alice")
	wantContents(t, batch, "3")
	if n, err := box.Unread(t.Context(), "alice"); n != 1 || err != nil {
		t.Errorf("unread: %d, %v", n, err)
	}
	ack(t, box, "alice", batch.Cursor)
	wantContents(t, receive(t, box, "alice"))
	if n, err := box.Unread(t.Context(), "alice"); n != 0 || err != nil {
		t.Errorf("unread: %d, %v", n, err)
	}
	if waits, err := box.Waiting("alice"); waits || err != nil {
		t.Errorf("waiting: %v, %v", waits, err)
	}
	if waits, err := box.Waiting("bob"); !waits || err != nil {
		t.Errorf("bob waiting: %v, %v", waits, err)
	}
}

// R04Names is the statement of the reliability page on names: whatever cannot be a mailbox is an error, never a file.
func R04Names(t *testing.T, open func() Box) {
	box := open()
	for _, name := range []autonomy.AgentName{
		"", "../x", "..", ".", "a/b", "/etc/passwd", "Alice", "ALL", "all", "supervisor", "Supervisor", "1a", "-a", "a b",
		"a.b", "a\x00", "é", "alice.cursor", autonomy.AgentName(strings.Repeat("a", 33)),
	} {
		if _, err := box.Send(t.Context(), inbox.Message{To: name, Content: "x"}); !errors.Is(err, inbox.ErrName) {
			t.Errorf("send to %q: %v", name, err)
		}
		if _, err := box.Receive(t.Context(), name); !errors.Is(err, inbox.ErrName) {
			t.Errorf("receive of %q: %v", name, err)
		}
		if err := box.Ack(t.Context(), name, inbox.Cursor{}); !errors.Is(err, inbox.ErrName) {
			t.Errorf("ack of %q: %v", name, err)
		}
		if _, err := box.Peek(t.Context(), name, 0); !errors.Is(err, inbox.ErrName) {
			t.Errorf("peek at %q: %v", name, err)
		}
		if _, err := box.Waiting(name); !errors.Is(err, inbox.ErrName) {
			t.Errorf("waiting for %q: %v", name, err)
		}
	}
	for _, name := range []autonomy.AgentName{"lead", "user", "a", "a-1_b", autonomy.AgentName(strings.Repeat("a", 32))} {
		send(t, box, inbox.Message{To: name, Content: "x"})
		wantContents(t, receive(t, box, name), "x")
	}
}

func refusals(t *testing.T, open func() Box) {
	box := open()
	var kind *inbox.UnknownKindError
	if _, err := box.Send(t.Context(), inbox.Message{To: "alice", Kind: "gossip"}); !errors.As(err, &kind) {
		t.Errorf("unknown type: %v", err)
	}
	long := inbox.Message{To: "alice", Content: strings.Repeat("x", inbox.MaxLine)}
	if _, err := box.Send(t.Context(), long); !errors.Is(err, inbox.ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
	if _, err := box.Send(t.Context(), inbox.Message{To: "alice", ID: "a b"}); err == nil {
		t.Error("an id with a space was accepted")
	}
	wantContents(t, receive(t, box, "alice"))
}

func empty(t *testing.T, open func() Box) {
	box := open()
	batch := receive(t, box, "alice")
	if len(batch.Messages)+len(batch.Rejected) > 0 || batch.More {
		t.Errorf("received %+v", batch)
	}
	if listed, err := box.Peek(t.Context(), "alice", 0); err != nil || len(listed) > 0 {
		t.Errorf("peek: %v, %v", listed, err)
	}
	if waits, err := box.Waiting("alice"); waits || err != nil {
		t.Errorf("waiting: %v, %v", waits, err)
	}
}

func peek(t *testing.T, open func() Box) {
	box := open()
	for i := range 5 {
		send(t, box, inbox.Message{To: "alice", Content: fmt.Sprint(i)})
		if i == 2 {
			ack(t, box, "alice", receive(t, box, "alice").Cursor)
		}
	}
	listed, err := box.Peek(t.Context(), "alice", 3)
	if err != nil || len(listed) != 3 {
		t.Fatalf("peek: %d messages, %v", len(listed), err)
	}
	for i, l := range listed {
		if l.Content != fmt.Sprint(i+2) || l.Read != (i == 0) {
			t.Errorf("listed %d: %q, read %v", i, l.Content, l.Read)
		}
	}
	wantContents(t, receive(t, box, "alice"), "3", "4")
}

func again(t *testing.T, open func() Box) {
	box := open()
	first := send(t, box, inbox.Message{To: "alice", Content: "once"})
	send(t, box, first)
	batch := receive(t, box, "alice")
	wantContents(t, batch, "once")
	ack(t, box, "alice", batch.Cursor)
	send(t, box, first)
	send(t, box, inbox.Message{To: "alice", Content: "next"})
	wantContents(t, receive(t, box, "alice"), "next")
}

func concurrent(t *testing.T, open func() Box) {
	const senders, each = 8, 25
	box := open()
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				m := inbox.Message{To: "alice", From: autonomy.AgentName(fmt.Sprintf("s%d", s)), Content: fmt.Sprint(i)}
				if _, err := box.Send(context.WithoutCancel(t.Context()), m); err != nil {
					t.Errorf("send: %v", err)
				}
			}
		})
	}
	wg.Wait()
	next := map[autonomy.AgentName]int{}
	for _, m := range receive(t, box, "alice").Messages {
		if m.Content != fmt.Sprint(next[m.From]) {
			t.Fatalf("from %s: %s, want %d", m.From, m.Content, next[m.From])
		}
		next[m.From]++
	}
	for s := range senders {
		if n := next[autonomy.AgentName(fmt.Sprintf("s%d", s))]; n != each {
			t.Errorf("sender %d: %d of %d messages", s, n, each)
		}
	}
}

func ended(t *testing.T, open func() Box) {
	box := open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := box.Send(ctx, inbox.Message{To: "alice", Content: "late"}); !errors.Is(err, context.Canceled) {
		t.Errorf("send: %v", err)
	}
	if _, err := box.Receive(ctx, "alice"); !errors.Is(err, context.Canceled) {
		t.Errorf("receive: %v", err)
	}
	wantContents(t, receive(t, box, "alice"))
}
