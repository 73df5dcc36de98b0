package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// ReplayReport says whether a run, decided anew from its log, went the same way.
type ReplayReport struct {
	Recorded    Termination // what the log says; "" if the run did not finish
	Termination Termination // what was decided anew
	Code        Code
	Same        bool
	Divergence  string // the first difference; "" if Same
	Events      int    // in the log
	Usage       llm.Usage
}

// ErrNotARun says that a log does not begin with run_started.
var ErrNotARun = errors.New("the log does not begin with run_started")

// Replay runs the Loop once more over the events of one run. What came from outside is taken from the log: the paths
// that were proposed, admissions, observations, verdicts, model errors, budgets and interruptions. Ranking, the walk
// over the paths, guards, evaluation and termination are decided anew, and each decision must be the recorded one. An
// error means that the log can't be read; a difference is no error.
func Replay(ctx context.Context, events iter.Seq2[Event, error]) (ReplayReport, error) {
	var log []Event
	for e, err := range events {
		if err != nil {
			return ReplayReport{}, fmt.Errorf("read run: %w", err)
		}
		log = append(log, e)
	}
	if len(log) == 0 {
		return ReplayReport{}, ErrNotARun
	}
	started, ok := log[0].Data.(RunStarted)
	if !ok {
		return ReplayReport{}, ErrNotARun
	}
	rep := ReplayReport{Events: len(log)}
	finished, ok := log[len(log)-1].Data.(RunFinished)
	if !ok {
		rep.Divergence = "the log ends without run_finished"
		return rep, nil
	}
	rep.Recorded = finished.Termination
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := &player{log: log, at: 1, stop: stop}
	result := p.run(started).work(ctx)
	rep.Termination, rep.Code, rep.Usage = result.Termination, result.Code, result.Usage
	if rep.Divergence = p.divergence; rep.Divergence == "" && p.at < len(log) {
		rep.Divergence = fmt.Sprintf("event %d (%s) did not come again", p.at+1, log[p.at].Type)
	}
	rep.Same = rep.Divergence == ""
	return rep, nil
}

// player is everything outside the Loop, out of a log. It answers from the place that has been reached and moves on as
// the Loop records the same decisions again.
type player struct {
	log       []Event
	at        int // the next event to be compared
	again     *run
	stop      context.CancelCauseFunc // ends the run
	interrupt context.CancelCauseFunc // ends the turn

	divergence string
}

// run is the run that started made, with the player all around it.
func (p *player) run(s RunStarted) *run {
	g := Goal{
		Kind: s.Kind, Subject: s.Subject, Verify: s.Verify, MaxSteps: s.MaxSteps, Strict: s.Strict, Resumed: s.Resumed, Refused: s.Refused, Judge: s.Judge,
		Proposals: s.Proposals,
	}
	transcript, _ := NewTranscript(Head{}, nil) // cannot fail without a journal
	r := &run{Config: Config{
		Run: p.log[0].Run, Actor: p.log[0].Actor, Executor: p, Evaluator: p, Recorder: p, Proposers: []Proposer{p},
		Beam: max(s.Beam, 1), WallTime: -1, Transcript: transcript,
		Mask: func(s string) string { return s },
	}, goal: g}
	r.again = true
	r.tally = newTally(g, s.HasModel)
	if s.HasModel {
		r.ask = p
	}
	r.turnContext = func(ctx context.Context) (context.Context, func()) {
		turn, cancel := context.WithCancelCause(ctx)
		p.interrupt = cancel
		return turn, func() { cancel(nil) }
	}
	p.again = r
	return r
}

// errDiverged ends a replay at its first difference.
var errDiverged = errors.New("the replay has left the log")

func (p *player) diverge(format string, args ...any) error {
	if p.divergence == "" {
		p.divergence = fmt.Sprintf(format, args...)
	}
	return errDiverged
}

// outside reports whether an event tells of something from outside, which the Loop does not decide.
func outside(d Data) bool {
	switch d.(type) {
	case CandidatesRanked, ActionSelected, ApprovalDecision, Observed, OutcomeEvaluated, RunFinished:
		return false
	default:
		return true
	}
}

// Record compares a decision with the one in the log.
func (p *player) Record(e Event) error {
	if outside(e.Data) {
		return nil
	}
	i := p.at
	for i < len(p.log) && outside(p.log[i].Data) {
		i++
	}
	if i == len(p.log) {
		return p.diverge("%s in turn %d is not in the log", e.Type, e.Turn)
	}
	was := p.log[i]
	if was.Type != e.Type || was.Turn != e.Turn && e.Type != TypeRunFinished {
		return p.diverge("event %d: the log says %s in turn %d, the replay %s in turn %d", i+1, was.Type, was.Turn, e.Type, e.Turn)
	}
	if diff := difference(was.Data, e.Data); diff != "" {
		return p.diverge("event %d (%s): %s", i+1, e.Type, diff)
	}
	p.at = i + 1
	return nil
}
