package inbox_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// play starts this test binary in a role. Its standard output is returned.
func play(t *testing.T, role, dir, name string) (cmd *exec.Cmd, in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleKey+"="+role, dirKey+"="+dir, nameKey+"="+name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, out
}

// TestR02_NothingIsLost and R03: 4 processes with 5 senders of 100 messages each, against a reader that is killed again
// and again. Every acknowledged message is in its transcript, each once.
func TestR02_R03_NothingIsLostAndNothingRepeated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "inbox")
	transcript := filepath.Join(t.TempDir(), "transcript")
	if err := os.WriteFile(transcript, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	var writers sync.WaitGroup
	done := make(chan struct{})
	for _, name := range []string{"a", "b", "c", "d"} {
		cmd, in, out := play(t, "writer", dir, name)
		writers.Go(func() {
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				mu.Lock()
				acknowledged[lines.Text()] = true
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("writer %s: %v", name, err)
			}
		})
		if _, err := io.WriteString(in, "go\n"); err != nil {
			t.Fatal(err)
		}
	}
	go func() { writers.Wait(); close(done) }()

	const all = 2000
	taken, kills := 0, 0
	for ; taken < all; kills++ {
		// Each life of the reader is killed after another number of messages.
		cmd, _, out := play(t, "reader", dir, transcript)
		lines := bufio.NewScanner(out)
		for n := min(1+kills*37%400, all-taken); n > 0 && lines.Scan(); n-- {
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // "killed"
		taken = count(t, transcript)
	}
	<-done
	seen := map[string]int{}
	text, err := os.ReadFile(transcript)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range strings.Fields(string(text)) {
		seen[id]++
	}
	if len(acknowledged) != all {
		t.Errorf("%d messages acknowledged, want %d", len(acknowledged), all)
	}
	for id := range acknowledged {
		if seen[id] != 1 {
			t.Errorf("message %s taken %d times", id, seen[id])
		}
	}
	t.Logf("reader killed %d times", kills)
}

func count(t *testing.T, transcript string) int {
	t.Helper()
	text, err := os.ReadFile(transcript)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n")) - 1
}
