package board_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// machine drives a board by random acts of members, people and crashes, and knows what each member is doing. Its rules:
// an attempt begins by a claim and ends by Finish, Stopped or the death of the daemon; no task has two attempts at one
// time, no member has two; an end that was accepted is on disk; people's fields survive everything.
type machine struct {
	*fixture
	working map[autonomy.AgentName]board.Task
	daemon  int
	next    autonomy.TaskID
}

func TestBoardUnderRandomActs(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := &machine{fixture: newFixture(t), working: map[autonomy.AgentName]board.Task{}, next: 1}
		defer os.RemoveAll(m.path)
		r.Repeat(map[string]func(*rapid.T){
			"drop":    m.dropFile,
			"claim":   m.claimNext,
			"finish":  m.finishAttempt,
			"edit":    m.handEdit,
			"verb":    m.verb,
			"stop":    m.stopLost,
			"crash":   m.crash,
			"advance": func(r *rapid.T) { m.advance(time.Duration(rapid.IntRange(0, 120).Draw(r, "s")) * time.Second) },
			"":        m.check,
		})
	})
}

func (m *machine) who(r *rapid.T) board.Claimant {
	who := member(rapid.SampledFrom([]string{"alice", "bob", "carol"}).Draw(r, "member"))
	who.Instance = autonomy.InstanceID(fmt.Sprint("daemon", m.daemon))
	return who
}

func (m *machine) task(r *rapid.T) (autonomy.TaskID, bool) {
	id := autonomy.TaskID(rapid.IntRange(1, 8).Draw(r, "task"))
	_, err := os.Stat(m.file(id))
	return id, err == nil
}

func (m *machine) dropFile(r *rapid.T) {
	if m.next > 8 {
		return
	}
	blocker := rapid.IntRange(0, 8).Draw(r, "blocker")
	blockers := ""
	if blocker > 0 && autonomy.TaskID(blocker) < m.next {
		blockers = fmt.Sprintf(`, "blockedBy": [%d]`, blocker)
	}
	m.drop(m.next, fmt.Sprintf(`{"subject": "s", "note": "keep me"%s}`, blockers))
	m.next++
}

func (m *machine) claimNext(r *rapid.T) {
	who := m.who(r)
	m.refresh()
	task, err := m.ClaimNext(background, who)
	if err != nil {
		var holds *board.HoldsError
		if _, busy := m.working[who.Name]; !errors.Is(err, board.ErrNothing) && !(busy && errors.As(err, &holds)) {
			r.Fatalf("%s: %v", who.Name, err)
		}
		return
	}
	if other, busy := m.working[who.Name]; busy {
		r.Fatalf("%s holds %d and got %d", who.Name, other.ID, task.ID)
	}
	for name, other := range m.working {
		if other.ID == task.ID {
			r.Fatalf("%s got task %d while %s works it", who.Name, task.ID, name)
		}
	}
	for _, b := range task.BlockedBy {
		if e, err := m.Get(b); err != nil || e.Task.Status != board.Completed {
			r.Fatalf("claimed %d before its blocker %d", task.ID, b)
		}
	}
	m.working[who.Name] = task
}

func (m *machine) finishAttempt(r *rapid.T) {
	who := m.who(r)
	task, busy := m.working[who.Name]
	if !busy {
		return
	}
	end := rapid.SampledFrom([]board.End{
		board.Complete{Result: board.Result{Summary: "s"}}, board.Release{}, board.Fail{Code: "x"}, board.Hold{Reason: "r"},
	}).Draw(r, "end")
	done, err := m.Finish(background, task.Ref(), end)
	switch {
	case errors.Is(err, board.ErrNotReady):
		return // a person added a blocker, or reopened one
	case errors.Is(err, board.ErrClaimLost):
		if err := m.Stopped(background, task.Ref()); err != nil {
			r.Fatal(err)
		}
	case err != nil:
		r.Fatal(err)
	default:
		onDisk, err := board.Parse(m.file(task.ID), []byte(m.read(task.ID)))
		if err != nil || onDisk.Status != done.Status || onDisk.Claim != nil {
			r.Fatalf("said %s, on disk %+v %v", done.Status, onDisk, err)
		}
	}
	delete(m.working, who.Name)
}

// handEdit changes the file as an editor would.
func (m *machine) handEdit(r *rapid.T) {
	id, there := m.task(r)
	if !there {
		return
	}
	src := m.read(id)
	task, err := board.Parse(m.file(id), []byte(src))
	if err != nil {
		r.Fatalf("a file of ours: %v", err)
	}
	edit := rapid.SampledFrom([][2]string{
		{`"owner": "` + string(task.Owner) + `"`, `"owner": "bob"`},
		{`"owner": "` + string(task.Owner) + `"`, `"owner": ""`},
		{`"status": "` + string(task.Status) + `"`, `"status": "completed"`},
		{`"status": "` + string(task.Status) + `"`, `"status": "pending"`},
		{`"subject": "s`, `"subject": "ss`},
	}).Draw(r, "edit")
	if len(task.Subject) < 100 {
		m.drop(id, strings.Replace(src, edit[0], edit[1], 1))
	}
}

func (m *machine) verb(r *rapid.T) {
	id, there := m.task(r)
	if !there {
		return
	}
	var err error
	cli := m.open()
	switch rapid.SampledFrom([]string{"release", "retry", "cancel", "assign", "complete"}).Draw(r, "verb") {
	case "release":
		_, err = cli.Release(background, id)
	case "retry":
		_, err = cli.Retry(background, id)
	case "cancel":
		_, err = cli.Cancel(background, id)
	case "assign":
		_, err = cli.Assign(background, id, "carol")
	case "complete":
		_, err = cli.Complete(background, id, board.Result{})
	}
	var state *board.StateError
	if err != nil && !errors.As(err, &state) && !errors.Is(err, board.ErrNotReady) {
		r.Fatal(err)
	}
}

// stopLost lets members whose task was taken stop.
func (m *machine) stopLost(r *rapid.T) {
	m.refresh()
	for name, task := range m.working {
		if m.Lost(task.Ref()) != nil {
			if err := m.Stopped(background, task.Ref()); err != nil {
				r.Fatal(err)
			}
			delete(m.working, name)
		}
	}
}

// crash ends the daemon; the next one reaps.
func (m *machine) crash(r *rapid.T) {
	m.kill(autonomy.InstanceID(fmt.Sprint("daemon", m.daemon)))
	m.daemon++
	m.reopen()
	clear(m.working)
	if _, err := m.Reap(background); err != nil {
		r.Fatal(err)
	}
	for _, e := range m.List() {
		if e.Task.Claim != nil {
			r.Fatalf("a claim of the dead is left: %+v", e.Task)
		}
	}
}

func (m *machine) check(r *rapid.T) {
	for id := autonomy.TaskID(1); id < m.next; id++ {
		src := m.read(id)
		task, err := board.Parse(m.file(id), []byte(src))
		if err != nil || !strings.Contains(src, `"note": "keep me"`) {
			r.Fatalf("%v: %s", err, src)
		}
		if task.InForce() && m.working[task.Owner].ID != id {
			// A hand edit may bring a claim back to life; then its member resumes it.
			if own, ok := m.Own(task.Owner, task.Claim.Instance); ok && own.ID == id {
				m.working[task.Owner] = own
			}
		}
	}
}
