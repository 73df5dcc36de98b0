package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/autonomy-team/autonomy/agent/tool"
)

func openTest(t testing.TB, files map[string]string) (*Dir, tool.Env) {
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
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, tool.Env{Workspace: dir, Dir: dir}
}

func link(t testing.TB, env tool.Env, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(env.Workspace, name)); err != nil {
		t.Fatal(err)
	}
}

func TestLocate(t *testing.T) {
	d, env := openTest(t, map[string]string{"a/b/c": "", ".git/config": ""})
	link(t, env, "a/b", "l")
	link(t, env, "../a", "a/up")
	link(t, env, ".git", "g")
	link(t, env, "gone", "dangling")
	env.Dir = filepath.Join(env.Workspace, "a")
	for name, want := range map[string]string{
		"": "a", ".": "a", "b/c": "a/b/c", "../l/c": "a/b/c", "up/b": "a/b", "../g/config": ".git/config", "new/x": "a/new/x",
		"../dangling": "gone", "b/../../l": "a/b", filepath.Join(env.Workspace, "l", "c"): "a/b/c", "b/c/d": "a/b/c/d",
	} {
		if p, err := d.Locate(env, name); err != nil || p.Rel != want {
			t.Errorf("%q: %q, %v; want %q", name, p.Rel, err, want)
		}
	}
	if p, err := d.Locate(env, "../g/config"); err != nil || !p.Class.Protected {
		t.Errorf("a link hides what is protected: %+v, %v", p, err)
	}
	if p, err := d.Entry(env, "../l"); err != nil || p.Rel != "l" {
		t.Errorf("entry: %+v, %v", p, err)
	}
	for _, name := range []string{"../..", "../../x", "/", "/etc/passwd", env.Workspace + "-evil/x", "b/../../../x"} {
		if _, err := d.Locate(env, name); !errors.Is(err, ErrOutside) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := d.Locate(env, "a\x00b"); err == nil {
		t.Error("NUL was accepted")
	}
}

func TestReadRefusesWhatIsNoFile(t *testing.T) {
	d, env := openTest(t, map[string]string{"a": "x"})
	socket := filepath.Join(env.Workspace, "fifo")
	if err := mkfifo(socket); err != nil {
		t.Skip(err)
	}
	for name, says := range map[string]string{"fifo": "no regular file", ".": "folder", "none": "no such file"} {
		p, err := d.Locate(env, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Read(p); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A folder is swapped against a link to one outside, and to a secret one inside, while files in it are read: what comes
// back is the harmless file or an error, never another.
func TestSwappedLinksLeadNowhere(t *testing.T) {
	d, env := openTest(t, map[string]string{"work/f": "harmless", ".ssh/f": "secret"})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(env.Workspace, name) }
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			target := outside
			if i%2 == 0 {
				target = ".ssh"
			}
			_ = os.Rename(at("work"), at("aside"))
			_ = os.Symlink(target, at("work"))
			_ = os.Remove(at("work"))
			_ = os.Rename(at("aside"), at("work"))
		}
	})
	read := 0
	for range 3000 {
		p, err := d.Locate(env, "work/f")
		if err != nil || p.Class.Secret {
			continue
		}
		data, _, err := d.Read(p)
		if err != nil {
			continue
		}
		if read++; string(data) != "harmless" {
			t.Fatalf("read %q by %+v", data, p)
		}
	}
	close(stop)
	swapper.Wait()
	if read == 0 {
		t.Error("nothing was ever read: the test proves nothing")
	}
}

func FuzzLocate(f *testing.F) {
	d, env := openTest(f, map[string]string{"a/b": "", ".team/x": ""})
	link(f, env, "../..", "a/up")
	link(f, env, ".team", "a/t")
	for _, seed := range []string{"a/b", "../x", "/etc", "a/up/x", "a//b/./..", "a/t/x", "\x00", ".TEAM", "a/../../" + filepath.Base(env.Workspace)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, err := d.Locate(env, name)
		if err != nil {
			return
		}
		if !filepath.IsLocal(p.Rel) {
			t.Errorf("%q leads to %q", name, p.Rel)
		}
		first, _, _ := strings.Cut(filepath.ToSlash(p.Rel), "/")
		if first == ".team" && !p.Class.State {
			t.Errorf("%q leads to %q, which is not seen as state", name, p.Rel)
		}
	})
}
