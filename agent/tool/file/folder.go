package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/agent/tool/workspace"
)

// maxEntries is how many entries of a folder are listed.
const maxEntries = 1000

// trashFolder takes what trash_file removes, one folder a call. Only our own code writes there.
var trashFolder = filepath.Join(".autonomy", "trash")

type pathArgs struct {
	Path string `json:"path"`
}

type optionalPathArgs struct {
	Path string `json:"path,omitempty" jsonschema:"the working directory if absent"`
}

type changePathArgs struct {
	Path string `json:"path"`
	tool.Mutating
}

func listDir(w *dir) tool.Tool {
	return &op[optionalPathArgs]{
		w: w, name: "list_dir", about: "List a folder: one entry a line, folders with a slash at the end, files with their size.",
		paths: func(a optionalPathArgs) []string { return []string{a.Path} },
		run: func(w *dir, env tool.Env, a optionalPathArgs) (string, error) {
			p, err := w.Locate(env, a.Path)
			if err != nil {
				return "", err
			}
			dir, err := w.Root.Open(p.Rel)
			if err != nil {
				return "", fmt.Errorf("%s: %w", p.Name, workspace.Reason(err))
			}
			defer dir.Close()
			if err := w.SameFile(dir, p); err != nil {
				return "", fmt.Errorf("%s: %w", p.Name, err)
			}
			entries, err := dir.ReadDir(-1)
			if err != nil {
				return "", fmt.Errorf("%s: %w", p.Name, workspace.Reason(err))
			}
			return renderEntries(entries), nil
		},
	}
}

func renderEntries(entries []fs.DirEntry) string {
	if len(entries) == 0 {
		return "[empty]"
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var b strings.Builder
	for i, e := range entries {
		if i == maxEntries {
			fmt.Fprintf(&b, "[%d more]\n", len(entries)-i)
			break
		}
		switch info, err := e.Info(); {
		case e.IsDir():
			fmt.Fprintf(&b, "%s/\n", e.Name())
		case err != nil:
			fmt.Fprintf(&b, "%s (gone)\n", e.Name())
		case e.Type()&fs.ModeSymlink != 0:
			fmt.Fprintf(&b, "%s (link)\n", e.Name())
		default:
			fmt.Fprintf(&b, "%s %d\n", e.Name(), info.Size())
		}
	}
	return b.String()
}

func statPath(w *dir) tool.Tool {
	return &op[pathArgs]{
		w: w, name: "stat", about: "Tell what a path is: kind, size, permissions, time of the last change, and a file's revision.",
		paths: func(a pathArgs) []string { return []string{a.Path} },
		run: func(w *dir, env tool.Env, a pathArgs) (string, error) {
			p, err := w.Entry(env, a.Path)
			if err != nil {
				return "", err
			}
			info, err := w.Root.Lstat(p.Rel)
			if err != nil {
				return "", fmt.Errorf("%s: %w", a.Path, workspace.Reason(err))
			}
			text := fmt.Sprintf("%s\nsize %d\nmode %s\nchanged %s", kind(info), info.Size(), info.Mode(), info.ModTime().UTC().Format(time.RFC3339))
			if target, err := w.Root.Readlink(p.Rel); err == nil {
				text += "\nleads to " + target
			}
			if !info.Mode().IsRegular() || info.Size() > workspace.MaxFile {
				return text, nil
			}
			data, _, err := w.Read(p)
			if err != nil {
				return "", err
			}
			return text + "\nrevision " + revision(data), nil
		},
	}
}

func kind(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "folder"
	case info.Mode().IsRegular():
		return "file"
	case info.Mode()&fs.ModeSymlink != 0:
		return "link"
	default:
		return "special file"
	}
}

type moveArgs struct {
	From string `json:"from" jsonschema:"file or folder"`
	To   string `json:"to" jsonschema:"its new path; must not exist"`
	tool.Mutating
}

