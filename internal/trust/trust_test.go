package trust_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/trust"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// setUp returns an empty store and a workspace with a config and a role.
func setUp(t *testing.T) (*trust.Store, config.Workspace) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "project")
	write(t, filepath.Join(root, ".autonomy", "config.yaml"), "mode: ask\n")
	write(t, filepath.Join(root, ".autonomy", "roles", "coder.md"), "role\n")
	ws, err := config.At(root)
	if err != nil {
		t.Fatal(err)
	}
	store, err := trust.Open(filepath.Join(t.TempDir(), "autonomy", "trust.json"))
	if err != nil {
		t.Fatal(err)
	}
	return store, ws
}

func agree(t *testing.T, store *trust.Store, ws config.Workspace) trust.Listing {
	t.Helper()
	listing, err := store.Show(t.Context(), ws)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Trust(t.Context(), listing); err != nil {
		t.Fatal(err)
	}
	return listing
}

func check(t *testing.T, store *trust.Store, ws config.Workspace) trust.State {
	t.Helper()
	state, err := store.Check(ws)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestNothingActsBeforeConsent(t *testing.T) {
	store, ws := setUp(t)
	if state := check(t, store, ws); state.Trusted || state.Why == "" || state.Acts(".autonomy/config.yaml") {
		t.Errorf("before: %+v", state)
	}
	agree(t, store, ws)
	if state := check(t, store, ws); !state.Trusted || len(state.Changed) > 0 || !state.Acts(".autonomy/config.yaml") {
		t.Errorf("after: %+v", state)
	}
	if err := store.Revoke(t.Context(), ws); err != nil {
		t.Fatal(err)
	}
	if state := check(t, store, ws); state.Trusted {
		t.Errorf("revoked: %+v", state)
	}
}

func TestChangedAndNewFilesAreInert(t *testing.T) {
	store, ws := setUp(t)
	listing, err := store.Show(t.Context(), ws)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(ws.Roles(), "coder.md"), "changed after it was shown\n")
	write(t, filepath.Join(ws.Root, ".claude", "skills", "x", "SKILL.md"), "new\n")
	if err := store.Trust(t.Context(), listing); err != nil {
		t.Fatal(err)
	}
	state := check(t, store, ws)
	want := []string{".autonomy/roles/coder.md", ".claude/skills/x/SKILL.md"}
	if !state.Trusted || !slices.Equal(state.Changed, want) || state.Acts(want[0]) || !state.Acts(".autonomy/config.yaml") {
		t.Errorf("%+v, want changed %v", state, want)
	}
	agree(t, store, ws)
	if state := check(t, store, ws); len(state.Changed) > 0 {
		t.Errorf("accepted: %+v", state)
	}
}

func TestMovedOrReplacedFolderIsAnotherOne(t *testing.T) {
	store, ws := setUp(t)
	agree(t, store, ws)
	away := ws.Root + "-away"
	if err := os.Rename(ws.Root, away); err != nil {
		t.Fatal(err)
	}
	moved, err := config.At(away)
	if err != nil {
		t.Fatal(err)
	}
	if state := check(t, store, moved); state.Trusted {
		t.Error("trust moved with the folder")
	}
	write(t, filepath.Join(ws.Root, ".autonomy", "config.yaml"), "mode: ask\n")
	if state := check(t, store, ws); state.Trusted || !strings.Contains(state.Why, "another folder") {
		t.Errorf("replaced: %+v", state)
	}
}

func TestLinksAndHugeFilesDoNotAct(t *testing.T) {
	store, ws := setUp(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "evil", "SKILL.md"), "x")
	if err := os.Symlink(outside, ws.Skills()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "evil", "SKILL.md"), filepath.Join(ws.Roles(), "evil.md")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(ws.Roles(), "huge.md"), strings.Repeat("x", 4<<20+1))
	listing := agree(t, store, ws)
	if len(listing.Files) != 2 {
		t.Errorf("acting: %+v", listing.Files)
	}
}

func TestStoreOpenToOthersIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust.json")
	write(t, path, `{"version":1}`)
	if err := os.Chmod(path, 0o622); err != nil {
		t.Fatal(err)
	}
	var wide *config.PermissionError
	if _, err := trust.Open(path); !errors.As(err, &wide) {
		t.Errorf("open: %v", err)
	}
	for _, text := range []string{"", "{", `{"version":2}`, `[]`} {
		write(t, path, text)
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := trust.Open(path); err == nil {
			t.Errorf("%q was read as a store", text)
		}
	}
}

func TestDecisionsOfSeveralProcessesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust.json")
	var wg sync.WaitGroup
	for range 8 {
		_, ws := setUp(t)
		wg.Go(func() {
			store, err := trust.Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			listing, err := store.Show(t.Context(), ws)
			if err == nil {
				err = store.Trust(t.Context(), listing)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	store, err := trust.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if roots, err := store.Workspaces(); err != nil || len(roots) != 8 {
		t.Errorf("%d workspaces, %v", len(roots), err)
	}
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func admit(t *testing.T, g *trust.Gate, ws config.Workspace, name string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(ws.Tasks(), name))
	if err != nil {
		t.Fatal(err)
	}
	g.Generation()
	return g.Admit(name, board.Task{}, board.PeopleFields(src))
}

func TestGateOfAPlainFolder(t *testing.T) {
	store, ws := setUp(t)
	write(t, filepath.Join(ws.Tasks(), "task_1.json"), `{"subject":"x"}`)
	gate := store.Gate(t.Context(), ws)
	before := gate.Generation()
	if reason := admit(t, gate, ws, "task_1.json"); reason != "untrusted: run autonomy trust" {
		t.Errorf("reason %q", reason)
	}
	if gate.Generation() != before {
		t.Error("the generation moved without a change")
	}
	agree(t, store, ws)
	if gate.Generation() == before {
		t.Error("the generation did not move with the consent")
	}
	if reason := admit(t, gate, ws, "task_1.json"); reason != "" {
		t.Errorf("reason %q", reason)
	}
}

func TestGateAsksForTasksThatCameWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	store, ws := setUp(t)
	task := filepath.Join(ws.Tasks(), "task_3.json")
	write(t, task, `{"subject":"x","steps":["make"]}`)
	runGit(t, ws.Root, "init", "-q")
	marker := filepath.Join(t.TempDir(), "ran")
	runGit(t, ws.Root, "config", "core.fsmonitor", "touch "+marker)
	runGit(t, ws.Root, "-c", "core.fsmonitor=false", "add", "-f", ".tasks/task_3.json")
	agree(t, store, ws)
	gate := store.Gate(t.Context(), ws)
	if reason := admit(t, gate, ws, "task_3.json"); reason != "" {
		t.Errorf("accepted with the workspace: %q", reason)
	}
	write(t, task, `{"subject":"x","steps":["make"],"status":"in_progress","owner":"alice","attempt":1}`)
	if reason := admit(t, gate, ws, "task_3.json"); reason != "" {
		t.Errorf("our own rewrite: %q", reason)
	}
	write(t, task, `{"subject":"x","steps":["rm -rf ~"]}`)
	write(t, filepath.Join(ws.Tasks(), "task_4.json"), `{"subject":"dropped"}`)
	if reason := admit(t, gate, ws, "task_3.json"); reason != "untrusted: task_3.json came with git; run autonomy trust" {
		t.Errorf("changed steps: %q", reason)
	}
	if reason := admit(t, gate, ws, "task_4.json"); reason != "" {
		t.Errorf("a dropped task: %q", reason)
	}
	listing, err := store.Show(t.Context(), ws)
	if err != nil || len(listing.Tasks) != 1 || listing.Tasks[0].Accepted || listing.Tasks[0].Steps[0] != "rm -rf ~" {
		t.Fatalf("%+v, %v", listing.Tasks, err)
	}
	if !slices.ContainsFunc(listing.Notes, func(n trust.Note) bool { return strings.Contains(n.Text, "core.fsmonitor") }) {
		t.Errorf("notes %+v", listing.Notes)
	}
	if err := store.AcceptTask(t.Context(), ws, "task_3.json", listing.Tasks[0].Hash); err != nil {
		t.Fatal(err)
	}
	if ok, err := store.TaskAccepted(ws, "task_3.json", listing.Tasks[0].Hash); !ok || err != nil {
		t.Errorf("accepted: %v, %v", ok, err)
	}
	if reason := admit(t, gate, ws, "task_3.json"); reason != "" {
		t.Errorf("after acceptance: %q", reason)
	}
	runGit(t, ws.Root, "-c", "core.fsmonitor=false", "add", "-f", ".tasks/task_4.json")
	if reason := admit(t, gate, ws, "task_4.json"); reason == "" {
		t.Error("a task that git tracks now is admitted unasked")
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("git ran the repository's program")
	}
}

func BenchmarkGeneration(b *testing.B) {
	root := b.TempDir()
	ws, err := config.At(root)
	if err != nil {
		b.Fatal(err)
	}
	store, err := trust.Open(filepath.Join(root, "trust.json"))
	if err != nil {
		b.Fatal(err)
	}
	gate := store.Gate(b.Context(), ws)
	for b.Loop() {
		if gate.Generation() == 0 {
			b.Fatal("no generation")
		}
	}
}
