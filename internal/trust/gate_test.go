package trust_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/trust"
)

// hinted asks as the board does when a file event comes between two polls: without a look at the generation.
func hinted(g *trust.Gate, name, text string) string {
	return g.Admit(name, board.Task{}, board.PeopleFields([]byte(text)))
}

func TestRevokedTrustHoldsBetweenPolls(t *testing.T) {
	store, ws := setUp(t)
	agree(t, store, ws)
	gate := store.Gate(t.Context(), ws)
	gate.Generation()
	if reason := hinted(gate, "task_1.json", `{"subject":"x"}`); reason != "" {
		t.Fatalf("trusted: %q", reason)
	}
	if err := store.Revoke(t.Context(), ws); err != nil {
		t.Fatal(err)
	}
	if reason := hinted(gate, "task_1.json", `{"subject":"x"}`); reason != trust.ErrUntrusted.Error() {
		t.Errorf("after the consent was taken back: %q", reason)
	}
}

// A pull writes the files first and the index last, under index.lock: in between a file that comes with git looks like
// one that a person dropped.
func TestGateWaitsWhileGitIsAtWork(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	store, ws := setUp(t)
	runGit(t, ws.Root, "init", "-q")
	agree(t, store, ws)
	gate := store.Gate(t.Context(), ws)
	before := gate.Generation()
	lock := filepath.Join(ws.Root, ".git", "index.lock")
	write(t, lock, "")
	text := `{"subject":"x","steps":["make"]}`
	write(t, filepath.Join(ws.Tasks(), "task_9.json"), text)
	if reason := hinted(gate, "task_9.json", text); !strings.Contains(reason, "git is at work") {
		t.Errorf("while git holds its lock: %q", reason)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if gate.Generation() == before {
		t.Error("the board is not told to ask again")
	}
	if reason := hinted(gate, "task_9.json", text); reason != "" {
		t.Errorf("dropped by hand: %q", reason)
	}
	runGit(t, ws.Root, "add", "-f", ".tasks/task_9.json")
	if reason := hinted(gate, "task_9.json", text); !strings.Contains(reason, "came with git") {
		t.Errorf("tracked now: %q", reason)
	}
}

func TestWhySaysWhatToDo(t *testing.T) {
	store, ws := setUp(t)
	state, err := store.Check(ws)
	if err != nil || !strings.HasPrefix(state.Why, "untrusted: run autonomy trust") {
		t.Errorf("%q, %v", state.Why, err)
	}
}

// A board that is a repository of its own, a submodule for example, comes with git as well.
func TestGateSeesARepositoryThatIsTheBoard(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	store, ws := setUp(t)
	runGit(t, ws.Root, "init", "-q")
	agree(t, store, ws)
	gate := store.Gate(t.Context(), ws)
	text := `{"subject":"x","steps":["make"]}`
	write(t, filepath.Join(ws.Tasks(), "task_9.json"), text)
	if reason := hinted(gate, "task_9.json", text); reason != "" {
		t.Fatalf("dropped by hand: %q", reason)
	}
	runGit(t, ws.Tasks(), "init", "-q")
	runGit(t, ws.Tasks(), "add", "task_9.json")
	if reason := hinted(gate, "task_9.json", text); !strings.Contains(reason, "came with git") {
		t.Errorf("tracked by the inner repository: %q", reason)
	}
	if listing, err := store.Show(t.Context(), ws); err != nil || len(listing.Tasks) != 1 {
		t.Errorf("%+v, %v", listing.Tasks, err)
	}
}
