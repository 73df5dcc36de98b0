package file

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/redact"
)

// bench is a workspace with the tools over it.
type bench struct {
	t     *testing.T
	dir   string
	tools map[string]tool.Tool
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	if _, err := tool.New(set.All()...); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, tools: map[string]tool.Tool{}}
	for _, x := range set.All() {
		b.tools[x.Spec().Name] = x
	}
	return b
}

func (b *bench) env() tool.Env { return tool.Env{Workspace: b.dir, Dir: b.dir} }

// do calls a tool as the gateway does and checks that its verification agrees with its result.
func (b *bench) do(name string, args map[string]any) (string, bool) {
	b.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	x := b.tools[name]
	if err := tool.Validate(x.Spec().Schema, raw); err != nil {
		b.t.Fatalf("%s %s: %v", name, raw, err)
	}
	call := tool.Call{Arguments: raw, Env: b.env()}
	r, err := x.Call(b.t.Context(), call)
	if err != nil {
		b.t.Fatalf("%s %s: %v", name, raw, err)
	}
	if v, ok := x.(tool.Verifier); ok {
		if verified, found := v.Verify(b.t.Context(), call, r); verified == r.IsError {
			b.t.Errorf("%s %s: error %v (%s), but verified %v (%s)", name, raw, r.IsError, r.Content, verified, found)
		}
	}
	return r.Content, !r.IsError
}

func (b *bench) assess(name string, args map[string]any) tool.Assessment {
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.tools[name].(tool.Assessor).Assess(raw, b.env())
}

func (b *bench) content(name string) string {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(data)
}

func (b *bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
		b.t.Fatal(err)
	}
}

func TestReadFile(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "1\n2\n3\n4", "empty": "", "bin": "a\x00b", "wide": strings.Repeat("ä", 40_000) + "\nend\n"})
	for _, c := range []struct {
		args map[string]any
		ok   bool
		says string
	}{
		{map[string]any{"path": "a.txt"}, true, "1\n2\n3\n4\n[lines 1-4 of 4; revision " + revision([]byte("1\n2\n3\n4")) + "]"},
		{map[string]any{"path": "a.txt", "offset": 2, "limit": 2}, true, "2\n3\n[lines 2-3 of 4; revision "},
		{map[string]any{"path": "a.txt", "limit": 1}, true, "go on with offset 2]"},
		{map[string]any{"path": filepath.Join(b.dir, "a.txt")}, true, "1\n2"},
		{map[string]any{"path": "a.txt", "offset": 9}, false, "has 4 lines"},
		{map[string]any{"path": "empty"}, true, "[empty file; revision "},
		{map[string]any{"path": "bin"}, false, "binary (3 bytes); bash can"},
		{map[string]any{"path": "wide"}, true, "of this line left out]"},
		{map[string]any{"path": "none"}, false, "no such file or directory; list_dir or find_files"},
		{map[string]any{"path": "."}, false, "use list_dir"},
		{map[string]any{"path": "../x"}, false, "outside the workspace"},
		{map[string]any{"path": "/etc/passwd"}, false, "outside the workspace"},
		{map[string]any{"path": b.dir + "-evil/x"}, false, "outside the workspace"},
	} {
		if text, ok := b.do("read_file", c.args); ok != c.ok || !strings.Contains(text, c.says) {
			t.Errorf("%v: ok %v, %.200q", c.args, ok, text)
		}
	}
	text, ok := b.do("read_files", map[string]any{"paths": []string{"a.txt", "none"}})
	if !ok || !strings.Contains(text, "== a.txt ==\n1\n") || !strings.Contains(text, "== none ==\nerror:") {
		t.Errorf("read_files: %v %q", ok, text)
	}
}

