package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

//go:embed template.yaml
var template []byte

// ignored are the lines that init wants in .gitignore: state that belongs to one checkout.
var ignored = [...]string{".team/", ".tasks/", ".autonomy/runs/", ".worktrees/"}

const maxIgnore = 1 << 20 // bytes of a .gitignore

// Made says what Init did. Paths are relative to the workspace.
type Made struct {
	Fresh   bool     // .tasks, .team and .autonomy were absent or empty before: nobody else's files can act
	Created []string // folders and files that were not there
	Changed []string // files that got lines
	Kept    []string // files that were there already and stay as they are
}

// Init makes dir, an existing folder, a workspace: state folders, a config.yaml in which everything is commented out,
// .gitignore lines, and the files of examples (nil = none) in .tasks. What exists stays as it is, so it can be run
// again. Whether to trust the result is for the caller to decide by Made.Fresh.
func Init(dir string, examples fs.FS) (Workspace, Made, error) {
	ws, err := At(dir)
	if err != nil {
		return Workspace{}, Made{}, err
	}
	made := Made{Fresh: true}
	for _, name := range stateFolders {
		empty, err := emptyFolder(filepath.Join(ws.Root, name))
		if err != nil {
			return ws, made, fmt.Errorf("init %s: %w", ws.Root, err)
		}
		made.Fresh = made.Fresh && empty
	}
	for _, step := range []func() error{
		func() error { return made.folders(ws) },
		func() error { return made.file(ws, ws.Config(), template) },
		func() error { return made.ignore(ws) },
		func() error { return made.examples(ws, examples) },
	} {
		if err := step(); err != nil {
			return ws, made, fmt.Errorf("init %s: %w", ws.Root, err)
		}
	}
	return ws, made, nil
}

// emptyFolder reports whether a folder is absent or empty. A link or a file in its place is an error.
func emptyFolder(path string) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return false, fmt.Errorf("%s is not a folder (%s)", path, info.Mode().Type())
	}
	entries, err := os.ReadDir(path)
	return len(entries) == 0, err
}

// folders makes the state folders. .team is the user's alone: the daemon's socket lies in it.
func (m *Made) folders(ws Workspace) error {
	for _, folder := range []struct {
		path string
		perm fs.FileMode
	}{
		{ws.Tasks(), 0o755},
		{ws.Team(), 0o700},
		{ws.Inbox(), 0o700},
		{ws.Transcripts(), 0o700},
		{ws.Autonomy(), 0o755},
		{ws.Runs(), 0o700},
	} {
		err := os.Mkdir(folder.path, folder.perm)
		if err == nil {
			m.Created = append(m.Created, m.name(ws, folder.path)+"/")
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func (m *Made) name(ws Workspace, path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, ws.Root), string(filepath.Separator))
}

// file writes a file unless it exists.
func (m *Made) file(ws Workspace, path string, text []byte) error {
	staged, err := atomicfile.Stage(atomicfile.OS(), path, text, 0o644)
	if err != nil {
		return err
	}
	err = staged.CommitNew()
	if errors.Is(err, fs.ErrExist) {
		m.Kept = append(m.Kept, m.name(ws, path))
		return nil
	}
	if err == nil {
		m.Created = append(m.Created, m.name(ws, path))
	}
	return err
}

// ignore adds the lines that .gitignore lacks, in its own line ends.
func (m *Made) ignore(ws Workspace) error {
	path, perm := filepath.Join(ws.Root, ".gitignore"), fs.FileMode(0o644)
	src, info, err := atomicfile.ReadFile(atomicfile.OS(), path, maxIgnore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := err == nil
	if there {
		perm = info.Mode().Perm()
	}
	text, end := string(src), "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	present := map[string]bool{}
	for line := range strings.Lines(text) {
		present[strings.TrimSpace(line)] = true
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += end
	}
	before := len(text)
	for _, line := range ignored {
		if !present[line] {
			text += line + end
		}
	}
	if len(text) == before {
		return nil
	}
	if there {
		m.Changed = append(m.Changed, ".gitignore")
	} else {
		m.Created = append(m.Created, ".gitignore")
	}
	return atomicfile.Replace(atomicfile.OS(), path, []byte(text), perm)
}

func (m *Made) examples(ws Workspace, examples fs.FS) error {
	if examples == nil {
		return nil
	}
	entries, err := fs.ReadDir(examples, ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		text, err := fs.ReadFile(examples, entry.Name())
		if err != nil {
			return err
		}
		if err := m.file(ws, filepath.Join(ws.Tasks(), entry.Name()), text); err != nil {
			return err
		}
	}
	return atomicfile.SyncDir(atomicfile.OS(), ws.Tasks())
}
