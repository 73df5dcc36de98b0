package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
	"github.com/autonomy-team/autonomy/agent/tool/terminal"
	"github.com/autonomy-team/autonomy/team"
)

// Work does one job of a member: one run of the loop over the member's conversation. It is part of team.Worker.
func (w *Workshop) Work(ctx context.Context, job team.Job) agent.Report {
	s, err := w.open(job)
	if err != nil {
		return broken(agent.CodeLog, err)
	}
	report := w.app.discreet(s.run(ctx))
	s.processes.Close(ctx)
	s.withdraw()
	if err := s.log.close(); err != nil {
		return broken(agent.CodeLog, err)
	}
	return report
}

// withdraw takes back the questions of an attempt whose task went to somebody else. Those of an attempt that was only
// stopped stay: the next one takes them over.
func (s *shift) withdraw() {
	t := s.job.Task
	if t == nil {
		return
	}
	dir, err := s.shop.app.Board()
	if err != nil || dir.Lost(t.Ref()) == nil {
		return
	}
	if err := s.shop.requests.Withdraw(s.job.Member.Name, t.ID); err != nil {
		s.shop.app.opts.Report(Notice{Part: "approvals", File: s.shop.app.ws.Requests(), Text: err.Error()})
	}
}

// broken is the report of a run that could not begin.
func broken(code agent.Code, err error) agent.Report {
	return agent.Report{Termination: agent.Failed, Code: code, Message: err.Error()}
}

// shift is one run of one member.
type shift struct {
	shop   *Workshop
	job    team.Job
	log    *runLog
	script *agent.Transcript

	processes *terminal.Processes // those that stay until the run ends
	bell      bell                // rings when one of them ends
}

// open begins the run's log and gets the member's conversation. Without either nothing may be done.
func (w *Workshop) open(job team.Job) (*shift, error) {
	s := &shift{shop: w, job: job}
	var err error
	if s.script, err = w.scripts.of(job.Member); err != nil {
		return nil, err
	}
	for _, note := range job.Notes {
		if err := s.script.User(agent.NoteText(w.app.redact.String(note))); err != nil {
			return nil, fmt.Errorf("note in the transcript of %s: %w", job.Member.Name, err)
		}
	}
	if s.processes, err = w.box.processes(s.bell.ring); err != nil {
		return nil, err
	}
	if s.log, err = w.app.beginRun(func(e agent.Event) { s.heard(e) }); err != nil {
		return nil, err
	}
	job.Progress(team.Progress{Run: s.log.id})
	return s, nil
}

// heard passes an event on to who listens and keeps the member's status current.
func (s *shift) heard(e agent.Event) {
	if call, ok := e.Data.(agent.ModelCall); ok && call.Class == "" {
		s.job.Progress(team.Progress{Tokens: call.Usage.Prompt + call.Usage.Completion})
		if s.job.Task != nil {
			s.shop.spent(s.job.Task.ID, call.Usage)
		}
	}
	for _, l := range s.shop.hearing(s.job.Member.Name) {
		if l.Event != nil {
			l.Event(e)
		}
	}
}

func (s *shift) delta(d llm.Delta) {
	if d.Kind != llm.DeltaText {
		return
	}
	for _, l := range s.shop.hearing(s.job.Member.Name) {
		if l.Delta != nil {
			l.Delta(d.Text)
		}
	}
}

func (s *shift) run(ctx context.Context) agent.Report {
	cfg, err := s.config(ctx)
	if err != nil {
		return s.failed(err)
	}
	loop, err := agent.New(cfg)
	if err != nil {
		return s.failed(err)
	}
	return loop.Run(ctx, s.goal(ctx))
}

// failed ends a run that could not begin, with a word in its log.
func (s *shift) failed(err error) agent.Report {
	kind, code := agent.Blame(err)
	r := broken(code, err)
	r.Run = s.log.id
	e := agent.Event{Run: s.log.id, Actor: s.job.Member.Name, Type: agent.TypeError}
	e.Data = agent.Fault{Kind: kind, Message: err.Error()}
	if err := s.log.Record(e); err != nil {
		return broken(agent.CodeLog, err)
	}
	return r
}