func TestWriteFile(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "old\n"})
	old := revision([]byte("old\n"))
	if err := os.Chmod(filepath.Join(b.dir, "a.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, content, revision string
		ok                      bool
		says                    string
	}{
		{"new/deep/b.txt", "x", "", true, "created"},
		{"new/deep/b.txt", "y", "none", false, "exists already"},
		{"c.txt", "y", old, false, "does not exist"},
		{"a.txt", "new\n", "000000000000", false, "at revision " + old},
		{"a.txt", "new\n", old, true, "replaced"},
		{"a.txt", "KEY=" + redact.Mark, "", false, "masked secret"},
		{".", "x", "", false, "folder"},
		{"../x", "x", "", false, "outside"},
		{".tasks/task_1.json", "{}", "", false, "own state"},
		{"new/../.team/x", "{}", "", false, "own state"},
	} {
		text, ok := b.do("write_file", map[string]any{"path": c.path, "content": c.content, "expected_revision": c.revision})
		if ok != c.ok || !strings.Contains(text, c.says) && !(c.path == "." && !ok) {
			t.Errorf("%q: ok %v, %q", c.path, ok, text)
		}
	}
	info, err := os.Stat(filepath.Join(b.dir, "a.txt"))
	if err != nil || info.Mode().Perm() != 0o600 || b.content("a.txt") != "new\n" {
		t.Errorf("a.txt: %v %v %q", info.Mode(), err, b.content("a.txt"))
	}
	left, _ := filepath.Glob(filepath.Join(b.dir, ".*"))
	if len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestHardLinkOutsideIsNotWrittenThrough(t *testing.T) {
	b := newBench(t, nil)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(outside, filepath.Join(b.dir, "here")); err != nil {
		t.Skip(err)
	}
	if got := b.assess("read_file", map[string]any{"path": "here"}); got.Risk != action.Medium {
		t.Errorf("reading a file with two names is %s", got.Risk)
	}
	if text, ok := b.do("write_file", map[string]any{"path": "here", "content": "ours"}); !ok {
		t.Error(text)
	}
	if data, _ := os.ReadFile(outside); string(data) != "theirs" || b.content("here") != "ours" {
		t.Errorf("outside %q, here %q", data, b.content("here"))
	}
}

func TestEditFile(t *testing.T) {
	for _, c := range []struct {
		name, text, old, new string
		all, ok              bool
		want, says           string
	}{
		{"once", "a\nb\nc\n", "b\n", "B\n", false, true, "a\nB\nc\n", "-b\n+B\n"},
		{"not there", "a\n", "x", "y", false, false, "a\n", "does not occur"},
		{"twice", "a\nb\na\n", "a", "x", false, false, "a\nb\na\n", "2 times, at lines 1, 3"},
		{"all", "a\nb\na\n", "a", "x", true, true, "x\nb\nx\n", "+x"},
		{"white space at line ends", "if x {  \n\ty()\t\n}\n", "if x {\n\ty()\n}", "z()", false, true, "z()\n", "white space"},
		{"leading white space counts", "  a\n", "\ta\n", "b\n", false, false, "  a\n", "does not occur"},
		{"CRLF stays", "a\r\nb\r\nc\r\n", "a\nb\n", "A\nB\n", false, true, "A\r\nB\r\nc\r\n", "+A"},
		{"no newline at the end", "a\nb", "b", "c", false, true, "a\nc", "+c"},
		{"nothing changes", "a\n", "a", "a", false, false, "a\n", "the same"},
		{"empty", "a\n", "", "b", false, false, "a\n", "is empty"},
		{"overlapping", "aaa", "aa", "b", false, true, "ba", "+ba"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": c.text})
			text, ok := b.do("edit_file", map[string]any{"path": "f", "old_text": c.old, "new_text": c.new, "replace_all": c.all})
			if ok != c.ok || !strings.Contains(text, c.says) || b.content("f") != c.want {
				t.Errorf("ok %v, %q, file %q", ok, text, b.content("f"))
			}
		})
	}
}

func TestFolders(t *testing.T) {
	b := newBench(t, map[string]string{"d/b.txt": "12", "d/a/x": "", "gone.txt": "bye", ".team/x": "s"})
	b.link("d/b.txt", "l")
	expect := func(name string, args map[string]any, ok bool, says string) string {
		t.Helper()
		text, got := b.do(name, args)
		if got != ok || !strings.Contains(text, says) {
			t.Errorf("%s %v: ok %v, %q, want %v %q", name, args, got, text, ok, says)
		}
		return text
	}
	expect("list_dir", map[string]any{}, true, "d/\ngone.txt 3\nl (link)\n")
	expect("list_dir", map[string]any{"path": "d"}, true, "a/\nb.txt 2\n")
	expect("list_dir", map[string]any{"path": "gone.txt"}, false, "not a directory")
	expect("stat", map[string]any{"path": "l"}, true, "leads to d/b.txt")
	expect("stat", map[string]any{"path": "d/b.txt"}, true, "revision "+revision([]byte("12")))
	expect("make_dir", map[string]any{"path": "n/m"}, true, "made")
	expect("make_dir", map[string]any{"path": "gone.txt"}, false, "")
	expect("move_file", map[string]any{"from": "d/b.txt", "to": "n/m/c.txt"}, true, "moved")
	expect("move_file", map[string]any{"from": "n/m/c.txt", "to": "gone.txt"}, false, "exists already")
	expect("move_file", map[string]any{"from": "none", "to": "x"}, false, "no such file")
	expect("move_file", map[string]any{"from": ".team/x", "to": "x"}, false, "own state")
	expect("trash_file", map[string]any{"path": "l"}, true, "moved l to .autonomy/trash/")
	text := expect("trash_file", map[string]any{"path": "gone.txt"}, true, "moved gone.txt to .autonomy/trash/")
	if _, to, _ := strings.Cut(text, " to "); b.content(to) != "bye" {
		t.Errorf("the trash does not hold it: %q", b.content(to))
	}
	expect("trash_file", map[string]any{"path": "."}, false, "workspace itself")
	expect("trash_file", map[string]any{"path": ".autonomy"}, false, "own state")
}

