package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
)

// DefaultWallTime bounds a run that sets no other bound.
const DefaultWallTime = 2 * time.Hour

// Config is what a Loop works with. Executor, Evaluator and Recorder are required; the zero value of everything else
// is its default.
type Config struct {
	Run       autonomy.RunID
	Actor     autonomy.AgentName
	About     About
	Executor  Executor
	Evaluator Evaluator
	Recorder  Recorder

	Transcript *Transcript // nil = one in memory, for this run alone
	Proposers  []Proposer  // asked before the model, in this order
	Model      llm.Client  // nil = no model
	Skills     Skills
	Mail       Mail
	Compactor  Compactor
	Learner    Learner
	Budget     Budget        // nil = a Purse of ScopeRun with its default
	WallTime   time.Duration // 0 = DefaultWallTime, negative = unbounded
	OnDelta    func(llm.Delta)
	Mask       func(string) string // over every text that is told to the model or a judge; nil = as it is
	// Stop is closed to end the run at its next safe point, before a turn, as cancelled. nil = only the context ends it.
	Stop <-chan struct{}

	// Beam is how many ranked paths are kept; 0 = action.Beam.
	Beam int
}

// About is what run_started says of the surroundings.
type About struct {
	Interface string // "team", "run", "chat"
	Mode      string // of the policy
	Provider  string
	Model     string
	Sandbox   string
}

// Loop works one goal. It is cheap: make one for each run.
type Loop struct {
	cfg Config
}

// New checks the configuration.
func New(cfg Config) (*Loop, error) {
	switch {
	case cfg.Executor == nil:
		return nil, errors.New("agent: Config.Executor is required")
	case cfg.Evaluator == nil:
		return nil, errors.New("agent: Config.Evaluator is required")
	case cfg.Recorder == nil:
		return nil, errors.New("agent: Config.Recorder is required")
	case cfg.Beam < 0:
		return nil, errors.New("agent: Config.Beam is negative")
	}
	if cfg.Beam == 0 {
		cfg.Beam = action.Beam
	}
	if cfg.Mask == nil {
		cfg.Mask = func(s string) string { return s }
	}
	if cfg.WallTime == 0 {
		cfg.WallTime = DefaultWallTime
	}
	if cfg.Budget == nil {
		purse, err := NewPurse(PurseConfig{Scope: ScopeRun})
		if err != nil {
			return nil, err
		}
		cfg.Budget = purse
	}
	if cfg.Transcript == nil {
		cfg.Transcript, _ = NewTranscript(Head{}, nil) // cannot fail without a journal
	}
	return &Loop{cfg: cfg}, nil
}

// errWallTime is the cause of a context that ended because the run's time is used up, errInterrupted of one that ended
// because urgent mail came.
var (
	errWallTime    = errors.New("the run's time is used up")
	errInterrupted = errors.New("interrupted by mail")
)

// ErrStopped says that the run was asked to stop and came to a safe point. An error of the Gateway that wraps it, as
// when a question to a person is given up, ends the run as Cancelled.
var ErrStopped = errors.New("asked to stop")

// logError marks a failure to write the run's log or transcript: nothing may be done that can't be recorded.
type logError struct{ err error }

func (e *logError) Error() string { return "write the run's record: " + e.err.Error() }
func (e *logError) Unwrap() error { return e.err }

// panicError is a panic that was recovered: a bug in this program.
type panicError struct{ what, stack string }

func (e *panicError) Error() string { return "panic: " + e.what }

// run is one Loop.Run: the configuration, the goal, and what has happened so far.
type run struct {
	Config
	goal  Goal
	tally *tally
	ask   asker
	// turnContext makes the context of one turn; stop must be called.
	turnContext func(context.Context) (turn context.Context, stop func())

	again   bool // a replay: actions run one after the other, and observations are as they were made
	turn    int
	report  Report
	done    []Done
	trail   []string
	skills  skillMemory
	usage   int  // prompt tokens of the last request
	sized   int  // bytes of the transcript then
	briefed bool // the model was told what is left of the runbook
}

