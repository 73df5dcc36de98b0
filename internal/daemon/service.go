package daemon

import (
	"context"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/watch"
	"github.com/autonomy-team/autonomy/team"
)

// service answers the control calls of one daemon.
type service struct {
	crew     crew
	desk     desk
	events   *teamLog
	info     lockInfo
	root     string
	team     autonomy.TeamName
	mode     string
	poll     time.Duration
	now      func() time.Time
	watch    func() watch.State
	trust    func(context.Context) control.Trust
	entries  func() []board.Entry
	problems func() []control.Problem // of the daemon itself
	usage    func() (total control.Usage, of map[autonomy.AgentName]control.Usage)
	tasks    func() []control.TaskUsage
	spec     func(context.Context, control.SpawnRequest) (team.Spec, error) // checks model, key, mode and role file
	line     func(ctx context.Context, yield func(control.LineEvent)) (stop func())
	down     func(now bool)
	stopping func() bool
}

func (s *service) Status(ctx context.Context) (control.Status, error) {
	state, now := s.watch(), s.now()
	total, of := s.usage()
	st := control.Status{
		PID: s.info.PID, Instance: string(s.info.Instance), Version: s.info.Version, Workspace: s.root, Team: string(s.team),
		Mode: s.mode, StartedAt: s.info.StartedAt, UptimeMS: now.Sub(s.info.StartedAt).Milliseconds(),
		PollMS: s.poll.Milliseconds(), Watch: control.Watch{Events: state.Events, Reason: state.Reason},
		Trust: s.trust(ctx), Tasks: map[string]int{}, Members: s.members(of), Problems: []control.Problem{},
		Usage: total, TaskUsage: s.tasks(), Stopping: s.stopping(),
	}
	app.CountTasks(&st, s.entries())
	st.Problems = append(st.Problems, s.problems()...)
	for _, text := range s.crew.Troubles() {
		st.Problems = append(st.Problems, control.Problem{Reason: text})
	}
	open, err := s.desk.Approvals(ctx)
	if err != nil {
		st.Problems = append(st.Problems, control.Problem{Reason: "approvals: " + err.Error()})
	}
	st.Approvals = len(open)
	return st, nil
}

func (s *service) Team(ctx context.Context) (control.Team, error) {
	_, of := s.usage()
	return control.Team{Name: string(s.team), Members: s.members(of), Trust: s.trust(ctx)}, nil
}

func (s *service) members(of map[autonomy.AgentName]control.Usage) []control.Member {
	members := []control.Member{}
	for _, status := range s.crew.Members() {
		m := wireMember(status)
		m.Usage = of[status.Name]
		members = append(members, m)
	}
	return members
}

func (s *service) Spawn(ctx context.Context, req control.SpawnRequest) (control.Member, error) {
	if err := s.ready(); err != nil {
		return control.Member{}, err
	}
	spec, err := s.spec(ctx, req)
	if err != nil {
		return control.Member{}, wireError(err)
	}
	status, err := s.crew.Spawn(ctx, spec, req.Resume)
	if err != nil {
		return control.Member{}, wireError(err)
	}
	return wireMember(status), nil
}

func (s *service) Stop(ctx context.Context, req control.StopRequest) error {
	return wireError(s.crew.Stop(ctx, autonomy.AgentName(req.Name), req.Now))
}

func (s *service) Remove(ctx context.Context, name string) error {
	return wireError(s.crew.Remove(ctx, autonomy.AgentName(name)))
}

func (s *service) Send(ctx context.Context, req control.SendRequest) (control.SendReply, error) {
	m := inbox.Message{
		From: autonomy.AgentName(req.From), To: autonomy.AgentName(req.To), Content: req.Content,
		ReplyTo: autonomy.MessageID(req.ReplyTo), Interrupt: req.Interrupt,
	}
	if m.From == "" {
		m.From = team.User
	}
	if req.Content == "" {
		return control.SendReply{}, control.Errorf(control.CodeInvalid, "send: the message is empty")
	}
	receipt, err := s.crew.Send(ctx, m)
	if err != nil {
		return control.SendReply{}, wireError(err)
	}
	return wireReceipt(receipt), nil
}

func (s *service) Down(_ context.Context, req control.Down) error {
	s.down(req.Now)
	return nil
}

func (s *service) Events(ctx context.Context, after int64, yield func(control.Event) error) error {
	return s.events.follow(ctx, after, yield)
}

func (s *service) Approvals(ctx context.Context) ([]control.Approval, error) {
	open, err := s.desk.Approvals(ctx)
	if open == nil {
		open = []control.Approval{}
	}
	return open, wireError(err)
}

func (s *service) Answer(ctx context.Context, answer control.Answer) (control.Approval, error) {
	approval, err := s.desk.Answer(ctx, answer)
	return approval, wireError(err)
}

// Line makes the lead if there is none yet, runs it on the line and passes on what its run tells.
func (s *service) Line(ctx context.Context, req control.LineRequest, yield func(control.LineEvent) error) error {
	if err := s.ready(); err != nil {
		return err
	}
	spec, err := s.spec(ctx, control.SpawnRequest{
		Name: string(team.Lead), Role: "lead", Provider: req.Provider, Model: req.Model, BaseURL: req.BaseURL,
	})
	if err != nil {
		return wireError(err)
	}
	if err := s.crew.Lead(ctx, spec); err != nil {
		return wireError(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := s.line(ctx, func(e control.LineEvent) {
		if err := yield(e); err != nil {
			cancel(err) // the person has gone: so does the run
		}
	})
	report, err := s.crew.Line(ctx, req.Text)
	stop()
	if err != nil {
		return wireError(err)
	}
	return yield(control.LineEvent{Kind: control.LineReport, Report: wireReport(report)})
}

func (s *service) Interrupt(context.Context, control.Interrupt) error {
	return control.Errorf(control.CodeUnsupported, "interrupt a member by mail: autonomy send --interrupt")
}

func (s *service) Compact(context.Context, control.Compact) error {
	return control.Errorf(control.CodeUnsupported, "this version does not compact conversations")
}

func (s *service) ready() error {
	if s.stopping() {
		return control.Errorf(control.CodeStopping, "the daemon is on its way down")
	}
	return nil
}
