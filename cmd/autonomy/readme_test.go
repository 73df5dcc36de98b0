package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadmeBlocksRun runs every shell block of the README in one shell, in order, as a reader would. Only `make test`
// is not run but shown, since this is part of it.
func TestReadmeBlocksRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs the demonstration")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := shellBlocks(string(readme))
	if len(blocks) < 4 {
		t.Fatalf("only %d shell blocks were found", len(blocks))
	}
	script := "set -eu\n" + strings.ReplaceAll(strings.Join(blocks, "\n"), "make test", "make -n test")
	// The demonstration is to read nothing of a person's settings.
	script = strings.Replace(script, "make demo", "AUTONOMY_PROVIDER=nosuch make demo", 1)
	home := t.TempDir()
	t.Cleanup(func() { stopDaemons(home) })
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir = root
	env := slices.DeleteFunc(os.Environ(), func(item string) bool { return strings.HasPrefix(item, "AUTONOMY_") })
	cmd.Env = append(env, "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "TMPDIR="+home,
		"GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"9 tasks completed", "Spawned 'alice' (role: coder)", "[x] #1: Write the greeting @alice", "[x] #2: Shout it @alice",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// shellBlocks are the bodies of the blocks marked sh.
func shellBlocks(text string) []string {
	var blocks []string
	for {
		_, rest, found := strings.Cut(text, "```sh\n")
		if !found {
			return blocks
		}
		body, after, _ := strings.Cut(rest, "```")
		blocks, text = append(blocks, body), after
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatalf("go env %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}