// Run works the goal to its termination, on the calling goroutine. It always returns a Report; the context's end makes
// it cancelled. A panic below it is recovered into a failed Report, with the stack in the log.
func (l *Loop) Run(ctx context.Context, g Goal) Report {
	r := &run{Config: l.cfg, goal: g.withDefaults()}
	r.turnContext = r.interruptible
	r.tally = newTally(r.goal, r.Model != nil)
	if r.Model != nil {
		r.ask = &model{run: r}
	}
	return r.work(ctx)
}

func (r *run) work(ctx context.Context) Report {
	r.report.Run = r.Config.Run
	if r.WallTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.WallTime, errWallTime)
		defer cancel()
	}
	end, err := r.guarded(ctx)
	if err != nil {
		end = r.broken(ctx, err)
	}
	return r.finish(end)
}

// guarded runs the turns and turns a panic into an error.
func (r *run) guarded(ctx context.Context) (end ending, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{fmt.Sprint(p), clip(string(debug.Stack()), 8192)}
		}
	}()
	if err := r.begin(); err != nil {
		return ending{}, err
	}
	for {
		end, err := r.oneTurn(ctx)
		if err != nil || end.ends() {
			return end, err
		}
	}
}

// oneTurn is the five steps.
func (r *run) oneTurn(ctx context.Context) (ending, error) {
	if err := context.Cause(ctx); err != nil {
		return ending{}, err
	}
	select {
	case <-r.Stop:
		return ending{}, ErrStopped
	default:
	}
	r.turn++
	if err := r.receive(ctx); err != nil {
		return ending{}, err
	}
	turn, stop := r.turnContext(ctx)
	defer stop()
	if err := r.selectSkills(); err != nil {
		return ending{}, err
	}
	proposal, end, err := r.propose(turn)
	if err != nil || end.ends() {
		return end, r.interruption(turn, err)
	}
	ranking, err := r.rank(proposal)
	if err != nil {
		return ending{}, err
	}
	executed, err := r.execute(turn, proposal, ranking)
	if err != nil {
		return ending{}, r.interruption(turn, err)
	}
	return r.evaluate(turn, executed)
}

// begin opens the log and the conversation.
func (r *run) begin() error {
	g := r.goal
	err := r.emit(RunStarted{
		Kind: g.Kind, Subject: g.Subject, Goal: g.Fingerprint(), Verify: g.Verify, MaxSteps: g.MaxSteps,
		Strict: g.Strict, Resumed: g.Resumed, Refused: g.Refused, Judge: g.Judge, Proposals: g.Proposals, Beam: r.Beam, HasModel: r.tally.model,
		Interface: r.About.Interface, Mode: r.About.Mode, Provider: r.About.Provider, Model: r.About.Model, Sandbox: r.About.Sandbox,
	})
	if err != nil {
		return err
	}
	if id := r.Transcript.Identity(); id != nil && r.Transcript.Empty() {
		if err := r.emit(IdentityInjected(*id)); err != nil {
			return err
		}
	}
	if g.Mail != nil {
		if err := r.deliver(*g.Mail); err != nil {
			return err
		}
	}
	if err := r.tell(g.Text); err != nil {
		return err
	}
	return r.entered()
}

// entered makes the opening durable and says so to the one who waits for it. An error of theirs is an event: what they
// could not note comes again and is recognised.
func (r *run) entered() error {
	if r.goal.Entered == nil {
		return nil
	}
	if err := r.Transcript.Sync(); err != nil {
		return &logError{err}
	}
	if err := r.goal.Entered(); err != nil {
		return r.fault(FaultMail, err)
	}
	return nil
}

// tell adds a user message to the transcript.
func (r *run) tell(text string) error {
	if err := r.Transcript.User(r.Mask(text)); err != nil {
		return &logError{err}
	}
	return nil
}

func (r *run) emit(d Data) error {
	err := r.Recorder.Record(Event{
		Run: r.Config.Run, Turn: r.turn, Actor: r.Actor, Task: r.goal.Task, Claim: r.goal.Claim,
		Type: d.eventType(), Data: d,
	})
	if err != nil {
		return &logError{err}
	}
	return nil
}

// fault records something that went wrong and does not end the run.
func (r *run) fault(kind FaultKind, err error) error { return r.emit(Fault{kind, err.Error()}) }
