package team_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/team"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeBoard is a board in memory with the rules that matter to a team: one owner, one task a member, blockers, fencing.
type fakeBoard struct {
	mu      sync.Mutex
	tasks   map[autonomy.TaskID]*board.Task
	running map[autonomy.TaskID]board.Ref // attempts that lost the task and have not stopped
	ready   map[autonomy.TaskID]bool      // told
	lost    []*board.LostError
	claims  int
	bests   int
	looks   int
	stopped []board.Ref
	fail    func(op string) error // nil = never
	clashes []string              // broken invariants
}

func newBoard(tasks ...board.Task) *fakeBoard {
	b := &fakeBoard{
		tasks:   map[autonomy.TaskID]*board.Task{},
		running: map[autonomy.TaskID]board.Ref{},
		ready:   map[autonomy.TaskID]bool{},
	}
	for _, t := range tasks {
		b.put(t)
	}
	return b
}

func (b *fakeBoard) put(t board.Task) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.Status == "" {
		t.Status = board.Pending
	}
	if t.Subject == "" {
		t.Subject = fmt.Sprintf("task %d", t.ID)
	}
	b.tasks[t.ID] = &t
}

func (b *fakeBoard) faulty(op string) error {
	if b.fail == nil {
		return nil
	}
	return b.fail(op)
}

func (b *fakeBoard) readiness(t *board.Task) board.Readiness {
	if t.Status != board.Pending {
		return board.Readiness{Kind: board.KindStatus, Reason: string(t.Status)}
	}
	if t.Held != nil {
		return board.Readiness{Kind: board.KindHeld, Reason: "held"}
	}
	for _, id := range t.BlockedBy {
		if dep := b.tasks[id]; dep == nil || dep.Status != board.Completed {
			return board.Readiness{Kind: board.KindWaiting, Reason: "waiting"}
		}
	}
	if _, busy := b.running[t.ID]; busy {
		return board.Readiness{Kind: board.KindStopping, Reason: "stopping"}
	}
	if t.NotBefore.After(time.Now()) {
		return board.Readiness{Kind: board.KindRetry, Until: t.NotBefore}
	}
	return board.Readiness{Ready: true, Kind: board.KindReady}
}

func (b *fakeBoard) sorted() []*board.Task {
	var out []*board.Task
	for _, t := range b.tasks {
		out = append(out, t)
	}
	slices.SortFunc(out, func(x, y *board.Task) int {
		if x.Priority != y.Priority {
			return int(y.Priority - x.Priority)
		}
		return int(x.ID - y.ID)
	})
	return out
}

func (b *fakeBoard) Refresh(context.Context, ...string) (board.Changes, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks++
	var c board.Changes
	for _, t := range b.sorted() {
		r := b.readiness(t)
		if r.Ready && !b.ready[t.ID] {
			c.Ready = append(c.Ready, t.ID)
		}
		b.ready[t.ID] = r.Ready
		if r.Kind == board.KindRetry && (c.Next.IsZero() || r.Until.Before(c.Next)) {
			c.Next = r.Until
		}
	}
	c.Lost, b.lost = b.lost, nil
	return c, b.faulty("refresh")
}

func (b *fakeBoard) Recheck(ctx context.Context) (board.Changes, error) { return b.Refresh(ctx) }

func (b *fakeBoard) List() []board.Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []board.Entry
	for _, t := range b.sorted() {
		out = append(out, board.Entry{ID: t.ID, Task: *t, Readiness: b.readiness(t)})
	}
	return out
}

func (b *fakeBoard) Get(id autonomy.TaskID) (board.Entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tasks[id]
	if t == nil {
		return board.Entry{}, &board.NotFoundError{ID: id}
	}
	return board.Entry{ID: id, Task: *t, Readiness: b.readiness(t)}, nil
}

func (b *fakeBoard) best(who board.Claimant) *board.Task {
	for _, t := range b.sorted() {
		if ok, _ := board.Eligible(*t, who); ok && b.readiness(t).Ready {
			return t
		}
	}
	return nil
}

func (b *fakeBoard) BestFor(who board.Claimant) (autonomy.TaskID, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.best(who); t != nil {
		return t.ID, true
	}
	return 0, false
}

func (b *fakeBoard) ClaimNext(_ context.Context, who board.Claimant) (board.Task, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bests++
	if err := b.faulty("claim"); err != nil {
		return board.Task{}, err
	}
	t := b.best(who)
	if t == nil {
		return board.Task{}, board.ErrNothing
	}
	return b.claim(t, who)
}

