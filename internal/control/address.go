package control

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/autonomy-team/autonomy/internal/config"
)

// maxSocketPath is what fits into the address of a Unix socket everywhere we run: 104 bytes on darwin, 108 on Linux,
// one of them for the final zero.
const maxSocketPath = 103

// Address is the path of the socket that a daemon of the workspace listens on: in the workspace, or, where that path is
// longer than the system allows, in the runtime folder under a name made from the workspace's path. The second result
// says which.
func Address(ws config.Workspace, runtimeDir string) (path string, elsewhere bool) {
	if path = ws.Socket(); len(path) <= maxSocketPath {
		return path, false
	}
	sum := sha256.Sum256([]byte(ws.Root))
	return filepath.Join(runtimeDir, hex.EncodeToString(sum[:8])+".sock"), true
}

// RuntimeDir is the private folder for sockets whose own place has too long a name: a subfolder of XDG_RUNTIME_DIR,
// else of the temporary folder with the user's id in the name. The caller makes it 0700 and checks its owner.
func RuntimeDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && len(dir) < maxSocketPath-40 {
		return filepath.Join(dir, "autonomy")
	}
	dir := os.TempDir()
	if len(dir) >= maxSocketPath-40 {
		dir = "/tmp"
	}
	return filepath.Join(dir, fmt.Sprintf("autonomy-%d", os.Getuid()))
}

// locate finds the socket of a running daemon: daemon.addr if it is there, else the place in the workspace. A place that
// could not be one, without daemon.addr, is ErrNotRunning.
func locate(ws config.Workspace) (string, error) {
	data, err := os.ReadFile(ws.DaemonAddr())
	if errors.Is(err, fs.ErrNotExist) {
		if len(ws.Socket()) > maxSocketPath {
			return "", ErrNotRunning
		}
		return ws.Socket(), nil
	}
	if err != nil {
		return "", fmt.Errorf("find the daemon's socket: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}
