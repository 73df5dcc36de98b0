package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/autonomy-team/autonomy/internal/config"
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

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

// realTemp is t.TempDir without links in its path.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWorkspaceWhoseStateLiesElsewhereIsRefused(t *testing.T) {
	for _, name := range []string{".team", ".tasks", ".autonomy"} {
		root := t.TempDir()
		for _, other := range []string{".team", ".tasks", ".autonomy"} {
			var err error
			if other == name {
				err = os.Symlink(t.TempDir(), filepath.Join(root, other))
			} else {
				err = os.Mkdir(filepath.Join(root, other), 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := config.FindWorkspace(root); !errors.Is(err, config.ErrLink) {
			t.Errorf("%s as a link: %v", name, err)
		}
	}
}

func TestFindWorkspace(t *testing.T) {
	root := realTemp(t)
	for _, dir := range []string{
		"a/.tasks", "a/b/c", "a/b/d/.team", "a/.worktrees/task-1/.tasks", "a/.worktrees/task-1/src", "a/.worktrees/task-2",
		"plain/sub", "loose/.worktrees/x/.autonomy", "file",
	} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(root, "plain", ".team"), "a file is no state folder")
	if err := os.Symlink(filepath.Join(root, "a", ".tasks"), filepath.Join(root, "file", ".tasks")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "a", "b"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ start, want string }{
		{"a", "a"},
		{"a/b/c", "a"},
		{"a/b/d", "a/b/d"},
		{"a/.tasks", "a"},
		{"a/.worktrees/task-1", "a"},
		{"a/.worktrees/task-1/src", "a"},
		{"a/.worktrees/task-2", "a"},
		{"loose/.worktrees/x", "loose/.worktrees/x"},
		{"link/c", "a"},
		{"plain/sub", ""},
		{"file", ""},
	}
	for _, test := range tests {
		ws, err := config.FindWorkspace(filepath.Join(root, test.start))
		if test.want == "" {
			if !errors.Is(err, config.ErrNoWorkspace) || !strings.Contains(err.Error(), "run autonomy init here") {
				t.Errorf("%s: %v, %v", test.start, ws, err)
			}
			continue
		}
		if err != nil || ws.Root != filepath.Join(root, test.want) {
			t.Errorf("%s: %v, %v", test.start, ws, err)
		}
	}
	if _, err := config.FindWorkspace(filepath.Join(root, "absent")); err == nil {
		t.Error("a folder that does not exist was accepted")
	}
}

func TestUserDir(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, "/x/autonomy"},
		{map[string]string{"XDG_CONFIG_HOME": "rel", "HOME": "/h"}, "/h/.config/autonomy"},
		{map[string]string{"HOME": "/h"}, "/h/.config/autonomy"},
		{map[string]string{"HOME": "rel"}, ""},
	}
	for _, test := range tests {
		got, err := config.UserDir(env(test.env))
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%v: %q, %v", test.env, got, err)
		}
	}
}

