package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/filelock"
)

// execPatience is how long a start waits for the commands of a daemon that died. Their launchers kill them within
// moments, so a longer wait means that one can't be killed.
const execPatience = 10 * time.Second

// awaitCommands returns once no command of an earlier daemon runs. Only then may its claims be taken.
func awaitCommands(ctx context.Context, ws config.Workspace, say func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, execPatience)
	defer cancel()
	lock := filelock.New(ws.ExecLock())
	for told := false; ; {
		unlock, err := lock.Acquire(ctx)
		if err == nil {
			return unlock()
		}
		if !errors.Is(err, filelock.ErrBusy) {
			return fmt.Errorf("wait for the commands of an earlier daemon to end: %w", err)
		}
		if !told {
			say("waiting for commands of an earlier daemon to end")
			told = true
		}
	}
}
