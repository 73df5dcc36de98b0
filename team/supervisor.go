package team

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// Supervisor owns the members and their goroutines. Its methods may be called from any goroutine; Serve must run for
// members to be live.
type Supervisor struct {
	cfg      Config
	accounts accounts
	peers    atomic.Pointer[[]board.Claimant] // members with a model who work or may come back
	kick     chan struct{}                    // something is pending; one is remembered

	hurried atomic.Bool // the end of Serve forces members at once

	peering sync.Mutex // serialises counting peers
	roster  sync.Mutex // serialises changes of the roster and their writing; taken before mu

	mu      sync.Mutex
	base    context.Context // of the members' lives; nil = Serve does not run
	members map[autonomy.AgentName]*Teammate
	order   []*Teammate // of the roster
	idle    []*Teammate // longest idle first
	pending pending
	orphans map[board.Ref]orphan
	debts   []debt
	trouble map[string]string // by what it keeps the supervisor from doing: the last error told
	closing bool              // nobody is started any more
}

// orphan is a lost claim whose holder was not known yet when the loss was told.
type orphan struct {
	reason string
	since  time.Time
}

// New validates the configuration. Nothing is read or started before Recover and Serve.
func New(cfg Config) (*Supervisor, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Supervisor{
		cfg:     cfg,
		kick:    make(chan struct{}, 1),
		members: map[autonomy.AgentName]*Teammate{}, trouble: map[string]string{},
		orphans: map[board.Ref]orphan{},
	}
	s.peers.Store(&[]board.Claimant{})
	return s, nil
}

// Hurry makes the coming end of Serve force its members at once instead of letting them reach a safe point first.
func (s *Supervisor) Hurry() { s.hurried.Store(true) }

func (s *Supervisor) emit(ev Event) {
	ev.Time = time.Now()
	s.cfg.Events.Emit(ev)
}

// find returns a member by name, nil if there is none.
func (s *Supervisor) find(name autonomy.AgentName) *Teammate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.members[name]
}

// all returns the members in the order of the roster.
func (s *Supervisor) all() []*Teammate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order)
}

// Member returns the status of one member; ok is false if there is none of that name.
func (s *Supervisor) Member(name autonomy.AgentName) (st Status, ok bool) {
	t := s.find(name)
	if t == nil {
		return Status{}, false
	}
	return s.withUnread(t.snapshot()), true
}

// Members returns the status of all members in the order in which they joined.
func (s *Supervisor) Members() []Status {
	all := s.all()
	out := make([]Status, len(all))
	for i, t := range all {
		out[i] = s.withUnread(t.snapshot())
	}
	return out
}

// withUnread adds the number of unread messages, if it can be told.
func (s *Supervisor) withUnread(st Status) Status {
	s.mu.Lock()
	base := s.base
	s.mu.Unlock()
	if base == nil {
		return st
	}
	if n, err := s.cfg.Mail.Unread(base, st.Name); err == nil {
		st.Unread = n
	}
	return st
}

// known reports whether mail to name arrives where someone may read it.
func (s *Supervisor) known(name autonomy.AgentName) bool {
	return name == Lead || name == User || s.find(name) != nil
}

// claimant describes a member to the board.
func (s *Supervisor) claimant(t *Teammate) board.Claimant {
	spec := t.spec()
	return board.Claimant{
		Name: spec.Name, Role: spec.Role, Tools: t.tools, Model: spec.HasModel(),
		Instance: s.cfg.Instance, Peers: *s.peers.Load(),
	}
}

// countPeers finds anew who has a model and works or may come back. A member without a model leaves tasks to them.
func (s *Supervisor) countPeers() {
	s.peering.Lock()
	defer s.peering.Unlock()
	peers := []board.Claimant{}
	for _, t := range s.all() {
		st := t.snapshot()
		if st.Name == Lead || !st.HasModel() || st.Endless || !(st.Phase.Live() || s.revivable(st)) {
			continue
		}
		peers = append(peers, board.Claimant{Name: st.Name, Role: st.Role, Tools: t.tools, Model: true})
	}
	s.peers.Store(&peers)
}

// revivable reports whether the supervisor may bring a member back by itself.
func (s *Supervisor) revivable(st Status) bool {
	return st.Phase == Shutdown && st.Desired == Running && !s.cfg.NoRevive && st.Name != Lead
}

// moved is called by a member, under no lock, after it changed its phase.
func (s *Supervisor) moved(t *Teammate, from, to Phase) {
	if from == Idle || to == Idle {
		s.listIdle(t, to == Idle && t.name() != Lead)
	}
	if from == Idle {
		s.offerAgain(t.takeOffers(), t.snapshot().Task)
	}
	if to == Backoff {
		s.look() // it may be for good
	}
	if t.spec().HasModel() && (from == Backoff || to == Backoff || from.Live() != to.Live()) {
		s.countPeers()
	}
}

// listIdle keeps the list of those who wait for work.
func (s *Supervisor) listIdle(t *Teammate, idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.idle, t)
	switch {
	case idle && i < 0:
		s.idle = append(s.idle, t)
	case !idle && i >= 0:
		s.idle = slices.Delete(s.idle, i, i+1)
	}
}

// offerAgain passes on the tasks for which a member was woken, but for the one it took.
func (s *Supervisor) offerAgain(ids []autonomy.TaskID, taken autonomy.TaskID) {
	ids = slices.DeleteFunc(ids, func(id autonomy.TaskID) bool { return id == taken })
	if len(ids) > 0 {
		s.suggest(func(p *pending) { p.ready = append(p.ready, ids...) })
	}
}

// orphan returns a loss that was told before its holder was known.
func (s *Supervisor) orphan(ref board.Ref) (reason string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.orphans[ref]
	delete(s.orphans, ref)
	return o.reason, ok
}