func TestLoadMergesLayers(t *testing.T) {
	user, root := t.TempDir(), realTemp(t)
	write(t, config.UserConfig(user), "provider: ollama\nmodel: m1\nbase_url: http://127.0.0.1:1\nmode: ask\nmax_teammates: 6\nbudget: {run_cost: 2.5}\n")
	ws, err := config.At(root)
	if err != nil {
		t.Fatal(err)
	}
	write(t, ws.Config(), "team: blue\nmode: auto\nmax_teammates: 4\npoll: 1s\nbudget: {run_cost: 9, team_cost: 7, run_tokens: 1000}\n")
	flag := 30 * time.Second
	s, err := config.Load(config.Options{
		UserDir: user, Workspace: &ws, Env: env(map[string]string{"AUTONOMY_MODEL": "m2"}),
		Flags: config.File{IdleTimeout: &flag},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Team != "blue" || s.Provider != "ollama" || s.Model != "m2" || s.BaseURL != "http://127.0.0.1:1" || s.Mode != "ask" ||
		s.MaxTeammates != 4 || s.Poll != time.Second || s.IdleTimeout != flag || s.Judge != "auto" || !s.Revive {
		t.Errorf("%+v", s)
	}
	if b := s.Budget; b.RunCost != 2.5 || b.TeamCost != 7 || b.RunTokens != 1000 || b.MemberTokens != 20_000_000 {
		t.Errorf("%+v", b)
	}
	for field, want := range map[string]config.Source{
		"team": config.FromWorkspace, "model": config.FromEnvironment, "mode": config.FromUser, "judge": config.FromDefault,
		"idle_timeout": config.FromFlag, "budget.run_cost": config.FromUser, "budget.team_cost": config.FromWorkspace,
	} {
		if got := s.Source(field); got != want {
			t.Errorf("%s comes from %s, want %s", field, got, want)
		}
	}
	if len(s.Warnings) != 2 {
		t.Errorf("warnings %q", s.Warnings)
	}
}

func TestAnotherProviderDropsModelAndURL(t *testing.T) {
	user := t.TempDir()
	write(t, config.UserConfig(user), "provider: custom\nmodel: m1\nbase_url: http://10.0.0.1\n")
	s, err := config.Load(config.Options{UserDir: user, Env: env(map[string]string{"AUTONOMY_PROVIDER": "deepseek"})})
	if err != nil || s.Provider != "deepseek" || s.Model != "" || s.BaseURL != "" || s.Source("model") != config.FromDefault {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct{ user, workspace, want string }{
		{"mode: full\n", "", "mode full is given by"},
		{"", "mode: full\n", "mode full is given by"},
		{"", "base_url: http://evil\n", "base_url is not for a workspace"},
		{"", "api_key: x\n", `config.yaml:1: unknown field "api_key"`},
		{"sandbox: off\n", "", `unknown field "sandbox"`},
		{"mode: yolo\n", "", "mode must be"},
		{"judge: perhaps\n", "", "judge must be"},
		{"poll: 0s\n", "", "poll must be"},
		{"idle_timeout: -1s\n", "", "idle_timeout must be"},
		{"max_teammates: 0\n", "", "max_teammates must be"},
		{"team: a b\n", "", "team must be"},
		{"budget: {run_tokens: 0}\n", "", "budget.run_tokens must be"},
		{"budget: {team_cost: .nan}\n", "", "budget.team_cost must be"},
		{"budget: {run_time: -1s}\n", "", "budget.run_time must be"},
		{"poll: 5\n", "", "config.yaml:1:"},
	}
	for _, test := range tests {
		user := t.TempDir()
		write(t, config.UserConfig(user), test.user)
		ws, err := config.At(realTemp(t))
		if err != nil {
			t.Fatal(err)
		}
		write(t, ws.Config(), test.workspace)
		if _, err := config.Load(config.Options{UserDir: user, Workspace: &ws}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q %q: %v, want %q", test.user, test.workspace, err, test.want)
		}
	}
}

func TestInitCanBeRunAgain(t *testing.T) {
	root := realTemp(t)
	write(t, filepath.Join(root, ".gitignore"), "bin/\r\n.tasks/")
	examples := fstest.MapFS{"task_1.json": {Data: []byte(`{"subject":"one"}`)}}
	ws, made, err := config.Init(root, examples)
	if err != nil || !made.Fresh || !slices.Contains(made.Created, ".tasks/task_1.json") {
		t.Fatalf("%+v, %v", made, err)
	}
	got, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if want := "bin/\r\n.tasks/\r\n.team/\r\n.autonomy/runs/\r\n.worktrees/\r\n"; err != nil || string(got) != want {
		t.Errorf(".gitignore %q, %v", got, err)
	}
	if _, err := config.Load(config.Options{Workspace: &ws}); err != nil {
		t.Errorf("the file that init wrote: %v", err)
	}
	write(t, filepath.Join(ws.Tasks(), "task_1.json"), "edited")
	write(t, ws.Config(), "team: mine\n")
	_, made, err = config.Init(root, examples)
	if err != nil || made.Fresh || len(made.Created)+len(made.Changed) > 0 {
		t.Errorf("again: %+v, %v", made, err)
	}
	for path, want := range map[string]string{filepath.Join(ws.Tasks(), "task_1.json"): "edited", ws.Config(): "team: mine\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	if info, err := os.Stat(ws.Team()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf(".team: %v, %v", info.Mode(), err)
	}
}

func TestInitRefusesLinks(t *testing.T) {
	root, outside := realTemp(t), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, ".team")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.Init(root, nil); err == nil {
		t.Error("init through a link")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("written outside: %v, %v", entries, err)
	}
}

// TestTemplateShowsTheDefaults reads the template with its comment signs removed.
func TestTemplateShowsTheDefaults(t *testing.T) {
	ws, _, err := config.Init(realTemp(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(ws.Config())
	if err != nil {
		t.Fatal(err)
	}
	var active strings.Builder
	for line := range strings.Lines(string(src)) {
		if setting, ok := strings.CutPrefix(line, "# "); ok && strings.Contains(setting, ":") && strings.ToLower(setting[:1]) == setting[:1] {
			active.WriteString(setting)
		}
	}
	write(t, ws.Config(), active.String())
	s, err := config.Load(config.Options{Workspace: &ws})
	if err != nil || len(s.Warnings) > 0 {
		t.Fatalf("%v, %q\n%s", err, s.Warnings, active.String())
	}
	plain, err := config.Load(config.Options{})
	if err != nil || s.Poll != plain.Poll || s.IdleTimeout != plain.IdleTimeout || s.MaxTeammates != plain.MaxTeammates ||
		s.Mode != plain.Mode || s.Budget.RunTokens != plain.Budget.RunTokens || s.Budget.TeamTokens != plain.Budget.TeamTokens {
		t.Errorf("template %+v\ndefaults %+v, %v", s, plain, err)
	}
}
