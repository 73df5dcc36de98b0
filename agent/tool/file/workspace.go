package file

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

// maxFile is the largest file that is read or changed.
const maxFile = 10 << 20

// maxLinks is how many links a path may lead through.
const maxLinks = 40

var (
	errOutside = errors.New("outside the workspace; file tools reach only what lies in it")
	errState   = errors.New("holds the program's own state, which only its own commands write")
)

// workspace is the folder all calls work in.
type workspace struct {
	root *os.Root
	path string // without links
}

func openWorkspace(path string) (*workspace, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &workspace{root: root, path: real}, nil
}

// place is one path of a call.
type place struct {
	name  string // as it was given, for messages
	rel   string // relative to the workspace, links resolved, "." for the workspace itself
	class guarded.Class
}

// locate finds out where a name leads. A part that does not exist ends the search for links: what is made below it has
// none.
func (w *workspace) locate(env tool.Env, name string) (place, error) {
	if name == "" {
		name = "."
	}
	if strings.ContainsRune(name, 0) {
		return place{}, fmt.Errorf("path %q holds a NUL", name)
	}
	lexical, err := w.relative(env, name)
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", name, err)
	}
	real, err := w.resolve(lexical)
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", name, err)
	}
	class, target := guarded.Of(lexical), guarded.Of(real)
	class.State = class.State || target.State
	class.Protected = class.Protected || target.Protected
	class.Secret = class.Secret || target.Secret
	return place{name: name, rel: real, class: class}, nil
}

// entry locates the entry itself where locate follows it: a link is moved or described, not what it leads to.
func (w *workspace) entry(env tool.Env, name string) (place, error) {
	p, err := w.locate(env, name)
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
	p.rel = filepath.Join(folder, filepath.Base(lexical))
	return p, nil
}

// relative compares by path components, never by prefix of the text.
func (w *workspace) relative(env tool.Env, name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	for _, base := range []string{env.Workspace, w.path} {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return "", errOutside
}

func (w *workspace) resolve(rel string) (string, error) {
	rest, at := strings.Split(filepath.ToSlash(filepath.Clean(rel)), "/"), "."
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := w.root.Lstat(next)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				return filepath.Join(append([]string{next}, rest...)...), nil
			}
			return "", reason(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("too many links")
		}
		target, err := w.root.Readlink(next)
		if err != nil {
			return "", reason(err)
		}
		led := filepath.Join(filepath.Dir(next), target)
		if filepath.IsAbs(target) || !filepath.IsLocal(led) {
			return "", fmt.Errorf("a link that leads to %s: %w", target, errOutside)
		}
		rest, at = append(strings.Split(filepath.ToSlash(led), "/"), rest...), "."
	}
	return at, nil
}

// openFile opens a regular file for reading. It never waits, as for the other end of a pipe, and follows no link: there
// was none a moment ago.
func (w *workspace) openFile(p place) (*os.File, fs.FileInfo, error) {
	f, err := w.root.OpenFile(p.rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.name, reason(err))
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("is a folder; use list_dir")
	case !info.Mode().IsRegular():
		err = errors.New("is no regular file")
	case info.Size() > maxFile:
		err = fmt.Errorf("has %d bytes, more than the %d that file tools read; use search_text or bash", info.Size(), maxFile)
	default:
		err = w.sameFile(f, p)
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return f, info, nil
}

// sameFile asks the kernel where the descriptor really is. A file that got there by a link swapped in after the look is
// refused, whatever it is.
func (w *workspace) sameFile(f *os.File, p place) error {
	actual, known := descriptorPath(f)
	if !known {
		return nil
	}
	if rel, err := filepath.Rel(w.path, actual); err != nil || rel != p.rel {
		return errors.New("the path changed while it was opened; try again")
	}
	return nil
}

// read reads a whole regular file.
func (w *workspace) read(p place) ([]byte, fs.FileInfo, error) {
	f, info, err := w.openFile(p)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.name, reason(err))
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("%s: grew beyond %d bytes", p.name, maxFile)
	}
	return data, info, nil
}

// reason is the innermost error: the names that os.Root puts around it are not those the model gave.
func reason(err error) error {
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
