package daemon

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/control"
)

// Without its lock at its place the daemon is not the only one any more: it ends, with all that it runs, before the next
// one takes its members for dead.
func TestRemovedLockEndsTheDaemon(t *testing.T) {
	for name, remove := range map[string]func(s *site) error{
		"lock file":       func(s *site) error { return os.Remove(s.ws.DaemonLock()) },
		"folder":          func(s *site) error { return os.RemoveAll(s.ws.Team()) },
		"lock file saved": func(s *site) error { return saveAgain(s.ws.DaemonLock()) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			mark := fmt.Sprintf("62.%09d", rand.IntN(1e9))
			s.drop(1, map[string]any{"steps": []any{"sleep " + mark}})
			p := s.start(testOptions{Spawn: coders("alice")})
			eventually(t, "the step runs", 30*time.Second, func() bool { return len(running(t, "sleep\x00"+mark)) > 0 })
			if err := remove(s); err != nil {
				t.Fatal(err)
			}
			if code := p.exit(30 * time.Second); code != ExitFailed {
				t.Errorf("exit status %d, want %d", code, ExitFailed)
			}
			if said := p.out.String(); !strings.Contains(said, "daemon.lock was removed or replaced") {
				t.Errorf("said %q", said)
			}
			if left := running(t, "sleep\x00"+mark); len(left) > 0 {
				t.Errorf("processes %v outlived the daemon", left)
			}
			if got := s.read(1); got.Status != "pending" || got.Owner != "" {
				t.Errorf("task = %+v, want it released", got)
			}
		})
	}
}

// saveAgain replaces a file by a copy, as an editor does.
func saveAgain(path string) error {
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path+"~", data, 0o600)
	}
	if err == nil {
		err = os.Rename(path+"~", path)
	}
	return err
}

func TestRemovedSocketComesBack(t *testing.T) {
	s := newSite(t)
	p := s.start(testOptions{})
	s.dial()
	for range 2 {
		if err := os.Remove(s.ws.Socket()); err != nil {
			t.Fatal(err)
		}
		s.dial()
	}
	if err := s.dial().Down(t.Context(), control.Down{}); err != nil {
		t.Fatal(err)
	}
	if code := p.exit(30 * time.Second); code != ExitOK {
		t.Errorf("exit status %d, want 0", code)
	}
	if _, err := os.Lstat(s.ws.Socket()); err == nil {
		t.Error("the socket outlived the daemon")
	}
}

func TestRemovedLogsAreBegunAnew(t *testing.T) {
	s := newSite(t)
	s.start(testOptions{})
	c := s.dial()
	for _, path := range []string{s.ws.Events(), s.ws.DaemonLog()} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for path, says := range map[string]string{s.ws.Events(): `"type":"error"`, s.ws.DaemonLog(): "was removed or replaced"} {
		eventually(t, path+" is there again and says why", 30*time.Second, func() bool {
			data, err := os.ReadFile(path)
			return err == nil && strings.Contains(string(data), says)
		})
	}
	st, err := c.Status(t.Context())
	if err != nil || !slices.ContainsFunc(st.Problems, func(p control.Problem) bool { return strings.Contains(p.Reason, "team log was removed") }) {
		t.Errorf("status %+v, %v", st.Problems, err)
	}
}

func TestRemovedRunLogEndsTheRun(t *testing.T) {
	s := newSite(t)
	s.start(testOptions{Spawn: coders("alice"), Poll: 200 * time.Millisecond})
	c := s.dial()
	s.drop(1, map[string]any{"steps": []any{"rm .autonomy/runs/*.jsonl", "touch ran"}})
	eventually(t, "alice rests and says why", 30*time.Second, func() bool {
		team, err := c.Team(t.Context())
		return err == nil && team.Members[0].State == "backoff" && strings.Contains(team.Members[0].Reason, "removed or replaced")
	})
	if got := s.read(1); got.Status != "pending" || got.Failure != nil && got.Failure.Count > 0 {
		t.Errorf("task = %+v, want it released uncounted", got)
	}
	if _, err := os.Stat(filepath.Join(s.ws.Root, "ran")); err == nil {
		t.Error("the run went on without its log")
	}
}

// A member that waits for an answer is at a safe point: going down then is no failure of the task.
func TestDownWhileAMemberWaitsForAnAnswer(t *testing.T) {
	s := newSite(t)
	s.drop(1, map[string]any{"steps": []any{"touch x"}, "createdBy": "bob"})
	p := s.start(testOptions{Spawn: coders("alice")})
	c := s.dial()
	eventually(t, "the question is listed", 30*time.Second, func() bool {
		open, err := c.Approvals(t.Context())
		return err == nil && len(open) == 1
	})
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.exit(30 * time.Second); code != ExitOK {
		t.Errorf("exit status %d, want 0", code)
	}
	if got := s.read(1); got.Status != "pending" || got.Owner != "" || got.Failure != nil || got.Held != nil {
		t.Errorf("task = %+v, want it released, uncounted", got)
	}
}
