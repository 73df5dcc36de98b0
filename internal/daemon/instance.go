package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/filelock"
	"github.com/autonomy-team/autonomy/internal/ulid"
)

// lockInfo is the content of daemon.lock. Only Instance means something to the program; the rest is for people. Nobody
// is ever signalled by a pid that was read from a file.
type lockInfo struct {
	Instance  autonomy.InstanceID `json:"instance"`
	PID       int                 `json:"pid"`
	StartedAt time.Time           `json:"started_at"`
	Host      string              `json:"host,omitempty"`
	BootID    string              `json:"boot_id,omitempty"`
	Version   string              `json:"version"`
}

// lockPatience is how long a start waits for a daemon that is on its way out.
const lockPatience = 500 * time.Millisecond

// holdInstance makes this process the daemon of the workspace until the returned lock is released or the process dies.
func holdInstance(ctx context.Context, ws config.Workspace, now time.Time) (*filelock.Held, lockInfo, error) {
	info := lockInfo{
		Instance: autonomy.InstanceID(ulid.New()), PID: os.Getpid(), StartedAt: now.UTC(),
		BootID: bootID(), Version: control.Version(),
	}
	info.Host, _ = os.Hostname() // for people; the lock is what counts
	data, err := json.Marshal(info)
	if err != nil {
		return nil, info, fmt.Errorf("write the lock's information: %w", err)
	}
	held, err := filelock.Hold(ctx, ws.DaemonLock(), append(data, '\n'), lockPatience)
	if busy := (*filelock.BusyError)(nil); errors.As(err, &busy) {
		var other lockInfo
		_ = json.Unmarshal([]byte(busy.Holder), &other) // unreadable: the pid stays unknown
		return nil, info, &AlreadyRunningError{PID: other.PID, Instance: other.Instance}
	}
	if err != nil {
		return nil, info, fmt.Errorf("become the daemon: %w", err)
	}
	return held, info, nil
}

func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
