package trust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/config"
)

const (
	gitTime = 10 * time.Second
	maxTask = 256 << 10 // bytes of a task file
)

// gitSettings make a call of ours run nothing that the repository names, and ask nobody. safe.directory lets git read
// the index of a folder whose owner is another user: only names are read here.
var gitSettings = [...]string{
	"--no-pager", "--no-optional-locks", "--literal-pathspecs",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat", "-c", "commit.gpgSign=false",
	"-c", "tag.gpgSign=false", "-c", "log.showSignature=false", "-c", "protocol.ext.allow=never",
	"-c", "safe.bareRepository=explicit", "-c", "credential.helper=", "-c", "safe.directory=*",
}

// git runs git in dir and returns its standard output.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append(append([]string{"-C", dir}, gitSettings[:]...), args...)...)
	cmd.Dir = "/"
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_TERMINAL_PROMPT=0",
	}
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, firstLine(stderr.Bytes()))
	}
	return out, nil
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	return string(line)
}

// gitIndex is the index file of the repository that a folder lies in; "" if it lies in none. It starts no program.
func gitIndex(root string) string {
	for at := root; ; at = filepath.Dir(at) {
		dot := filepath.Join(at, ".git")
		info, err := os.Lstat(dot)
		switch {
		case err == nil && info.IsDir():
			return filepath.Join(dot, "index")
		case err == nil && info.Mode().IsRegular(): // of a worktree or submodule: "gitdir: PATH"
			if src, _, err := atomicfile.ReadFile(atomicfile.OS(), dot, 4096); err == nil {
				dir := strings.TrimSpace(strings.TrimPrefix(string(src), "gitdir:"))
				if !filepath.IsAbs(dir) {
					dir = filepath.Join(at, dir)
				}
				return filepath.Join(dir, "index")
			}
		}
		if filepath.Dir(at) == at {
			return ""
		}
	}
}

// trackedNames returns the names in .tasks that git tracks.
func trackedNames(ctx context.Context, ws config.Workspace) (map[string]bool, error) {
	names := map[string]bool{}
	index := gitIndex(ws.Tasks()) // the board may be a repository of its own
	if index == "" {
		return names, nil
	}
	if _, err := os.Stat(index); errors.Is(err, fs.ErrNotExist) {
		return names, nil // nothing was added yet
	}
	if _, err := os.Stat(ws.Tasks()); errors.Is(err, fs.ErrNotExist) {
		return names, nil
	}
	out, err := git(ctx, ws.Tasks(), "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && !strings.Contains(name, "/") {
			names[name] = true
		}
	}
	return names, nil
}

// trackedTasks reads the task files that git tracks and that could be worked.
func trackedTasks(ctx context.Context, ws config.Workspace) ([]Task, error) {
	names, err := trackedNames(ctx, ws)
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for _, name := range sortedKeys(names) {
		src, _, err := atomicfile.ReadFile(atomicfile.OS(), filepath.Join(ws.Tasks(), name), maxTask)
		if err != nil {
			continue // it is not there, or the board calls it invalid
		}
		people := board.PeopleFields(src)
		parsed, err := board.Parse(name, src)
		if err != nil || people == nil {
			continue
		}
		t := Task{Name: name, Subject: parsed.Subject, Verify: parsed.Verify, Hash: TaskHash(name, people)}
		for _, step := range parsed.Steps {
			if step.Tool != "" {
				t.Steps = append(t.Steps, step.Tool+" "+string(step.Arguments))
			} else {
				t.Steps = append(t.Steps, step.Run)
			}
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}
