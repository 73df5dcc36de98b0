package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLogRotatesBySizeAndKeepsThree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.log")
	r, err := openRotating(path, 100, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		line := strings.Repeat(string(rune('a'+i)), 39) + "\n"
		if n, err := r.Write([]byte(line)); n != 40 || err != nil {
			t.Fatalf("write %d: %d, %v", i, n, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"": "kl", ".1": "ij", ".2": "gh"} {
		data, err := os.ReadFile(path + name)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 100 || data[0] != want[0] || data[40] != want[1] {
			t.Errorf("daemon.log%s = %.90q, want the lines %s", name, data, want)
		}
	}
	if _, err := os.Stat(path + ".3"); err == nil {
		t.Error("a fourth file is kept")
	}
}

func TestLogOfAnEarlierDaemonGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.log")
	if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := openRotating(path, 100, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write([]byte("new\n")); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if data, _ := os.ReadFile(path); string(data) != "old\nnew\n" {
		t.Errorf("log = %q", data)
	}
}

func TestLogIsNeverALink(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "victim")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "daemon.log")); err != nil {
		t.Fatal(err)
	}
	if r, err := openRotating(filepath.Join(dir, "daemon.log"), 100, 3); err == nil {
		r.Close()
		t.Error("a link was opened as the log")
	}
}

func TestSameErrorIsFoldedWithItsCount(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	log := newLogger(&out, func() time.Time { return now })
	full := errors.New("disk full")
	for range 5 {
		log.fault("board", "write", full)
	}
	log.fault("board", "read", full)
	now = now.Add(foldWindow)
	log.fault("board", "write", full)

	var lines []map[string]any
	for line := range strings.Lines(out.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, entry)
	}
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3:\n%s", len(lines), out.String())
	}
	if lines[2]["repeated"] != 4.0 || lines[0]["repeated"] != nil {
		t.Errorf("repeated = %v, want 4 on the last line alone", lines[2]["repeated"])
	}
	if _, err := time.Parse(time.RFC3339Nano, lines[0]["time"].(string)); err != nil {
		t.Errorf("time: %v", err)
	}
}

// Until the keys are known the log hides what looks like one, then those too.
func TestLogHoldsNoSecret(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(&out, time.Now)
	log.fault("tool", "bash", errors.New("panic: ghp_canarycanarycanarycanary0002"))
	log.hide(func(record []byte) []byte { return bytes.ReplaceAll(record, []byte("feather"), []byte("***")) })
	log.fault("tool", "go", errors.New("panic: feather"))
	if said := out.String(); strings.Contains(said, "canary") || strings.Contains(said, "feather") || strings.Count(said, "panic: ") != 2 {
		t.Error(said)
	}
}
