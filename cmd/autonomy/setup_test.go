package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/autonomy-team/autonomy/agent/provider/script"
)

// program copies the test binary to a name under which it is the program, so that what it starts is the program too.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "autonomy")
	if os.Link(self, path) == nil {
		return path
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// terminal is a program under a pseudo terminal, and a person in front of it.
type terminal struct {
	t    *testing.T
	tty  *os.File
	cmd  *exec.Cmd
	seen chan struct{} // something was shown; holds one token

	mu     sync.Mutex
	screen bytes.Buffer
	at     int // up to here the person has read
}

func openTerminal(t *testing.T, env []string, dir, name string, args ...string) *terminal {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	term := &terminal{t: t, cmd: exec.CommandContext(ctx, name, args...), seen: make(chan struct{}, 1)}
	term.cmd.Env, term.cmd.Dir = env, dir
	var err error
	if term.tty, err = pty.Start(term.cmd); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(term, term.tty) // ends with the program
	}()
	t.Cleanup(func() {
		cancel()
		_ = term.cmd.Wait() // an error when the test has waited already
		_ = term.tty.Close()
		<-ended
	})
	return term
}

// Write takes what the program shows.
func (s *terminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.seen <- struct{}{}:
	default:
	}
	return s.screen.Write(p)
}

func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

// answer waits until a text is shown that was not there at the last answer, and types a line.
func (s *terminal) answer(prompt, line string) {
	s.t.Helper()
	s.wait(prompt)
	if _, err := s.tty.WriteString(line + "\n"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *terminal) wait(text string) {
	s.t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		at := strings.Index(s.screen.String()[s.at:], text)
		if at >= 0 {
			s.at += at + len(text)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		select {
		case <-s.seen:
		case <-deadline.C:
			s.t.Fatalf("%q was not shown:\n%s", text, s.text())
		}
	}
}

func person(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm"}
}

func greenModel(t *testing.T) *script.Server {
	t.Helper()
	server, err := script.NewServer(script.Of(
		script.Do("report_word", `{"word":"ready"}`), script.Text("Done."),
	))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func TestModelSetupOnATerminal(t *testing.T) {
	const key = "sk-typed-and-never-shown-0123"
	server := greenModel(t)
	dir, env := person(t)
	s := openTerminal(t, env, dir, program(t), "model", "setup")
	s.answer("Provider (number or name) [ollama]: ", "10")
	s.answer("Base URL: ", server.URL())
	s.answer("(not shown; empty if the server needs none): ", key)
	s.answer("Model (number or name) [scripted]: ", "1")
	s.wait("Saved custom/scripted in ")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("exit: %v\n%s", err, s.text())
	}
	if shown := s.text(); strings.Contains(shown, key) || !strings.Contains(shown, "works: called, result accepted") {
		t.Errorf("shown:\n%s", shown)
	}
	keys, err := os.ReadFile(filepath.Join(dir, "home/.config/autonomy/keys.env"))
	if err != nil || !strings.Contains(string(keys), "="+key+"\n") {
		t.Errorf("keys.env %q, %v", keys, err)
	}
	for _, r := range server.Requests() {
		if r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("authorized by %q", r.Header.Get("Authorization"))
		}
	}
}

func TestModelSetupAsksBeforeItSavesWhatFails(t *testing.T) {
	dir, env := person(t)
	s := openTerminal(t, env, dir, program(t), "model", "setup", "--provider", "ollama", "--base-url", "http://127.0.0.1:1/v1", "--model", "m")
	s.answer("Save it all the same? (y or n) [n]: ", "")
	s.wait("nothing was saved")
	if err := s.cmd.Wait(); err == nil {
		t.Error("the exit status is 0")
	}
	if _, err := os.Stat(filepath.Join(dir, "home/.config/autonomy")); !os.IsNotExist(err) {
		t.Errorf("something was saved: %v", err)
	}
}

func TestKeysSetHidesWhatIsTyped(t *testing.T) {
	const key = "sk-typed-and-never-shown-4567"
	dir, env := person(t)
	s := openTerminal(t, env, dir, program(t), "keys", "set", "deepseek")
	s.answer("Key for DEEPSEEK_API_KEY (not shown): ", key)
	s.wait("Stored DEEPSEEK_API_KEY")
	if err := s.cmd.Wait(); err != nil || strings.Contains(s.text(), key) {
		t.Errorf("%v\n%s", err, s.text())
	}
}
