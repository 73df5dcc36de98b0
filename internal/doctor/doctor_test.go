package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

func TestRowsKeepTheirOrderAndOfflineSkipsTheNetwork(t *testing.T) {
	gate := make(chan struct{})
	chains := []Chain{
		{
			{Name: "first", Run: func(context.Context) Finding { <-gate; return ok("1") }},
			{Name: "second", Network: true, Run: func(context.Context) Finding { t.Error("went online"); return ok("") }},
		},
		{{Name: "third", Required: true, Run: func(context.Context) Finding { close(gate); return failure("mend it", "broken") }}},
	}
	var last atomic.Int64
	rows := Run(t.Context(), chains, Options{Offline: true, Progress: func(done, total int) {
		last.Store(int64(done*10 + total))
	}})
	want := []Row{
		{"first", false, OK, "1", ""}, {"second", false, Skipped, "offline", goOnline}, {"third", true, Failure, "broken", "mend it"},
	}
	if len(rows) != 3 || rows[0] != want[0] || rows[1] != want[1] || rows[2] != want[2] {
		t.Errorf("rows %+v", rows)
	}
	if !Failed(rows) || Failed(rows[:2]) {
		t.Error("only a required failure fails the whole")
	}
	if last.Load() != 33 {
		t.Errorf("progress ended at %d", last.Load())
	}
}

func TestACheckThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		begin := time.Now()
		row := Check{Name: "disk", Within: 3 * time.Second, Run: func(context.Context) Finding { <-hang; return ok("") }}.row(t.Context(), false)
		expect(t, row, Failure, "no answer within 3s")
		if took := time.Since(begin); took != 4*time.Second {
			t.Errorf("took %s", took)
		}
		close(hang)
	})
}

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	expect(t, run(t, Writable("board", dir)), OK, dir)
	expect(t, run(t, Writable("board", filepath.Join(dir, "not", "yet"))), OK, "made when needed")
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, run(t, Writable("board", filepath.Join(dir, "file"))), Failure, "not a folder")
	if left, _ := filepath.Glob(filepath.Join(dir, scratch+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if os.Geteuid() == 0 {
		return // root may write anywhere
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	expect(t, run(t, Writable("board", closed)), Failure, "permission denied")
}

func TestLocksExcludeOtherProcesses(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	expect(t, run(t, Locks(t.TempDir(), []string{program, "try-lock"})), OK, "between processes")
	// A process that says that it got the lock, and one that can't be started.
	expect(t, run(t, Locks(t.TempDir(), []string{"true"})), Failure, "two processes hold one lock")
	expect(t, run(t, Locks(t.TempDir(), []string{"/no/such/program"})), Failure, "second process")
}

func TestFileEventsArrive(t *testing.T) {
	dir := t.TempDir()
	expect(t, run(t, Events(dir, time.Second)), OK, "arrive after")
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	expect(t, run(t, Events(filepath.Join(dir, "a\x00b"), time.Second)), Warning, "invalid")
}

func TestProgramsThatAreMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	expect(t, run(t, Git()), Warning, "not found")
	expect(t, run(t, Chromium()), Skipped, "optional")
	expect(t, run(t, Sandbox()), OK, "no sandbox in this version")
}

func TestNearestNames(t *testing.T) {
	models := infos("gpt-5.5", "gpt-5.4-mini", "deepseek-flash", "qwen3:8b", "gpt-5.4")
	if got := strings.Join(nearestNames("gpt5.4", models, 3), " "); got != "gpt-5.4 gpt-5.5 gpt-5.4-mini" {
		t.Errorf("nearest %s", got)
	}
	if got := nearestNames("qwen3", models, 1)[0]; got != "qwen3:8b" {
		t.Errorf("nearest %s", got)
	}
}