func moveFile(w *dir) tool.Tool {
	return &change[moveArgs]{
		op: op[moveArgs]{
			w: w, name: "move_file", about: "Move or rename a file or folder. Never replaces anything.",
			paths: func(a moveArgs) []string { return []string{a.From, a.To} },
			run: func(w *dir, env tool.Env, a moveArgs) (string, error) {
				from, err := w.movable(env, a.From)
				if err != nil {
					return "", err
				}
				to, err := w.target(env, a.To)
				if err != nil {
					return "", err
				}
				if err := w.move(from, to); err != nil {
					return "", err
				}
				return fmt.Sprintf("moved %s to %s", a.From, a.To), nil
			},
		},
		effect: "move a file or folder", plan: "look at both paths",
		verify: func(w *dir, env tool.Env, a moveArgs, _ string) (bool, string) {
			return w.moved(env, a.From, a.To)
		},
	}
}

// movable is target for an entry that is to be moved itself.
func (w *dir) movable(env tool.Env, name string) (workspace.Place, error) {
	if _, err := w.target(env, name); err != nil {
		return workspace.Place{}, err
	}
	return w.Entry(env, name)
}

func (w *dir) move(from, to workspace.Place) error {
	if _, err := w.Root.Lstat(from.Rel); err != nil {
		return fmt.Errorf("%s: %w", from.Name, workspace.Reason(err))
	}
	if _, err := w.Root.Lstat(to.Rel); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: exists already; choose another name, or remove it with trash_file", to.Name)
	}
	if err := w.Root.MkdirAll(filepath.Dir(to.Rel), 0o755); err != nil {
		return fmt.Errorf("%s: make its folder: %w", to.Name, workspace.Reason(err))
	}
	if err := w.Root.Rename(from.Rel, to.Rel); err != nil {
		return fmt.Errorf("%s: %w", from.Name, workspace.Reason(err))
	}
	return nil
}

func (w *dir) moved(env tool.Env, from, to string) (bool, string) {
	if w.exists(env, from) {
		return false, from + " is still there"
	}
	if !w.exists(env, to) {
		return false, to + " is not there"
	}
	return true, from + " is gone, " + to + " is there"
}

func (w *dir) exists(env tool.Env, name string) bool {
	p, err := w.Entry(env, name)
	if err != nil {
		return false
	}
	_, err = w.Root.Lstat(p.Rel)
	return err == nil
}

func makeDir(w *dir) tool.Tool {
	return &change[changePathArgs]{
		op: op[changePathArgs]{
			w: w, name: "make_dir", about: "Make a folder and those above it. One that exists is fine.",
			paths: func(a changePathArgs) []string { return []string{a.Path} },
			run: func(w *dir, env tool.Env, a changePathArgs) (string, error) {
				p, err := w.target(env, a.Path)
				if err != nil {
					return "", err
				}
				if err := w.Root.MkdirAll(p.Rel, 0o755); err != nil {
					return "", fmt.Errorf("%s: %w", a.Path, workspace.Reason(err))
				}
				return "made " + a.Path, nil
			},
		},
		effect: "make a folder", plan: "look whether it is there",
		verify: func(w *dir, env tool.Env, a changePathArgs, _ string) (bool, string) {
			if p, err := w.Locate(env, a.Path); err == nil {
				if info, err := w.Root.Lstat(p.Rel); err == nil && info.IsDir() {
					return true, a.Path + " is a folder"
				}
			}
			return false, a.Path + " is no folder"
		},
	}
}

func trashFile(w *dir) tool.Tool {
	return &change[changePathArgs]{
		op: op[changePathArgs]{
			w: w, name: "trash_file", about: "Remove a file or folder by moving it to the trash, where a person can take it back.",
			paths: func(a changePathArgs) []string { return []string{a.Path} },
			run: func(w *dir, env tool.Env, a changePathArgs) (string, error) {
				p, err := w.movable(env, a.Path)
				if err != nil {
					return "", err
				}
				slot := time.Now().UTC().Format("20060102T150405Z-") + rand.Text()[:6]
				to := workspace.Place{Name: "trash", Rel: filepath.Join(trashFolder, slot, p.Rel)}
				if err := w.move(p, to); err != nil {
					return "", err
				}
				return fmt.Sprintf("moved %s to %s", a.Path, filepath.ToSlash(to.Rel)), nil
			},
		},
		effect: "move a file or folder to the trash", plan: "look at both paths",
		verify: func(w *dir, env tool.Env, a changePathArgs, result string) (bool, string) {
			_, to, _ := strings.Cut(result, " to "+filepath.ToSlash(trashFolder))
			return w.moved(env, a.Path, filepath.Join(env.Workspace, trashFolder+to))
		},
	}
}
