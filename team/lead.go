package team

import (
	"context"
	"fmt"

	"github.com/autonomy-team/autonomy/agent"
)

// line is what a person said to the lead.
type line struct {
	ctx   context.Context // of the person: its end cancels the run
	text  string
	reply chan agent.Report // takes one without a receiver
}

// Lead makes the member that a person talks to, unless there is one. One that has stopped, or that idles with another
// model than spec names, is replaced; its transcript goes on. It is never idle for too long, never claims, and does not
// count for MaxTeammates.
func (s *Supervisor) Lead(ctx context.Context, spec Spec) error {
	spec.Name, spec.Prompt = Lead, ""
	if spec.Role == "" {
		spec.Role = "lead"
	}
	if t := s.find(Lead); t != nil {
		st := t.snapshot()
		if st.Phase.Live() && (sameModel(st.Spec, spec) || st.Phase != Idle) {
			return nil
		}
		if err := s.Stop(ctx, Lead, false); err != nil {
			return err
		}
	}
	s.roster.Lock()
	defer s.roster.Unlock()
	_, err := s.admit(ctx, spec, true)
	return err
}

func sameModel(a, b Spec) bool {
	return a.Provider == b.Provider && a.Model == b.Model && a.BaseURL == b.BaseURL
}

// Line lets the lead work on one line of a person and returns how that ended. Lines are worked one after the other. The
// end of ctx cancels the run. Mail for the lead enters with its run.
func (s *Supervisor) Line(ctx context.Context, text string) (agent.Report, error) {
	t := s.find(Lead)
	if t == nil {
		return agent.Report{}, ErrNoLead
	}
	if !t.spec().HasModel() {
		return agent.Report{}, ErrNoModel
	}
	l := t.lifeNow()
	if l == nil {
		return agent.Report{}, ErrNotServing
	}
	said := line{ctx: ctx, text: text, reply: make(chan agent.Report, 1)}
	select {
	case t.lines <- said:
	case <-ctx.Done():
		return agent.Report{}, fmt.Errorf("wait for the lead: %w", context.Cause(ctx))
	case <-l.done:
		return agent.Report{}, ErrNotServing
	}
	// From here the lead has it, and its end comes soon after that of ctx.
	select {
	case report := <-said.reply:
		return report, nil
	case <-l.done:
	}
	select {
	case report := <-said.reply:
		return report, nil
	default:
		return agent.Report{}, ErrNotServing
	}
}

// serveLines is the life of the lead.
func (t *Teammate) serveLines(ctx context.Context, l *life) exit {
	for {
		t.move(Idle, forgetTask)
		select {
		case <-l.stop:
			return toldToStop
		case <-ctx.Done():
			return toldToStop
		case said := <-t.lines:
			said.reply <- t.workLine(ctx, l, said)
		}
	}
}

func (t *Teammate) workLine(ctx context.Context, l *life, said line) agent.Report {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(said.ctx, cancel)
	defer stop()
	return t.do(ctx, l, &errand{job: Job{Kind: LineJob, Text: said.text}})
}
