package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/guarded"
	"github.com/autonomy-team/autonomy/internal/sandbox"
)

// maxFiles is how many files a search looks at, maxList how long git's list of them may be.
const (
	maxFiles = 200_000
	maxList  = 64 << 20
)

// listTime bounds git's answer.
const listTime = 30 * time.Second

// files lists what may be searched below a path, relative to the workspace, sorted. A path that is a file is listed alone.
func (t *Tools) files(ctx context.Context, env tool.Env, path string) ([]string, error) {
	p, err := t.dir.Locate(env, path)
	if err != nil {
		return nil, err
	}
	info, err := t.dir.Root.Lstat(p.Rel)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: no such file or folder; list_dir shows what is there", p.Name)
	case p.Class.Secret:
		return nil, fmt.Errorf("%s: may hold a secret and is not searched; read_file asks for it", p.Name)
	case !info.IsDir():
		return []string{p.Rel}, nil
	}
	found, err := t.gitFiles(ctx, env, p.Rel)
	if err != nil && ctx.Err() == nil {
		found, err = t.walk(ctx, p.Rel)
	}
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(rel string) bool {
		c := guarded.Of(rel)
		return c.State || c.Secret
	})
	slices.Sort(found)
	return slices.Compact(found), nil
}

var errNoGit = errors.New("git has no answer")

// gitFiles asks git for the tracked files and those that it does not ignore. The configuration of the user is left out
// and of the repository's what would start programs.
func (t *Tools) gitFiles(ctx context.Context, env tool.Env, rel string) ([]string, error) {
	dir := filepath.Join(env.Workspace, rel)
	list := &strings.Builder{}
	order := sandbox.Order{
		Argv: []string{
			"git", "--no-pager", "--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false",
			"-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", "-c", "safe.bareRepository=explicit",
			"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".",
		},
		Dir: dir, Timeout: listTime,
		Env: sandbox.Environ(nil, "PATH=/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin", "HOME=/nonexistent",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"),
	}
	outcome, err := sandbox.Run(ctx, t.sandbox, order, &bounded{b: list})
	if err != nil || outcome.Exit != 0 || list.Len() >= maxList {
		return nil, errNoGit
	}
	var found []string
	for name := range strings.SplitSeq(list.String(), "\x00") {
		// git names a nested repository, which is no file, by its folder.
		if name != "" && !strings.HasSuffix(name, "/") {
			found = append(found, filepath.Join(rel, filepath.FromSlash(name)))
		}
	}
	return found, nil
}

// bounded keeps the first maxList bytes.
type bounded struct{ b *strings.Builder }

func (w *bounded) Write(p []byte) (int, error) {
	w.b.Write(p[:min(len(p), maxList-w.b.Len())])
	return len(p), nil
}

// walk lists all files but those in folders that hold no work. It follows no link.
func (t *Tools) walk(ctx context.Context, rel string) ([]string, error) {
	var found []string
	err := fs.WalkDir(t.dir.Root.FS(), filepath.ToSlash(rel), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return nil // a folder that can't be read hides nothing of the others
		case entry.IsDir() && path != rel && leftOut(entry.Name()):
			return fs.SkipDir
		case len(found) >= maxFiles:
			return fs.SkipAll
		case entry.Type().IsRegular():
			found = append(found, filepath.FromSlash(path))
		}
		return nil
	})
	return found, err
}

func leftOut(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".cache", ".worktrees",
		".tasks", ".team", ".autonomy", ".mypy_cache", ".pytest_cache", ".tox", ".gradle":
		return true
	}
	return false
}
