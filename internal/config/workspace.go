package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNoWorkspace is what FindWorkspace returns, wrapped with the folder it started at.
var ErrNoWorkspace = errors.New("no workspace here or above: run autonomy init here")

// ErrLink is what FindWorkspace returns, wrapped with the path, when a state folder is a link.
var ErrLink = errors.New("is a symbolic link; the state of a workspace lies in the workspace")

// stateFolders mark a workspace. Any one of them does.
var stateFolders = [...]string{".team", ".tasks", ".autonomy"}

// Workspace is the folder a team works in. It is an absolute path with symbolic links resolved; the methods name the
// files in it and touch none.
type Workspace struct{ Root string }

// Tasks is the board.
func (w Workspace) Tasks() string { return filepath.Join(w.Root, ".tasks") }

// Team is the folder of the team's state, written by the daemon.
func (w Workspace) Team() string { return filepath.Join(w.Root, ".team") }

// TeamConfig is the roster.
func (w Workspace) TeamConfig() string { return filepath.Join(w.Team(), "config.json") }

// Inbox is the folder of the mailboxes.
func (w Workspace) Inbox() string { return filepath.Join(w.Team(), "inbox") }

// Transcripts is the folder of the members' conversations.
func (w Workspace) Transcripts() string { return filepath.Join(w.Team(), "transcripts") }

// Transcript is the conversation of one member.
func (w Workspace) Transcript(name string) string {
	return filepath.Join(w.Transcripts(), name+".jsonl")
}

// Events is the team log.
func (w Workspace) Events() string { return filepath.Join(w.Team(), "events.jsonl") }

// Requests is the folder of open handshakes.
func (w Workspace) Requests() string { return filepath.Join(w.Team(), "requests") }

// DaemonLock is the lock a daemon holds for life, with its instance id inside.
func (w Workspace) DaemonLock() string { return filepath.Join(w.Team(), "daemon.lock") }

// Socket is where the daemon listens, unless the path is too long for the system: then DaemonAddr says where.
func (w Workspace) Socket() string { return filepath.Join(w.Team(), "daemon.sock") }

// DaemonAddr holds the path of the real socket when Socket would be too long.
func (w Workspace) DaemonAddr() string { return filepath.Join(w.Team(), "daemon.addr") }

// DaemonLog is the daemon's log for people.
func (w Workspace) DaemonLog() string { return filepath.Join(w.Team(), "daemon.log") }

// ExecLock is shared by every running command of a daemon's attempts.
func (w Workspace) ExecLock() string { return filepath.Join(w.Team(), "exec.lock") }

// Autonomy is the folder of settings, roles, skills, runs and results.
func (w Workspace) Autonomy() string { return filepath.Join(w.Root, ".autonomy") }

// Config is the file of workspace settings.
func (w Workspace) Config() string { return filepath.Join(w.Autonomy(), "config.yaml") }

// Roles is the folder of role files.
func (w Workspace) Roles() string { return filepath.Join(w.Autonomy(), "roles") }

// Skills is the folder of the workspace's skills.
func (w Workspace) Skills() string { return filepath.Join(w.Autonomy(), "skills") }

// Runs is the folder of run logs.
func (w Workspace) Runs() string { return filepath.Join(w.Autonomy(), "runs") }

// Run is the event log of one run.
func (w Workspace) Run(id string) string { return filepath.Join(w.Runs(), id+".jsonl") }

// Recipes holds the states of the recipes.
func (w Workspace) Recipes() string { return filepath.Join(w.Autonomy(), "recipes.json") }

// Results is the folder of large results.
func (w Workspace) Results() string { return filepath.Join(w.Autonomy(), "results") }

// Worktrees is the folder of git worktrees made for tasks. They belong to this workspace.
func (w Workspace) Worktrees() string { return filepath.Join(w.Root, worktrees) }

const worktrees = ".worktrees"

// Exists reports whether the folder has any of the state folders that make it a workspace.
func (w Workspace) Exists() bool { return hasStateFolder(w.Root) }

// FindWorkspace returns the workspace that start, a folder, lies in: the nearest parent with one of the state folders.
// A folder below .worktrees/ belongs to the workspace above that, whatever it contains. None is ErrNoWorkspace.
// One whose state lies elsewhere is ErrLink.
func FindWorkspace(start string) (Workspace, error) {
	dir, err := realFolder(start)
	if err != nil {
		return Workspace{}, fmt.Errorf("find workspace: %w", err)
	}
	var found string // the nearest candidate not yet overruled by a .worktrees above it
	for at := dir; ; at = filepath.Dir(at) {
		if found == "" && hasStateFolder(at) {
			found = at
		}
		parent := filepath.Dir(at)
		if filepath.Base(at) == worktrees && hasStateFolder(parent) {
			found = parent
		}
		if parent == at {
			break
		}
	}
	if found == "" {
		return Workspace{}, fmt.Errorf("%s: %w", dir, ErrNoWorkspace)
	}
	if err := refuseLinks(found); err != nil {
		return Workspace{}, err
	}
	return Workspace{Root: found}, nil
}

// refuseLinks makes sure that nothing is written outside a workspace, as one that came with a clone may want.
func refuseLinks(root string) error {
	for _, name := range stateFolders {
		path := filepath.Join(root, name)
		if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return fmt.Errorf("%s: %w", path, ErrLink)
		}
	}
	return nil
}

// At is the workspace rooted at dir, whether or not it has state folders yet. It is what init and -C with init use.
func At(dir string) (Workspace, error) {
	root, err := realFolder(dir)
	if err != nil {
		return Workspace{}, fmt.Errorf("open workspace: %w", err)
	}
	return Workspace{Root: root}, nil
}

func realFolder(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(root)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", &fs.PathError{Op: "open", Path: root, Err: errors.New("not a folder")}
	}
	return root, nil
}

// hasStateFolder uses Lstat: a link named .team does not make a workspace, since the state of one lies in it.
func hasStateFolder(dir string) bool {
	for _, name := range stateFolders {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}
