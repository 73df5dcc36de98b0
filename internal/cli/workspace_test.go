package cli

import (
	"bytes"
	"strings"
	"testing"
)

// at runs command lines in a workspace of their own.
type at struct {
	t    *testing.T
	dir  string
	user string
}

func inWorkspace(t *testing.T) at {
	t.Helper()
	a := at{t, t.TempDir(), t.TempDir()}
	a.run(ExitOK, "init")
	return a
}

// run returns what the command printed, and wants its status.
func (a at) run(status int, args ...string) (out, prose string) {
	a.t.Helper()
	var stdout, stderr bytes.Buffer
	code := Main(a.t.Context(), args, Streams{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr, Dir: a.dir,
		Getenv: func(name string) string { return map[string]string{"XDG_CONFIG_HOME": a.user}[name] },
	})
	if code != status {
		a.t.Errorf("%q: status %d, want %d\n%s%s", args, code, status, stdout.String(), stderr.String())
	}
	return stdout.String(), stderr.String()
}

// words are the completions of a command line.
func (a at) words(args ...string) string {
	a.t.Helper()
	out, _ := a.run(ExitOK, append([]string{"__complete"}, args...)...)
	var words []string
	for line := range strings.Lines(out) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); word != "" && word[0] != ':' {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func TestNamesAndIDsAreCompleted(t *testing.T) {
	a := inWorkspace(t)
	for _, subject := range []string{"One", "Two"} {
		a.run(ExitOK, "task", "add", subject)
	}
	for _, test := range []struct {
		want string
		line []string
	}{
		{"1 2", []string{"task", "show", ""}},
		{"2", []string{"wait", "2"}},
		{"lead user all", []string{"send", ""}},
		{"user", []string{"inbox", "list", "u"}},
		{"", []string{"team", "stop", ""}},
		{"", []string{"approve", ""}}, // no daemon: nothing is open, and none is started
		{"", []string{"runs", "show", ""}},
	} {
		if got := a.words(test.line...); got != test.want {
			t.Errorf("%q: %q, want %q", test.line, got, test.want)
		}
	}
}

func TestRefusedSpawnStartsNoDaemon(t *testing.T) {
	a := inWorkspace(t)
	for _, name := range []string{"lead", "user", "all", "supervisor", "Alice", "../x"} {
		if _, prose := a.run(ExitUsage, "team", "spawn", name, "coder"); strings.Contains(prose, "started") {
			t.Errorf("%s: %s", name, prose)
		}
	}
	a.run(ExitUsage, "up", "--spawn", "lead:coder")
	a.run(ExitNoDaemon, "team", "spawn", "alice", "coder", "--no-start")
}

func TestWaitForATaskThatIsRemoved(t *testing.T) {
	a := inWorkspace(t)
	a.run(ExitOK, "task", "add", "One")
	a.run(ExitOK, "task", "cancel", "1")
	a.run(ExitOK, "wait", "1")
	a.run(ExitOK, "task", "archive", "1")
	a.run(ExitOK, "wait", "1")
	if _, prose := a.run(ExitFailed, "task", "show", "1"); !strings.Contains(prose, "in the archive") {
		t.Errorf("%s", prose)
	}
	a.run(ExitFailed, "wait", "7")
}

// A wait that nothing will end must not look like one that something will.
func TestWaitSaysWhenNobodyWorks(t *testing.T) {
	a := inWorkspace(t)
	a.run(ExitOK, "task", "add", "One")
	_, prose := a.run(ExitTimeout, "wait", "--all", "--timeout", "10ms")
	if !strings.Contains(prose, "daemon not running") || !strings.Contains(prose, "#1: One (needs a model)") {
		t.Errorf("%s", prose)
	}
	if _, prose = a.run(ExitTimeout, "wait", "1", "-q", "--timeout", "10ms"); strings.Contains(prose, "daemon") {
		t.Errorf("%s", prose)
	}
}
