package daemon

import (
	"context"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/team"
)

// crew is what the control service asks of the team. *team.Supervisor is one.
type crew interface {
	Members() []team.Status
	Troubles() []string
	Member(name autonomy.AgentName) (team.Status, bool)
	Spawn(ctx context.Context, spec team.Spec, resume bool) (team.Status, error)
	Stop(ctx context.Context, name autonomy.AgentName, now bool) error
	Remove(ctx context.Context, name autonomy.AgentName) error
	Send(ctx context.Context, m inbox.Message) (team.Receipt, error)
	Lead(ctx context.Context, spec team.Spec) error
	Line(ctx context.Context, text string) (agent.Report, error)
}

// desk is where approvals wait for a person.
type desk interface {
	Approvals(ctx context.Context) ([]control.Approval, error)
	Answer(ctx context.Context, answer control.Answer) (control.Approval, error)
}
