package team

import (
	"context"
	"fmt"
	"slices"

	"github.com/autonomy-team/autonomy"
)

// Recover reads the roster. Members whose desired state is running come back with their transcripts: at once when Serve
// runs, else when it begins; those for whom the team has no room wait as if they had shut down. The daemon calls it
// after a crash and for up --resume.
func (s *Supervisor) Recover(ctx context.Context) error {
	return s.load(ctx, true)
}

// Enroll reads the roster without starting anybody: who was wanted is as if shut down, and is revived when there is work
// or mail. The daemon calls it at any other start.
func (s *Supervisor) Enroll(ctx context.Context) error { return s.load(ctx, false) }

func (s *Supervisor) load(ctx context.Context, start bool) error {
	s.roster.Lock()
	defer s.roster.Unlock()
	list, err := s.cfg.Roster.Load(ctx)
	if err != nil {
		return fmt.Errorf("read the roster: %w", err)
	}
	for _, e := range list {
		if s.find(e.Name) != nil {
			continue
		}
		phase := Stopped
		switch {
		case e.Desired != Running:
		case !start, e.Name != Lead && s.live() >= s.cfg.MaxTeammates:
			phase = Shutdown
		default:
			phase = Starting
		}
		t := newTeammate(s, e.Spec, e.Desired, phase)
		s.enlist(t)
		if phase == Starting {
			s.emit(Event{Kind: EventSpawned, Actor: e.Name, Reason: "back from the roster"})
			s.start(t)
		}
	}
	s.countPeers()
	return nil
}

// enlist puts a member on the roster in memory, in the place of one of the same name.
func (s *Supervisor) enlist(t *Teammate) {
	name := t.name()
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.members[name]; old != nil {
		s.order[slices.Index(s.order, old)] = t
	} else {
		s.order = append(s.order, t)
	}
	s.members[name] = t
}

// strike takes a member off the roster in memory; before, if there was one, takes its place again.
func (s *Supervisor) strike(t, before *Teammate) {
	name := t.name()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.order, t)
	if before != nil {
		s.order[i], s.members[name] = before, before
		return
	}
	s.order = slices.Delete(s.order, i, i+1)
	delete(s.members, name)
}

// saveRoster writes the roster as it is now.
func (s *Supervisor) saveRoster(ctx context.Context) error {
	s.roster.Lock()
	defer s.roster.Unlock()
	return s.writeRoster(ctx)
}

// writeRoster is saveRoster for who holds s.roster.
func (s *Supervisor) writeRoster(ctx context.Context) error {
	all := s.all()
	list := make([]Enrolled, len(all))
	for i, t := range all {
		st := t.snapshot()
		list[i] = Enrolled{Spec: st.Spec, Desired: st.Desired}
	}
	if err := s.cfg.Roster.Save(ctx, s.cfg.Team, list); err != nil {
		return fmt.Errorf("write the roster: %w", err)
	}
	return nil
}

// live counts the members that run, without the lead.
func (s *Supervisor) live() int {
	n := 0
	for _, t := range s.all() {
		if st := t.snapshot(); st.Phase.Live() && st.Name != Lead {
			n++
		}
	}
	return n
}

// Remove takes a member that does not run off the roster. Its mail and its transcript stay on disk; a later holder of
// the name begins a new transcript.
func (s *Supervisor) Remove(ctx context.Context, name autonomy.AgentName) error {
	s.roster.Lock()
	defer s.roster.Unlock()
	t := s.find(name)
	if t == nil {
		return s.unknown(name)
	}
	if phase := t.phase(); phase.Live() {
		return &LiveError{Name: name, Phase: phase}
	}
	all := s.all()
	i := slices.Index(all, t)
	s.strike(t, nil)
	if err := s.writeRoster(ctx); err != nil {
		s.mu.Lock()
		s.members[name] = t
		s.order = slices.Insert(s.order, min(i, len(s.order)), t)
		s.mu.Unlock()
		return err
	}
	s.countPeers()
	return nil
}

// unknown names the members, one of whom could have been meant.
func (s *Supervisor) unknown(name autonomy.AgentName) *UnknownNameError {
	e := &UnknownNameError{Name: name, Valid: []autonomy.AgentName{}}
	for _, t := range s.all() {
		e.Valid = append(e.Valid, t.name())
	}
	return e
}