func (s *shift) config(ctx context.Context) (agent.Config, error) {
	m := s.job.Member
	gate, err := s.shop.gate(s)
	if err != nil {
		return agent.Config{}, err
	}
	cfg := agent.Config{
		WallTime: s.shop.set.Budget.RunTime, Mask: s.shop.app.redact.String,
		Run: s.log.id, Actor: m.Name, Transcript: s.script, Recorder: s.log, Executor: gate, Stop: s.job.Stop,
		About: agent.About{
			Interface: "team", Mode: s.shop.modeOf(m), Provider: m.Provider, Model: m.Model, Sandbox: sandboxLevel,
		},
	}
	var evaluator outcome.Evaluator
	if t := s.job.Task; t != nil {
		book, err := runbookOf(*t)
		if err != nil {
			return cfg, err
		}
		cfg.Proposers = append(cfg.Proposers, book)
		evaluator.Verify = verifier(gate, t.Verify)
	}
	cfg.Evaluator = evaluator
	if m.HasModel() {
		if err := s.thinking(ctx, &cfg, gate); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// thinking adds what only a member with a model has: the model itself, its budget, recipes, and mail between turns. Mail
// of a member without one is stored by the team.
func (s *shift) thinking(ctx context.Context, cfg *agent.Config, gate *gateway.Gateway) error {
	m := s.job.Member
	client, err := s.shop.models.client(choiceOf(m))
	if err != nil {
		return s.shop.app.modelError(err)
	}
	purse, err := s.shop.purse(m.Name)
	if err != nil {
		return err
	}
	engine, err := s.shop.app.recipes(ctx, gate)
	if err != nil {
		return err
	}
	cfg.Model, cfg.OnDelta, cfg.Budget, cfg.Mail = client, s.delta, purse, letterbox{s.job, &s.bell}
	cfg.Learner = engine
	if s.job.Kind == team.TaskJob {
		cfg.Proposers = append(cfg.Proposers, engine)
	}
	if s.job.Kind == team.LineJob {
		cfg.About.Interface = "chat"
	}
	return nil
}

// modeOf is the member's mode: the team's, or its own where that is narrower.
func (w *Workshop) modeOf(m team.Spec) string {
	return stricter(m.Mode, w.set.Mode)
}

func (s *shift) goal(ctx context.Context) agent.Goal {
	g := agent.Goal{Judge: outcome.Mode(s.shop.set.Judge), Entered: func() error { return s.job.Entered(ctx) }}
	if s.job.Entered == nil {
		g.Entered = nil
	}
	switch s.job.Kind {
	case team.TaskJob:
		t := s.job.Task
		g.Kind, g.Subject, g.Description, g.Verify, g.Task = agent.KindTask, t.Subject, t.Description, t.Verify, t.ID
		if t.Claim != nil {
			g.Claim = t.Claim.ID
		}
		mask := s.shop.app.redact.String // before anything is escaped, or a secret might not be known any more
		g.Text = agent.ClaimedText(t.ID, mask(t.Subject), mask(t.Description), mask(s.shop.app.before(*t)))
	case team.MailJob:
		g.Kind = agent.KindMail
		g.Mail = &agent.Delivery{Letters: letters(s.job.Mail)}
	case team.PromptJob:
		g.Kind, g.Subject, g.Text = agent.KindPrompt, firstLine(s.job.Text), s.job.Text
	case team.LineJob:
		g.Kind, g.Subject, g.Text = agent.KindLine, firstLine(s.job.Text), s.job.Text
		// What came since the last line stands before this one, which is what is to be answered.
		if d, ok, err := (letterbox{s.job, &s.bell}).Poll(ctx); err == nil && ok {
			g.Mail = &d
		}
	}
	if s.job.Round > 0 {
		g.Resumed, g.Refused = true, s.job.Refused
		g.Mail, g.Text = nil, nudge(s.job)
	}
	return g
}

// nudge opens a further round: what is to be done is in the conversation already.
func nudge(job team.Job) string {
	if job.Kind == team.TaskJob {
		return fmt.Sprintf("Task #%d is still yours and not finished. Go on with it; when it is done call complete_task.", job.Task.ID)
	}
	return "Go on."
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// letterbox is the mail of a job as the loop polls it, and the news of its processes.
type letterbox struct {
	job  team.Job
	bell *bell
}

func (l letterbox) Poll(ctx context.Context) (agent.Delivery, bool, error) {
	d, err := l.job.Receive(ctx)
	if err != nil {
		return agent.Delivery{}, false, err
	}
	if len(d.Messages) == 0 {
		return l.bell.Poll(ctx)
	}
	all := append(letters(d.Messages), l.bell.letters()...)
	return agent.Delivery{Letters: all, Ack: func() error { return d.Ack(ctx) }}, true, nil
}

func (l letterbox) Interrupts() <-chan struct{} { return l.job.Interrupt }
