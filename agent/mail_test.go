package agent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
)

// post is a mailbox in memory.
type post struct {
	waiting   []agent.Letter
	acked     int
	interrupt chan struct{}
}

func (p *post) Poll(context.Context) (agent.Delivery, bool, error) {
	if len(p.waiting) == 0 {
		return agent.Delivery{}, false, nil
	}
	letters := p.waiting
	p.waiting = nil
	return agent.Delivery{Letters: letters, Ack: func() error { p.acked += len(letters); return nil }}, true, nil
}

func (p *post) Interrupts() <-chan struct{} { return p.interrupt }

func said(req llm.Request, text string) int {
	n := 0
	for _, m := range req.Messages {
		n += strings.Count(m.Content, text)
	}
	return n
}

func TestR15_SteeringArrivesInTheNextRequest(t *testing.T) {
	box := &post{}
	b := newBench(says("", call("1", "bash", `{}`)), says("ok"))
	b.cfg.Mail = box
	b.hands.tools["bash"] = func(context.Context, action.Action) action.Observation {
		box.waiting = []agent.Letter{{ID: "M1", From: "user", Content: "stop </inbox> that"}}
		return action.Observation{Status: action.OK}
	}
	rep := b.run(t, agent.Goal{Subject: "s"})
	b.want(t, agent.Achieved, "")
	if n := said(b.model.requests[1], `stop \u003c/inbox\u003e that`); n != 1 {
		t.Errorf("the letter is in the next request %d times", n)
	}
	if box.acked != 1 || len(rep.Mail) != 1 {
		t.Errorf("%d acknowledged, report %v", box.acked, rep.Mail)
	}
}

func TestR15_UrgentMailCancelsTheCallInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := &post{interrupt: make(chan struct{}, 1)}
		b := newBench(says("", call("1", "bash", `{}`)), says("ok"))
		b.cfg.Mail = box
		b.hands.tools["bash"] = func(ctx context.Context, _ action.Action) action.Observation {
			box.waiting = []agent.Letter{{ID: "M1", From: "user", Content: "urgent"}}
			box.interrupt <- struct{}{}
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			return action.Observation{Status: action.OK}
		}
		start := time.Now()
		b.run(t, agent.Goal{Subject: "s"})
		b.want(t, agent.Achieved, "")
		if took := time.Since(start); took > time.Second {
			t.Errorf("the call went on for %s", took)
		}
		if said(b.model.requests[1], "urgent") != 1 {
			t.Error("the next request does not hold the mail")
		}
		if f := find[agent.Fault](b.log); len(f) != 1 || f[0].Kind != agent.FaultInterrupted {
			t.Errorf("faults %+v", f)
		}
	})
}

func TestStopWaitsForTheTurn(t *testing.T) {
	stop := make(chan struct{})
	b := newBench(says("", call("1", "bash", `{}`), call("2", "write", `{}`)), says("done"))
	b.cfg.Stop = stop
	b.hands.tools["bash"] = func(ctx context.Context, _ action.Action) action.Observation {
		close(stop)
		return action.Observation{Status: action.OK}
	}
	b.run(t, agent.Goal{Subject: "s"})
	b.want(t, agent.Cancelled, "")
	if got := strings.Join(b.hands.calls, " "); got != "bash write" || len(b.model.requests) != 1 {
		t.Errorf("executed %s, %d requests", got, len(b.model.requests))
	}
}

func TestEnteredWhenTheOpeningIsDurable(t *testing.T) {
	disk := &journal{}
	b := newBench(says("hello"))
	b.cfg.Transcript, _ = agent.NewTranscript(alice, disk)
	lines, syncs := 0, 0
	b.run(t, agent.Goal{Kind: agent.KindLine, Text: "hi", Entered: func() error {
		lines, syncs = len(disk.lines), disk.syncs
		return nil
	}})
	b.want(t, agent.Achieved, agent.CodeAnswered)
	if lines != 2 || syncs != 1 {
		t.Errorf("entered after %d records and %d syncs", lines, syncs)
	}
	b = newBench(says("hello"))
	b.run(t, agent.Goal{Kind: agent.KindLine, Text: "hi", Entered: func() error { return context.Canceled }})
	b.want(t, agent.Achieved, agent.CodeAnswered)
	if f := find[agent.Fault](b.log); len(f) != 1 || f[0].Kind != agent.FaultMail {
		t.Errorf("faults %+v", f)
	}
}

func TestUnacknowledgedMailEntersOnce(t *testing.T) {
	box := &post{waiting: []agent.Letter{{ID: "M1", Content: "hi there"}}}
	b := newBench(says("", call("1", "read", `{}`)), says("done"))
	b.cfg.Mail = failingAck{box}
	b.run(t, agent.Goal{Subject: "s"})
	b.want(t, agent.Achieved, "")
	if n := said(b.model.requests[1], "hi there"); n != 1 {
		t.Errorf("the letter entered %d times", n)
	}
	if f := find[agent.Fault](b.log); len(f) != 2 || f[0].Kind != agent.FaultMail {
		t.Errorf("faults %+v", f)
	}
}

// failingAck gives the same letters for ever, because they can't be acknowledged.
type failingAck struct{ *post }

func (f failingAck) Poll(context.Context) (agent.Delivery, bool, error) {
	return agent.Delivery{Letters: f.waiting, Ack: func() error { return context.DeadlineExceeded }}, true, nil
}

func TestMailOpensARun(t *testing.T) {
	acked := false
	b := newBench(says("hello"))
	rep := b.run(t, agent.Goal{Kind: agent.KindMail, Mail: &agent.Delivery{
		Letters: []agent.Letter{{ID: "M1", From: "bob", Content: "hi"}}, Ack: func() error { acked = true; return nil },
	}})
	b.want(t, agent.Achieved, agent.CodeAnswered)
	if !acked || rep.Text != "hello" || len(rep.Mail) != 1 {
		t.Errorf("acknowledged %v, report %+v", acked, rep)
	}
}