func (b *fakeBoard) Claim(_ context.Context, id autonomy.TaskID, who board.Claimant) (board.Task, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bests++
	t := b.tasks[id]
	if t == nil {
		return board.Task{}, &board.NotFoundError{ID: id}
	}
	if ok, why := board.Eligible(*t, who); !ok {
		return board.Task{}, &board.IneligibleError{ID: id, Name: who.Name, Reason: why}
	}
	if r := b.readiness(t); !r.Ready {
		return board.Task{}, &board.NotReadyError{ID: id, Reason: r.Reason}
	}
	return b.claim(t, who)
}

func (b *fakeBoard) claim(t *board.Task, who board.Claimant) (board.Task, error) {
	if own := b.own(who.Name, who.Instance); own != nil {
		return board.Task{}, &board.HoldsError{Name: who.Name, ID: own.ID}
	}
	b.claims++
	t.Claim = &board.Claim{
		ID: autonomy.ClaimID(fmt.Sprintf("claim-%d", b.claims)), By: who.Name, Instance: who.Instance, At: time.Now(),
		Assigned: t.Owner == who.Name,
	}
	t.Owner, t.Status, t.Attempt = who.Name, board.InProgress, t.Attempt+1
	return *t, nil
}

func (b *fakeBoard) own(name autonomy.AgentName, instance autonomy.InstanceID) *board.Task {
	for _, t := range b.tasks {
		if t.Status == board.InProgress && t.Claim != nil && t.Claim.By == name && t.Claim.Instance == instance {
			return t
		}
	}
	return nil
}

func (b *fakeBoard) Own(name autonomy.AgentName, instance autonomy.InstanceID) (board.Task, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.own(name, instance); t != nil {
		return *t, true
	}
	return board.Task{}, false
}

func (b *fakeBoard) Finish(_ context.Context, ref board.Ref, end board.End) (board.Task, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.faulty("finish"); err != nil {
		return board.Task{}, err
	}
	t := b.tasks[ref.ID]
	if t == nil || t.Claim == nil || t.Claim.ID != ref.Claim {
		return board.Task{}, &board.LostError{Ref: ref, Reason: "claim is another"}
	}
	assigned := t.Claim.Assigned
	t.Claim, t.Status = nil, board.Pending
	if _, ok := end.(board.Complete); !ok && !assigned {
		t.Owner = ""
	}
	switch end := end.(type) {
	case board.Complete:
		result := end.Result
		t.Status, t.Result = board.Completed, &result
	case board.Fail:
		count := 1
		if t.Failure != nil {
			count = t.Failure.Count + 1
		}
		t.Failure = &board.Failure{Code: end.Code, Message: end.Message, Count: count}
		t.NotBefore = time.Now().Add(time.Duration(count) * board.RetryStep)
		if count >= board.FailureLimit {
			t.Status = board.Failed
		}
	case board.Hold:
		t.Held = &board.Held{Reason: end.Reason}
	}
	return *t, nil
}

func (b *fakeBoard) Stopped(_ context.Context, ref board.Ref) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.faulty("stopped"); err != nil {
		return err
	}
	if b.running[ref.ID] != ref {
		b.clashes = append(b.clashes, fmt.Sprintf("Stopped(%v) of an attempt that is not lost", ref))
	}
	delete(b.running, ref.ID)
	b.stopped = append(b.stopped, ref)
	return nil
}

func (b *fakeBoard) Reap(context.Context) ([]board.Reaped, error) { return nil, nil }

// seize is what a person's edit does: the task is another's, or free, and the attempt goes on until it has stopped.
func (b *fakeBoard) seize(id autonomy.TaskID, owner autonomy.AgentName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tasks[id]
	ref := t.Ref()
	b.running[id] = ref
	t.Claim, t.Status, t.Owner = nil, board.Pending, owner
	b.lost = append(b.lost, &board.LostError{Ref: ref, Reason: "owner was changed to " + string(owner)})
}

func (b *fakeBoard) task(id autonomy.TaskID) board.Task {
	b.mu.Lock()
	defer b.mu.Unlock()
	return *b.tasks[id]
}

func (b *fakeBoard) count(field *int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return *field
}

// fakeMail is mailboxes in memory.
type fakeMail struct {
	mu     sync.Mutex
	boxes  map[autonomy.AgentName][]inbox.Message
	read   map[autonomy.AgentName]int64
	checks map[autonomy.AgentName][]time.Time // calls of Waiting
	next   int
	slow   time.Duration // of Waiting
}

