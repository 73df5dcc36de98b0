package board_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// roleVariable makes the test binary play one part of a test with several processes.
const roleVariable = "BOARD_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// fixture is a board in a folder of its own, with a clock that stands still until it is moved.
type fixture struct {
	*board.Dir
	t    *testing.T
	path string

	mu      sync.Mutex
	now     time.Time
	dead    map[autonomy.InstanceID]bool
	notices []board.Notice
}

func newFixture(t *testing.T, change ...func(*board.Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, path: t.TempDir(), now: time.Now(), dead: map[autonomy.InstanceID]bool{}}
	f.reopen(change...)
	return f
}

// reopen puts a new Dir over the same folder, as another process would.
func (f *fixture) reopen(change ...func(*board.Config)) {
	f.t.Helper()
	f.Dir = f.open(change...)
}

func (f *fixture) open(change ...func(*board.Config)) *board.Dir {
	f.t.Helper()
	cfg := board.Config{Path: f.path, Now: f.clock, Alive: f.alive, Report: f.report}
	for _, c := range change {
		c(&cfg)
	}
	d, err := board.Open(cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	return d
}

func (f *fixture) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fixture) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

func (f *fixture) alive(id autonomy.InstanceID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.dead[id]
}

func (f *fixture) kill(id autonomy.InstanceID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead[id] = true
}

func (f *fixture) report(n board.Notice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notices = append(f.notices, n)
}

// told returns the notices of a kind so far.
func (f *fixture) told(kind board.NoticeKind) (list []board.Notice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.notices {
		if n.Kind == kind {
			list = append(list, n)
		}
	}
	return list
}

func (f *fixture) file(id autonomy.TaskID) string { return filepath.Join(f.path, board.FileName(id)) }

// drop writes a task file as a person would: the whole text to a temporary, then a rename.
func (f *fixture) drop(id autonomy.TaskID, text string) {
	f.t.Helper()
	f.write(board.FileName(id), text)
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	temp := filepath.Join(f.path, "~"+name)
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(temp, filepath.Join(f.path, name)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) read(id autonomy.TaskID) string {
	f.t.Helper()
	src, err := os.ReadFile(f.file(id))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(src)
}

// edit replaces a piece of a task file, which must be there.
func (f *fixture) edit(id autonomy.TaskID, old, text string) {
	f.t.Helper()
	src := f.read(id)
	if !strings.Contains(src, old) {
		f.t.Fatalf("no %q in %s", old, src)
	}
	f.drop(id, strings.Replace(src, old, text, 1))
}

func (f *fixture) remove(id autonomy.TaskID) {
	f.t.Helper()
	if err := os.Remove(f.file(id)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) refresh(names ...string) board.Changes {
	f.t.Helper()
	c, err := f.Refresh(f.t.Context(), names...)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func (f *fixture) entry(id autonomy.TaskID) board.Entry {
	f.t.Helper()
	e, err := f.Get(id)
	if err != nil {
		f.t.Fatal(err)
	}
	return e
}

// reason looks at the board and returns why a task is not ready, "ready" if it is.
func (f *fixture) reason(id autonomy.TaskID) string {
	f.t.Helper()
	f.refresh()
	if r := f.entry(id).Readiness; !r.Ready {
		return r.Reason
	}
	return "ready"
}

func (f *fixture) wantReason(id autonomy.TaskID, want string) {
	f.t.Helper()
	if got := f.reason(id); got != want {
		f.t.Errorf("task %d: %q, want %q", id, got, want)
	}
}

func (f *fixture) claim(id autonomy.TaskID, who board.Claimant) board.Task {
	f.t.Helper()
	task, err := f.Claim(f.t.Context(), id, who)
	if err != nil {
		f.t.Fatal(err)
	}
	return task
}

func (f *fixture) finish(t board.Task, end board.End) board.Task {
	f.t.Helper()
	done, err := f.Finish(f.t.Context(), t.Ref(), end)
	if err != nil {
		f.t.Fatal(err)
	}
	return done
}

// member is a claimant with a model, whom everything without role and requires suits.
func member(name string) board.Claimant {
	return board.Claimant{Name: autonomy.AgentName(name), Instance: "one", Model: true}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var background = context.Background()
