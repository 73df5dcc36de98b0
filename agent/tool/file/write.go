package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/agent/tool/workspace"
	"github.com/autonomy-team/autonomy/internal/redact"
)

type writeArgs struct {
	Path             string `json:"path" jsonschema:"folders on the way are made"`
	Content          string `json:"content" jsonschema:"the whole new content"`
	ExpectedRevision string `json:"expected_revision,omitempty" jsonschema:"write only if the file still has this revision; none = only if it does not exist"`
	tool.Mutating
}

func writeFile(w *dir) tool.Tool {
	return &change[writeArgs]{
		op: op[writeArgs]{
			w: w, name: "write_file",
			about: "Write a whole file, new or in place of the old. To change a part use edit_file.",
			paths: func(a writeArgs) []string { return []string{a.Path} },
			run:   runWrite,
		},
		effect: "write a file", plan: "read it again and compare its hash",
		verify: func(w *dir, env tool.Env, a writeArgs, _ string) (bool, string) {
			return w.hasRevision(env, a.Path, revision([]byte(a.Content)))
		},
	}
}

func runWrite(w *dir, env tool.Env, a writeArgs) (string, error) {
	p, err := w.target(env, a.Path)
	if err != nil {
		return "", err
	}
	old, info, err := w.Read(p)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := expectRevision(a.ExpectedRevision, old, exists); err != nil {
		return "", fmt.Errorf("%s: %w", a.Path, err)
	}
	mode := fs.FileMode(0o644)
	if exists {
		mode = info.Mode().Perm()
	}
	if err := w.write(p, []byte(a.Content), mode); err != nil {
		return "", err
	}
	verb := "created"
	if exists {
		verb = "replaced"
	}
	return fmt.Sprintf("%s %s (%d bytes)\n[revision %s]", verb, a.Path, len(a.Content), revision([]byte(a.Content))), nil
}

func expectRevision(want string, old []byte, exists bool) error {
	switch {
	case want == "":
		return nil
	case want == "none" && exists:
		return fmt.Errorf("exists already, at revision %s", revision(old))
	case want == "none":
		return nil
	case !exists:
		return fmt.Errorf("does not exist, wanted revision %s", want)
	case revision(old) != want:
		return fmt.Errorf("has changed: it is at revision %s, not %s; read it again", revision(old), want)
	}
	return nil
}

// write replaces or makes a file as a whole: a new file is written beside it and renamed, so that a reader never sees a
// half of it and a second name of the old file, perhaps outside, keeps the old content.
func (w *dir) write(p workspace.Place, data []byte, mode fs.FileMode) error {
	if len(data) > workspace.MaxFile {
		return fmt.Errorf("%s: %d bytes are more than the %d that file tools write", p.Name, len(data), workspace.MaxFile)
	}
	if strings.Contains(string(data), redact.Mark) {
		return fmt.Errorf("%s: the text holds %s, which stands for a masked secret; writing it would destroy the secret", p.Name, redact.Mark)
	}
	folder, err := w.openFolder(p)
	if err != nil {
		return err
	}
	defer folder.Close()
	name := filepath.Base(p.Rel)
	temporary := "." + name + "." + rand.Text()[:10] + ".tmp"
	err = fill(folder, temporary, data, mode)
	if err == nil {
		err = folder.Rename(temporary, name)
	}
	if err != nil {
		_ = folder.Remove(temporary)
		return fmt.Errorf("%s: %w", p.Name, workspace.Reason(err))
	}
	return nil
}

// openFolder makes and opens the folder of a file and makes sure that it is the one that was decided about, not one that
// a link swapped in meanwhile leads to.
func (w *dir) openFolder(p workspace.Place) (*os.Root, error) {
	at := workspace.Place{Name: p.Name, Rel: filepath.Dir(p.Rel)}
	if err := w.Root.MkdirAll(at.Rel, 0o755); err != nil {
		return nil, fmt.Errorf("%s: make its folder: %w", p.Name, workspace.Reason(err))
	}
	folder, err := w.Root.OpenRoot(at.Rel)
	if err != nil {
		return nil, fmt.Errorf("%s: open its folder: %w", p.Name, workspace.Reason(err))
	}
	self, err := folder.Open(".")
	if err == nil {
		err = errors.Join(w.SameFile(self, at), self.Close())
	}
	if err != nil {
		folder.Close()
		return nil, fmt.Errorf("%s: open its folder: %w", p.Name, workspace.Reason(err))
	}
	return folder, nil
}

func fill(folder *os.Root, name string, data []byte, mode fs.FileMode) error {
	f, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode) // the umask may have narrowed the mode of a file that existed
	}
	return errors.Join(err, f.Close())
}

// hasRevision reads a file again.
func (w *dir) hasRevision(env tool.Env, name, want string) (bool, string) {
	p, err := w.Locate(env, name)
	if err != nil {
		return false, err.Error()
	}
	data, _, err := w.Read(p)
	if err != nil {
		return false, err.Error()
	}
	if got := revision(data); got != want {
		return false, fmt.Sprintf("%s is at revision %s, not %s", name, got, want)
	}
	return true, "read again: revision " + want
}