func TestLinks(t *testing.T) {
	b := newBench(t, map[string]string{"real/x": "in", ".git/config": "[core]", ".team/s": "s"})
	outside := t.TempDir()
	b.link("real", "inside")
	b.link(outside, "absolute")
	b.link("../..", "up")
	b.link("loop", "loop")
	b.link(".git", "innocent")
	b.link(".team", "state")
	for path, want := range map[string]string{
		"inside/x": "in", "absolute/x": "outside", "up/x": "outside", "loop": "too many links", "innocent/config": "[core]",
	} {
		if text, _ := b.do("read_file", map[string]any{"path": path}); !strings.Contains(text, want) {
			t.Errorf("%s: %q", path, text)
		}
	}
	if got := b.assess("write_file", map[string]any{"path": "innocent/config", "content": ""}); got.Risk != action.High || got.Refused {
		t.Errorf("a link into .git: %+v", got)
	}
	if got := b.assess("write_file", map[string]any{"path": "state/new", "content": ""}); !got.Refused {
		t.Errorf("a link into .team: %+v", got)
	}
	for _, path := range []string{"state/new", "absolute/new", "up/new"} {
		if text, ok := b.do("write_file", map[string]any{"path": path, "content": "x"}); ok {
			t.Errorf("%s: %s", path, text)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("written outside: %v", entries)
	}
}

func TestLevels(t *testing.T) {
	b := newBench(t, map[string]string{"a": "", ".env": "K=v"})
	for _, c := range []struct {
		tool, path string
		want       action.Risk
		refused    bool
	}{
		{"read_file", "a", action.Low, false},
		{"read_file", ".env", action.High, false},
		{"read_file", "../x", action.Medium, false},
		{"stat", "a", action.Low, false},
		{"outline", "a", action.Low, false},
		{"read_file", ".tasks/task_1.json", action.Low, false},
		{"trash_file", "a", action.Medium, false},
		{"make_dir", "d", action.Medium, false},
		{"trash_file", ".git", action.High, false},
		{"make_dir", ".vscode", action.High, false},
		{"trash_file", ".autonomy/runs", action.High, true},
		{"trash_file", "AGENTS.md", action.High, false},
		{"trash_file", ".ENV", action.High, false},
	} {
		if got := b.assess(c.tool, map[string]any{"path": c.path}); got.Risk != c.want || got.Refused != c.refused {
			t.Errorf("%s %s: %+v", c.tool, c.path, got)
		}
	}
	for name, x := range b.tools {
		_, verifies := x.(tool.Verifier)
		if x.Spec().ReadOnly == verifies {
			t.Errorf("%s: read-only %v, verifies %v", name, x.Spec().ReadOnly, verifies)
		}
	}
}

func TestOutlineAndSyntax(t *testing.T) {
	b := newBench(t, map[string]string{
		"a.go": "package a\n\n// F does.\nfunc (t T) F(\n\tx int,\n) error { return nil }\n\ntype T struct{}\n\nconst C = 1\n",
		"b.py": "import x\nclass A:\n    def f(self):\n        pass\n", "c.md": "# One\ntext\n## Two\n", "d.bin": "x",
		"bad.go": "package a\nfunc {\n", "ok.json": "{\"a\": 1}", "bad.json": "{\n \"a\": 1,\n}", "bad.jsonl": "{}\n{]\n", "bad.xml": "<a><b></a>",
	})
	for _, c := range []struct {
		tool, path string
		ok         bool
		says       string
	}{
		{"outline", "a.go", true, "1: package a\n4: func (t T) F( x int, ) error\n8: type T\n10: const C\n"},
		{"outline", "b.py", true, "2: class A\n3:     def f(self)\n"},
		{"outline", "c.md", true, "1: # One\n3: ## Two\n"},
		{"outline", "d.bin", true, "nothing"},
		{"check_syntax", "a.go", true, "no syntax error"},
		{"check_syntax", "bad.go", false, "line 2, column 6"},
		{"check_syntax", "ok.json", true, "no syntax error"},
		{"check_syntax", "bad.json", false, "line 3, column 1"},
		{"check_syntax", "bad.jsonl", false, "line 2, column 2"},
		{"check_syntax", "bad.xml", false, "closed by"},
		{"check_syntax", "b.py", false, "no checker"},
	} {
		if text, ok := b.do(c.tool, map[string]any{"path": c.path}); ok != c.ok || !strings.Contains(text, c.says) {
			t.Errorf("%s %s: ok %v, %q", c.tool, c.path, ok, text)
		}
	}
}
