package team

import (
	"context"
	"fmt"
	"time"

	"github.com/autonomy-team/autonomy"
)

// Spawn puts a member on the roster and starts it: with its prompt as first work, else idle, looking at once. While
// Serve does not run it starts when Serve begins. A name that is live is refused with a *LiveError; one that is not gets
// a clean transcript unless resume, and finds the mail that waits for its name. It returns after the roster is on disk.
func (s *Supervisor) Spawn(ctx context.Context, spec Spec, resume bool) (Status, error) {
	if err := CheckName(spec.Name); err != nil {
		return Status{}, err
	}
	if spec.Prompt != "" && !spec.HasModel() {
		return Status{}, fmt.Errorf("spawn %s with a prompt: %w", spec.Name, ErrNoModel)
	}
	if spec.Worktree {
		return Status{}, fmt.Errorf("spawn %s: %w", spec.Name, ErrNoWorktree)
	}
	s.roster.Lock()
	defer s.roster.Unlock()
	if s.live() >= s.cfg.MaxTeammates && !s.isLive(spec.Name) {
		return Status{}, &FullError{Max: s.cfg.MaxTeammates}
	}
	t, err := s.admit(ctx, spec, resume)
	if err != nil {
		return Status{}, err
	}
	return t.snapshot(), nil
}

func (s *Supervisor) isLive(name autonomy.AgentName) bool {
	t := s.find(name)
	return t != nil && t.phase().Live()
}

// admit is the common part of Spawn and Lead. The caller holds s.roster.
func (s *Supervisor) admit(ctx context.Context, spec Spec, resume bool) (*Teammate, error) {
	before := s.find(spec.Name)
	if before != nil {
		if phase := before.phase(); phase.Live() {
			return nil, &LiveError{Name: spec.Name, Phase: phase}
		}
	}
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if closing {
		return nil, fmt.Errorf("spawn %s: %w", spec.Name, errClosing)
	}
	if !resume {
		if err := s.cfg.Transcripts.Reset(ctx, spec.Name); err != nil {
			return nil, fmt.Errorf("begin a new transcript of %s: %w", spec.Name, err)
		}
	}
	t := newTeammate(s, spec, Running, Starting)
	if resume && before != nil {
		t.unfinished, t.notes = before.unfinished, before.notes
	}
	s.enlist(t)
	if err := s.writeRoster(ctx); err != nil {
		s.strike(t, before)
		return nil, err
	}
	s.countPeers()
	s.emit(Event{Kind: EventSpawned, Actor: spec.Name, Reason: string(spec.Role)})
	s.start(t)
	return t, nil
}

// start makes a member live. While Serve does not run that is left to startAll.
func (s *Supervisor) start(t *Teammate) {
	s.mu.Lock()
	if s.base == nil || s.closing {
		s.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancelCause(s.base)
	l := t.begin(cancel)
	s.mu.Unlock()
	t.move(Starting, nil)
	go t.serve(ctx, l)
}

// startAll starts those who were named before Serve began.
func (s *Supervisor) startAll() {
	s.roster.Lock()
	defer s.roster.Unlock()
	for _, t := range s.all() {
		if t.phase() == Starting && t.lifeNow() == nil {
			s.start(t)
		}
	}
}

// Stop ends a member in any phase and returns when its goroutine and its processes are gone: at its next safe point, by
// force after Grace, at once with now. It stays stopped until it is spawned again. When ctx ends first the member goes
// on stopping.
func (s *Supervisor) Stop(ctx context.Context, name autonomy.AgentName, now bool) error {
	t := s.find(name)
	if t == nil {
		return s.unknown(name)
	}
	done, err := s.retire(ctx, t, now)
	if done == nil {
		return err
	}
	select {
	case <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to stop: %w", name, context.Cause(ctx))
	}
}

// retire notes that a person wants the member stopped and asks it to. The error is that of the roster's write; the
// member stops all the same.
func (s *Supervisor) retire(ctx context.Context, t *Teammate, now bool) (<-chan struct{}, error) {
	s.roster.Lock()
	defer s.roster.Unlock()
	t.update(func(st *Status) { st.Desired = NotWanted })
	grace := s.cfg.Grace
	if now {
		grace = 0
	}
	done := t.requestStop(grace)
	if phase := t.phase(); phase == Shutdown || phase == Starting {
		t.move(Stopped, nil) // it was not live
	}
	s.countPeers()
	return done, s.writeRoster(ctx)
}

// stopAll asks all to stop, then forces them, and says who is left. The time it takes is bounded by StopTimeout.
func (s *Supervisor) stopAll(base context.Context) error {
	half := s.cfg.StopTimeout / 2
	if s.hurried.Load() {
		half = 0
	}
	waiting := s.askAll(half)
	await(waiting, half)
	for name := range waiting {
		s.find(name).requestStop(0)
	}
	await(waiting, s.cfg.StopTimeout-half)

	ctx, cancel := writing(base)
	defer cancel()
	s.pay(ctx)
	var errs []error
	for _, owed := range s.Unwritten() {
		errs = append(errs, owed)
	}
	if len(waiting) > 0 {
		stuck := &StuckError{}
		for _, t := range s.all() {
			if waiting[t.name()] != nil {
				stuck.Names = append(stuck.Names, t.name())
			}
		}
		errs = append(errs, stuck)
	}
	return joined(errs)
}

// askAll asks all to stop and sees to it that nobody starts any more.
func (s *Supervisor) askAll(grace time.Duration) map[autonomy.AgentName]<-chan struct{} {
	s.roster.Lock()
	defer s.roster.Unlock()
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	waiting := map[autonomy.AgentName]<-chan struct{}{}
	for _, t := range s.all() {
		if gone := t.requestStop(grace); gone != nil {
			waiting[t.name()] = gone
		}
	}
	return waiting
}

// await waits until all are done or the time is over, and leaves those that are not done.
func await(waiting map[autonomy.AgentName]<-chan struct{}, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for name, done := range waiting {
		select {
		case <-done:
			delete(waiting, name)
			continue
		default:
		}
		select {
		case <-done:
			delete(waiting, name)
		case <-timer.C:
			timer.Reset(0) // look at the others without waiting
		}
	}
}
