package control

import "context"

// Service is what a daemon does on request. Errors should be *Error; any other error travels as CodeInternal. All
// methods may be called at once from many goroutines; the context ends when the caller hangs up.
type Service interface {
	Status(ctx context.Context) (Status, error)
	Team(ctx context.Context) (Team, error)
	Spawn(ctx context.Context, req SpawnRequest) (Member, error)
	Stop(ctx context.Context, req StopRequest) error
	Remove(ctx context.Context, name string) error
	Send(ctx context.Context, req SendRequest) (SendReply, error)
	// Down returns as soon as the stop has been asked for.
	Down(ctx context.Context, req Down) error
	// Events yields the records after seq, then waits for more, until the context ends or yield fails.
	Events(ctx context.Context, after int64, yield func(Event) error) error
	Approvals(ctx context.Context) ([]Approval, error)
	Answer(ctx context.Context, answer Answer) (Approval, error)
	// Line runs the lead on one line of a person. The last item yielded is the report.
	Line(ctx context.Context, req LineRequest, yield func(LineEvent) error) error
	Interrupt(ctx context.Context, req Interrupt) error
	Compact(ctx context.Context, req Compact) error
}
