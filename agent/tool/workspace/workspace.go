// Package workspace is the folder that file and search tools work in, held open by one os.Root so that no name and no link
// leads out of it. It finds out where a path really leads and what is special about that place, and opens files so that
// what was opened is what was decided about.
package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/guarded"
)

// MaxFile is the largest file that is read or changed, in bytes.
const MaxFile = 10 << 20

// maxLinks is how many links a path may lead through.
const maxLinks = 40

// ErrOutside says that a path leads out of the workspace.
var ErrOutside = errors.New("outside the workspace; file tools reach only what lies in it")

// Dir is the folder of a workspace, held open. Any goroutine may use it.
type Dir struct {
	Root *os.Root // for what Dir has no method for, with the Rel of a Place
	path string   // without links
}

// Open opens the folder.
func Open(path string) (*Dir, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &Dir{Root: root, path: real}, nil
}

// Close gives the descriptor back.
func (w *Dir) Close() error { return w.Root.Close() }

// Place is one path of a call.
type Place struct {
	Name  string // as it was given, for messages
	Rel   string // relative to the workspace, links resolved, "." for the workspace itself
	Class guarded.Class
}

// Locate finds out where a name leads. A part that does not exist ends the search for links: what is made below it has
// none.
func (w *Dir) Locate(env tool.Env, name string) (Place, error) {
	if name == "" {
		name = "."
	}
	if strings.ContainsRune(name, 0) {
		return Place{}, fmt.Errorf("path %q holds a NUL", name)
	}
	lexical, err := w.relative(env, name)
	if err != nil {
		return Place{}, fmt.Errorf("%s: %w", name, err)
	}
	real, err := w.resolve(lexical)
	if err != nil {
		return Place{}, fmt.Errorf("%s: %w", name, err)
	}
	class, target := guarded.Of(lexical), guarded.Of(real)
	class.State = class.State || target.State
	class.Protected = class.Protected || target.Protected
	class.Secret = class.Secret || target.Secret
	return Place{Name: name, Rel: real, Class: class}, nil
}

// Entry locates the entry itself where locate follows it: a link is moved or described, not what it leads to.
func (w *Dir) Entry(env tool.Env, name string) (Place, error) {
	p, err := w.Locate(env, name)
	if err != nil {
		return p, err
	}
	lexical, err := w.relative(env, name)
	if err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	folder, err := w.resolve(filepath.Dir(lexical))
	if err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	p.Rel = filepath.Join(folder, filepath.Base(lexical))
	return p, nil
}

// relative compares by path components, never by prefix of the text.
func (w *Dir) relative(env tool.Env, name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	for _, base := range []string{env.Workspace, w.path} {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return "", ErrOutside
}

func (w *Dir) resolve(rel string) (string, error) {
	rest, at := strings.Split(filepath.ToSlash(filepath.Clean(rel)), "/"), "."
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := w.Root.Lstat(next)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				return filepath.Join(append([]string{next}, rest...)...), nil
			}
			return "", Reason(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("too many links")
		}
		target, err := w.Root.Readlink(next)
		if err != nil {
			return "", Reason(err)
		}
		led := filepath.Join(filepath.Dir(next), target)
		if filepath.IsAbs(target) || !filepath.IsLocal(led) {
			return "", fmt.Errorf("a link that leads to %s: %w", target, ErrOutside)
		}
		rest, at = append(strings.Split(filepath.ToSlash(led), "/"), rest...), "."
	}
	return at, nil
}

// OpenFile opens a regular file for reading. It never waits, as for the other end of a pipe, and follows no link: there
// was none a moment ago.
func (w *Dir) OpenFile(p Place) (*os.File, fs.FileInfo, error) {
	f, err := w.Root.OpenFile(p.Rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.Name, Reason(err))
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("is a folder; use list_dir")
	case !info.Mode().IsRegular():
		err = errors.New("is no regular file")
	case info.Size() > MaxFile:
		err = fmt.Errorf("has %d bytes, more than the %d that file tools read; use search_text or bash", info.Size(), MaxFile)
	default:
		err = w.SameFile(f, p)
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	return f, info, nil
}

// SameFile asks the kernel where the descriptor really is. A file that got there by a link swapped in after the look is
// refused, whatever it is.
func (w *Dir) SameFile(f *os.File, p Place) error {
	actual, known := descriptorPath(f)
	if !known {
		return nil
	}
	if rel, err := filepath.Rel(w.path, actual); err != nil || rel != p.Rel {
		return errors.New("the path changed while it was opened; try again")
	}
	return nil
}

// Read reads a whole regular file.
func (w *Dir) Read(p Place) ([]byte, fs.FileInfo, error) {
	f, info, err := w.OpenFile(p)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.Name, Reason(err))
	}
	if len(data) > MaxFile {
		return nil, nil, fmt.Errorf("%s: grew beyond %d bytes", p.Name, MaxFile)
	}
	return data, info, nil
}

// Reason is the innermost error: the names that os.Root puts around it are not those the model gave.
func Reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		return linkErr.Err
	}
	return err
}
