package daemon

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/atomicfile/faultfs"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/team"
)

func someUnwritten(root string) unwritten {
	u := unwritten{Workspace: root, Instance: "I1", At: time.Now().UTC()}
	full := errors.New("no space left on device")
	for _, end := range []board.End{
		board.Complete{Result: board.Result{Summary: "all done", Verified: true}},
		board.Fail{Code: "step", Message: "exit 3"},
		board.Hold{Reason: "denied"},
		board.Release{Reason: "stopped"},
	} {
		e := &team.UnwrittenError{Member: "alice", Task: 1, Claim: "C1", Run: "R1", End: end, Err: full}
		u.Ends = append(u.Ends, unwrittenOf(e))
	}
	return u
}

func TestUnwrittenEndsAreSavedWhole(t *testing.T) {
	faultfs.Each(t, func(fsys *faultfs.FS) error {
		first, last := filepath.Join(t.TempDir(), "autonomy"), t.TempDir()
		doc := someUnwritten("/w")
		path, err := doc.save(fsys, []string{first, last})
		if err != nil {
			return err
		}
		got, readErr := readUnwritten(path)
		if readErr != nil || len(got.Ends) != 4 || got.Ends[0].Result == nil || got.Ends[0].Result.Summary != "all done" || got.Ends[1].Code != "step" {
			t.Errorf("after %d faults: %+v, %v", fsys.Faults(), got, readErr)
		}
		if info, statErr := os.Stat(path); statErr != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, statErr)
		}
		return nil
	})
}

func TestUnwrittenFilesOfOthersAreNotShown(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	dir := filepath.Join(state, "autonomy")
	mine, other := someUnwritten("/mine"), someUnwritten("/other")
	other.Instance = "I2"
	for _, u := range []unwritten{mine, other} {
		if _, err := u.save(atomicfile.OS(), []string{dir, t.TempDir()}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, unwrittenPrefix+"x.json"), []byte("no JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := Unwritten(config.Workspace{Root: "/mine"}, nil)
	if len(got) != 1 || !strings.HasSuffix(got[0].File, "I1.json") || !strings.Contains(got[0].Reason, "#1 (complete)") {
		t.Errorf("got %+v", got)
	}
}

func TestResultsThatAFullDiskRefusedAreKept(t *testing.T) {
	s := newSite(t)
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if err := syscall.Mount("none", s.ws.Tasks(), "tmpfs", 0, "size=128k,mode=0755"); err != nil {
		t.Skip("this user may mount no small file system to fill: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(s.ws.Tasks(), syscall.MNT_DETACH) })
	p := s.start(testOptions{Spawn: coders("alice"), Poll: 200 * time.Millisecond})
	c := s.dial()
	s.drop(1, map[string]any{"steps": []any{"dd if=/dev/zero of=.tasks/fill bs=1k 2>/dev/null || true"}})
	eventually(t, "alice can't write the end", 30*time.Second, func() bool {
		m, err := c.Team(t.Context())
		return err == nil && strings.Contains(m.Members[0].Reason, "cannot write the end of task 1")
	})
	if err := c.Down(t.Context(), control.Down{}); err != nil {
		t.Fatal(err)
	}
	if code := p.exit(30 * time.Second); code != ExitFailed {
		t.Errorf("exit status %d, want %d", code, ExitFailed)
	}
	paths, _ := filepath.Glob(filepath.Join(state, "autonomy", unwrittenPrefix+"*.json"))
	if len(paths) != 1 {
		t.Fatalf("kept: %v", paths)
	}
	said := p.out.String()
	log, _ := os.ReadFile(s.ws.DaemonLog())
	if !strings.Contains(said, paths[0]) || !strings.Contains(string(log), paths[0]) {
		t.Errorf("%s is not named by\n%s\nor\n%s", paths[0], said, log)
	}
	var u unwritten
	data, _ := os.ReadFile(paths[0])
	if err := json.Unmarshal(data, &u); err != nil || len(u.Ends) != 1 || u.Ends[0].End != "complete" || u.Ends[0].Task != 1 || u.Ends[0].Claim == "" || u.Ends[0].Run == "" {
		t.Errorf("kept %s: %v", data, err)
	}
	if err := os.Remove(filepath.Join(s.ws.Tasks(), "fill")); err != nil {
		t.Fatal(err)
	}
	s.start(testOptions{Poll: 200 * time.Millisecond})
	st, err := s.dial().Status(t.Context())
	if err != nil || len(st.Problems) != 1 || st.Problems[0].File != paths[0] {
		t.Errorf("the next daemon shows %+v, %v", st.Problems, err)
	}
}
