package doctor

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/autonomy-team/autonomy/internal/sandbox"
)

// Git checks that git is there: the consent to tasks that came with a clone, ignore rules and worktrees need it.
func Git() Check {
	return Check{Name: "git", Run: func(ctx context.Context) Finding {
		const fix = "install git: trust of cloned workspaces, ignore rules and worktrees need it"
		path, err := exec.LookPath("git")
		if err != nil {
			return warning(fix, "not found on PATH")
		}
		cmd := exec.CommandContext(ctx, path, "--version")
		cmd.Env = sandbox.Environ(os.Environ())
		out, err := cmd.Output()
		if err != nil {
			return warning(fix, "%s: %v", path, err)
		}
		return ok("%s", bytes.TrimSpace(out))
	}}
}

// Chromium looks for a browser. Nothing but browser tools needs one, so its absence is no warning.
func Chromium() Check {
	return Check{Name: "chromium", Run: func(context.Context) Finding {
		names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell", "chrome"}
		if runtime.GOOS == "darwin" {
			names = append(names, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium")
		}
		for _, name := range names {
			if path, err := exec.LookPath(name); err == nil {
				return ok("%s", path)
			}
		}
		return skipped("only browser tools need it: install Chromium if you want them", "not found on PATH (optional)")
	}}
}

// Sandbox says how far commands are confined.
func Sandbox() Check {
	return Check{Name: "sandbox", Run: func(context.Context) Finding {
		level, open := sandbox.Reach()
		if level.Effective() {
			return ok("%s", level)
		}
		if level == sandbox.None {
			return ok("launcher only; no sandbox in this version: %s", strings.TrimSuffix(open, "."))
		}
		return warning("run the team in a container, or in mode ask", "%s: %s", level, open)
	}}
}
