package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/daemon"
	"github.com/autonomy-team/autonomy/internal/filelock"
	"github.com/autonomy-team/autonomy/team"
)

// classify decides the exit status of an error and what to advise.
func classify(err error) (code int, hint string) {
	var f *failure
	if errors.As(err, &f) {
		if f.hint != "" || f.code != ExitFailed {
			if f.hint == "" && f.err != nil {
				_, f.hint = classifyCause(f.err)
			}
			return f.code, f.hint
		}
	}
	return classifyCause(err)
}

func classifyCause(err error) (code int, hint string) {
	var (
		remote  *control.Error
		version *control.VersionError
		running *daemon.AlreadyRunningError
		busy    *filelock.BusyError
		name    *team.NameError
		roster  *team.RosterError
	)
	switch {
	case errors.Is(err, config.ErrNoWorkspace):
		return ExitUsage, "or give the folder with -C DIR"
	case errors.As(err, &roster):
		return ExitUsage, "correct the file, or move it away: the roster then starts empty"
	case errors.As(err, &name):
		return ExitUsage, ""
	case errors.Is(err, board.ErrInput):
		return ExitUsage, inputHint(err)
	case errors.Is(err, control.ErrNotRunning):
		return ExitNoDaemon, "start it with 'autonomy up'"
	case errors.As(err, &version):
		return ExitFailed, ""
	case errors.As(err, &running):
		return ExitRunning, ""
	case errors.As(err, &remote):
		switch remote.Code {
		case control.CodeInvalid:
			return ExitUsage, remote.Hint
		case control.CodeRunning:
			return ExitRunning, remote.Hint
		}
		return ExitFailed, remote.Hint
	case errors.Is(err, app.ErrUntrusted):
		return ExitFailed, "'autonomy trust --show' lists what would act"
	case errors.As(err, &busy):
		return ExitFailed, "try again; if it stays so, see who holds it with 'autonomy status'"
	case errors.Is(err, context.Canceled):
		return ExitFailed, ""
	}
	return ExitFailed, boardHint(err)
}

// inputHint names the flag by which a refused value came. The reason begins with the field's name.
func inputHint(err error) string {
	var invalid *board.InvalidError
	if !errors.As(err, &invalid) {
		return ""
	}
	switch field, _, _ := strings.Cut(invalid.Reason, " "); field {
	case "subject":
		return "one line is enough for a subject; what it does not hold is for --description"
	case "metadata":
		return `--metadata takes a JSON object such as '{"ticket": 7}'`
	case "activeForm":
		return "give another --active-form"
	case "blockedBy":
		return "give other numbers with --blocked-by"
	case "steps":
		return "give another --step"
	case "owner":
		return "give another name with --assign"
	case "description", "priority", "role", "requires", "verify", "worktree":
		return "give another --" + field
	}
	return ""
}

// boardHint advises on what the board and the mailboxes refuse.
func boardHint(err error) string {
	var (
		invalid *board.InvalidError
		claimed *board.ClaimedError
		ready   *board.NotReadyError
		state   *board.StateError
		folder  *board.FolderError
	)
	switch {
	case errors.As(err, &invalid):
		return "correct the file; 'autonomy task check' looks at all of them"
	case errors.Is(err, board.ErrNotFound):
		return "'autonomy task list' shows the board"
	case errors.As(err, &claimed):
		return fmt.Sprintf("to take it away: autonomy task release %d", claimed.ID)
	case errors.As(err, &ready):
		return fmt.Sprintf("autonomy task explain %d", ready.ID)
	case errors.As(err, &state):
		return fmt.Sprintf("autonomy task show %d", state.ID)
	case errors.As(err, &folder):
		return "autonomy init makes the folders"
	}
	return ""
}