func newMail() *fakeMail {
	return &fakeMail{
		boxes: map[autonomy.AgentName][]inbox.Message{}, read: map[autonomy.AgentName]int64{},
		checks: map[autonomy.AgentName][]time.Time{},
	}
}

func (m *fakeMail) Send(_ context.Context, msg inbox.Message) (inbox.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := inbox.CheckName(msg.To); err != nil {
		return msg, err
	}
	m.next++
	msg.ID, msg.Timestamp = autonomy.MessageID(fmt.Sprintf("m%d", m.next)), time.Now()
	m.boxes[msg.To] = append(m.boxes[msg.To], msg)
	return msg, nil
}

func (m *fakeMail) Waiting(name autonomy.AgentName) (bool, error) {
	m.mu.Lock()
	m.checks[name] = append(m.checks[name], time.Now())
	m.mu.Unlock()
	time.Sleep(m.slow)
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(len(m.boxes[name])) > m.read[name], nil
}

func (m *fakeMail) Receive(_ context.Context, name autonomy.AgentName) (inbox.Batch, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	box := m.boxes[name]
	return inbox.Batch{
		Messages: slices.Clone(box[m.read[name]:]), Cursor: inbox.Cursor{Offset: int64(len(box))},
	}, nil
}

func (m *fakeMail) Ack(_ context.Context, name autonomy.AgentName, c inbox.Cursor) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read[name] = max(m.read[name], c.Offset)
	return nil
}

func (m *fakeMail) Unread(_ context.Context, name autonomy.AgentName) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.boxes[name]) - int(m.read[name]), nil
}

func (m *fakeMail) in(name autonomy.AgentName) []inbox.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.boxes[name])
}

func (m *fakeMail) looks(name autonomy.AgentName) []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.checks[name])
}

// fakeWorker does what its function says and keeps the books: nobody may do two jobs at once.
type fakeWorker struct {
	do func(ctx context.Context, job team.Job) agent.Report

	mu      sync.Mutex
	jobs    []team.Job
	busy    map[autonomy.AgentName]int
	clashes []string
}

func (w *fakeWorker) Work(ctx context.Context, job team.Job) agent.Report {
	w.mu.Lock()
	w.jobs = append(w.jobs, job)
	if w.busy == nil {
		w.busy = map[autonomy.AgentName]int{}
	}
	w.busy[job.Member.Name]++
	if w.busy[job.Member.Name] > 1 {
		w.clashes = append(w.clashes, "two jobs at once: "+string(job.Member.Name))
	}
	do := w.do
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.busy[job.Member.Name]--
		w.mu.Unlock()
	}()
	return do(ctx, job)
}

// set replaces what the worker does from the next job on.
func (w *fakeWorker) set(do func(context.Context, team.Job) agent.Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.do = do
}

func (w *fakeWorker) seen() []team.Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.jobs)
}

// memory is transcripts and roster in memory.
type memory struct {
	mu     sync.Mutex
	stored map[autonomy.AgentName][]inbox.Message
	resets []autonomy.AgentName
	roster []team.Enrolled
	full   bool // the disk
}

func (m *memory) Store(_ context.Context, s team.Spec, mail []inbox.Message) ([]inbox.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var fresh []inbox.Message
	for _, msg := range mail {
		if !slices.ContainsFunc(m.stored[s.Name], func(old inbox.Message) bool { return old.ID == msg.ID }) {
			fresh = append(fresh, msg)
		}
	}
	if m.stored == nil {
		m.stored = map[autonomy.AgentName][]inbox.Message{}
	}
	m.stored[s.Name] = append(m.stored[s.Name], fresh...)
	return fresh, nil
}

func (m *memory) Reset(_ context.Context, name autonomy.AgentName) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resets = append(m.resets, name)
	return nil
}

func (m *memory) Load(context.Context) ([]team.Enrolled, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.roster), nil
}

var errFull = errors.New("no space left on device")

func (m *memory) Save(_ context.Context, _ autonomy.TeamName, members []team.Enrolled) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errFull
	}
	m.roster = slices.Clone(members)
	return nil
}

// eventLog keeps all events.
type eventLog struct {
	mu     sync.Mutex
	events []team.Event
}

func (l *eventLog) Emit(ev team.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, ev)
}

func (l *eventLog) of(kind team.EventKind, who autonomy.AgentName) []team.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []team.Event
	for _, ev := range l.events {
		if ev.Kind == kind && (who == "" || ev.Actor == who) {
			out = append(out, ev)
		}
	}
	return out
}

func (b *fakeBoard) task1Ref() board.Ref {
	t := b.task(1)
	return t.Ref()
}
