package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/team"
)

// unwritten is a file of ends of attempts that the board did not take before the daemon ended, as on a full disk. It lies
// outside the workspace, whose disk was the trouble. Nothing applies it by itself: the tasks go back to the board at the
// next start, and a person decides what the results are still worth.
type unwritten struct {
	Workspace string              `json:"workspace"`
	Instance  autonomy.InstanceID `json:"instance"`
	At        time.Time           `json:"at"`
	Ends      []unwrittenEnd      `json:"ends"`
}

type unwrittenEnd struct {
	Task   autonomy.TaskID    `json:"task"`
	Claim  autonomy.ClaimID   `json:"claim"`
	Run    autonomy.RunID     `json:"run_id,omitempty"`
	Member autonomy.AgentName `json:"member"`
	End    string             `json:"end"` // complete, fail, hold or release
	Result *unwrittenResult   `json:"result,omitempty"`
	Code   string             `json:"code,omitempty"`   // of fail
	Reason string             `json:"reason,omitempty"` // of fail, hold and release
	Error  string             `json:"error"`            // why it is not on the board
}

type unwrittenResult struct {
	Summary  string          `json:"summary"`
	Verified bool            `json:"verified"`
	Usage    json.RawMessage `json:"usage,omitempty"`
}

func unwrittenOf(e *team.UnwrittenError) unwrittenEnd {
	u := unwrittenEnd{Task: e.Task, Claim: e.Claim, Run: e.Run, Member: e.Member, Error: e.Err.Error()}
	switch end := e.End.(type) {
	case board.Complete:
		u.End = "complete"
		u.Result = &unwrittenResult{Summary: end.Result.Summary, Verified: end.Result.Verified, Usage: end.Result.Usage}
	case board.Fail:
		u.End, u.Code, u.Reason = "fail", end.Code, end.Message
	case board.Hold:
		u.End, u.Reason = "hold", end.Reason
	case board.Release:
		u.End, u.Reason = "release", end.Reason
	}
	return u
}

// SavedError says where the ends of attempts are that could not be written to the board.
type SavedError struct {
	Path string
	Ends int
}

func (e *SavedError) Error() string {
	if e.Ends == 1 {
		return "the end of an attempt could not be written to the board; it is kept in " + e.Path
	}
	return fmt.Sprintf("%d ends of attempts could not be written to the board; they are kept in %s", e.Ends, e.Path)
}

// saveUnwritten keeps what the board did not take. It returns nil when that is nothing, else a *SavedError or why they
// could not even be saved.
func (d *daemon) saveUnwritten() error {
	doc := unwritten{Workspace: d.opts.Workspace.Root, Instance: d.info.Instance, At: d.now().UTC()}
	for _, e := range d.sup.Unwritten() {
		if e.End != nil { // else the attempt's claim was taken long before
			doc.Ends = append(doc.Ends, unwrittenOf(e))
		}
	}
	if len(doc.Ends) == 0 {
		return nil
	}
	path, err := doc.save(atomicfile.OS(), unwrittenDirs(d.opts.Getenv))
	if err != nil {
		d.log.fault("board", "keep ends of attempts that could not be written", err)
		return err
	}
	saved := &SavedError{Path: path, Ends: len(doc.Ends)}
	d.log.fault("board", "write the board", saved)
	return saved
}

// save writes the file into the first of the folders that takes it.
func (u unwritten) save(fsys atomicfile.FS, dirs []string) (path string, err error) {
	data, err := json.MarshalIndent(u, "", "  ")
	if err != nil {
		return "", fmt.Errorf("render unwritten ends: %w", err)
	}
	var errs []error
	for i, dir := range dirs {
		if i < len(dirs)-1 { // the last is the system's
			if err := fsys.MkdirAll(dir, 0o700); err != nil {
				errs = append(errs, fmt.Errorf("make state folder: %w", err))
				continue
			}
		}
		path := filepath.Join(dir, unwrittenPrefix+string(u.Instance)+".json")
		if err := atomicfile.Replace(fsys, path, append(data, '\n'), 0o600); err != nil {
			errs = append(errs, err)
			continue
		}
		return path, nil
	}
	return "", errors.Join(errs...)
}

const (
	unwrittenPrefix = "autonomy-unwritten-"
	unwrittenLimit  = 16 << 20 // bytes of a file that is read back
)

// unwrittenDirs is the user's state folder, if there is one, and the folder for temporary files.
func unwrittenDirs(env func(string) string) []string {
	if env == nil {
		env = os.Getenv
	}
	var dirs []string
	if dir, err := config.StateDir(env); err == nil {
		dirs = append(dirs, dir)
	}
	return append(dirs, os.TempDir())
}

// Unwritten lists the files in which earlier daemons of a workspace kept what they could not write to its board, as
// problems for people. env is nil for os.Getenv.
func Unwritten(ws config.Workspace, env func(string) string) []control.Problem {
	var found []control.Problem
	for _, dir := range unwrittenDirs(env) {
		paths, err := filepath.Glob(filepath.Join(dir, unwrittenPrefix+"*.json"))
		if err != nil {
			continue // only of a malformed pattern
		}
		for _, path := range paths {
			u, err := readUnwritten(path)
			if err != nil || u.Workspace != ws.Root {
				continue
			}
			found = append(found, control.Problem{File: path, Reason: u.remark()})
		}
	}
	return found
}

// remark says what the file is and what to do about it.
func (u unwritten) remark() string {
	text := "the daemon that ended " + u.At.Local().Format("2006-01-02 15:04") + " could not write to the board how it left"
	for i, e := range u.Ends {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" #%d (%s)", e.Task, e.End)
	}
	return text + "; look at the file, then remove it"
}

// readUnwritten reads a file only if it is this user's: the folder for temporary files is open to all.
func readUnwritten(path string) (unwritten, error) {
	var u unwritten
	data, info, err := atomicfile.ReadFile(atomicfile.OS(), path, unwrittenLimit)
	if err != nil {
		return u, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Getuid() {
		return u, fmt.Errorf("%s: %w", path, fs.ErrPermission)
	}
	return u, json.Unmarshal(data, &u)
}
