package search

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__sandbox" {
		syscall.Exit(sandbox.Main(context.Background())) // os.Exit waits a second under the race detector
	}
	goleak.VerifyTestMain(m)
}

// library is a workspace of files with the tools over it.
func library(t *testing.T, files map[string]string) (dir string, call func(name, args string) string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	set, err := Open(Config{Workspace: dir, Sandbox: sandbox.Config{Self: self}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	registry, err := tool.New(set.All()...)
	if err != nil {
		t.Fatal(err)
	}
	return dir, func(name, args string) string {
		t.Helper()
		if err := registry.Validate(name, json.RawMessage(args)); err != nil {
			t.Fatalf("%s %s: %v", name, args, err)
		}
		x, _ := registry.Get(name)
		if got := x.(tool.Assessor).Assess(json.RawMessage(args), tool.Env{Workspace: dir, Dir: dir}); got.Risk == action.High {
			t.Errorf("%s %s: %+v", name, args, got)
		}
		r, err := x.Call(t.Context(), tool.Call{Arguments: json.RawMessage(args), Env: tool.Env{Workspace: dir, Dir: dir}})
		if err != nil {
			t.Fatalf("%s %s: %v", name, args, err)
		}
		return r.Content
	}
}

var shelf = map[string]string{
	"a.go":          "package a\n\n// Find finds.\nfunc Find() int { return needle }\n\nconst needle = 1\n",
	"sub/b.py":      "class Needle:\n    def Find(self):\n        return 'x.y'\n",
	"sub/c.txt":     "one\ntwo needle\nthree\nfour\nNEEDLE five\n",
	"ignored.txt":   "needle\n",
	".env":          "SECRET=needle\n",
	".tasks/t.json": "needle",
	"bin":           "needle\x00",
	"long.txt":      strings.Repeat("x", 1000) + "xyx\n",
}

func TestSearchText(t *testing.T) {
	_, call := library(t, shelf)
	for _, c := range []struct{ args, want string }{
		{`{"pattern":"needle","path":"sub"}`, "sub/c.txt:2: two needle\n[1 matching lines in 1 of 2 files]"},
		{`{"pattern":"^.*NEEDLE","glob":"*.txt"}`, "sub/c.txt:5: NEEDLE five\n[1 matching lines in 1 of 3 files]"},
		{`{"pattern":"needle","ignore_case":true,"path":"sub/c.txt","context":1}`, "sub/c.txt-1- one\nsub/c.txt:2: two needle\nsub/c.txt-3- three\nsub/c.txt-4- four\nsub/c.txt:5: NEEDLE five\nsub/c.txt-6- \n[2 matching lines in 1 of 1 files]"},
		{`{"pattern":"x.y","literal":true,"glob":"sub/**"}`, "sub/b.py:3:         return 'x.y'\n[1 matching lines in 1 of 2 files]"},
		{`{"pattern":"needle","glob":"*.go","limit":1}`, "a.go:4: func Find() int { return needle }\n[the first 1 matching lines; narrow the search for others]"},
		{`{"pattern":"xyx"}`, "long.txt:1: " + strings.Repeat("x", 300) + "…\n[1 matching lines in 1 of 6 files]"},
		{`{"pattern":"nowhere"}`, "[0 matching lines in 0 of 6 files]"},
		{`{"pattern":"("}`, "error: pattern: error parsing regexp: missing closing ): `(?m)(`; set literal to search for the text as it is"},
		{`{"pattern":"x","path":"none"}`, "error: none: no such file or folder; list_dir shows what is there"},
		{`{"pattern":"x","path":".."}`, "error: ..: outside the workspace; file tools reach only what lies in it"},
		{`{"pattern":"needle","path":".env"}`, "error: .env: may hold a secret and is not searched; read_file asks for it"},
	} {
		if got := call("search_text", c.args); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.args, got, c.want)
		}
	}
}

func TestFindFilesAndSymbols(t *testing.T) {
	_, call := library(t, shelf)
	for _, c := range []struct{ name, args, want string }{
		{"find_files", `{"pattern":"*.txt"}`, "ignored.txt\nlong.txt\nsub/c.txt"},
		{"find_files", `{"pattern":"sub/*"}`, "sub/b.py\nsub/c.txt"},
		{"find_files", `{"pattern":"*","limit":2}`, "a.go\nbin\n[4 more]"},
		{"find_files", `{"pattern":"*.rs"}`, "[no file matches]"},
		{"find_symbol", `{"name":"Find"}`, "a.go:4: func Find() int\nsub/b.py:2: def Find(self)"},
		{"find_symbol", `{"name":"needle"}`, "a.go:6: const needle"},
		{"find_symbol", `{"name":"Fin"}`, "[not declared here; search_text finds uses]"},
	} {
		if got := call(c.name, c.args); got != c.want {
			t.Errorf("%s %s:\n got %q\nwant %q", c.name, c.args, got, c.want)
		}
	}
}

// Git's own rules, also the odd ones, and nothing of the repository's configuration may run.
func TestIgnoreRulesAreGits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	files := map[string]string{
		".gitignore": "*.log\n!keep.log\n/only-here.txt\nbuild/\n", "a.log": "needle", "keep.log": "needle", "build/x": "needle",
		"only-here.txt": "needle", "sub/only-here.txt": "needle", ".env": "needle", "tracked.log": "needle",
	}
	dir, call := library(t, files)
	ran := filepath.Join(dir, "ran")
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-f", "tracked.log"}, {"config", "core.fsmonitor", "touch " + ran}, {"config", "core.pager", "touch " + ran},
	} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if got, want := call("find_files", `{"pattern":"*"}`), ".gitignore\nkeep.log\nsub/only-here.txt\ntracked.log"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the repository's configuration ran a program")
	}
}
