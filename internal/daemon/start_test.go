package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/filelock"
)

func emptyWorkspace(t *testing.T) config.Workspace {
	t.Helper()
	ws, err := config.At(shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

func TestFoldersAreMadePrivate(t *testing.T) {
	ws := emptyWorkspace(t)
	if err := prepareFolders(ws); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{ws.Team(), ws.Inbox(), ws.Transcripts(), ws.Requests(), ws.Autonomy(), ws.Runs()} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
}

func TestUnsafeFoldersStopTheStart(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		want string
	}{
		{"writable by others", func(t *testing.T, dir string) {
			if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
				t.Fatal(err)
			}
		}, "others may write"},
		{"a link", func(t *testing.T, dir string) {
			if err := os.Symlink(t.TempDir(), dir); err != nil {
				t.Fatal(err)
			}
		}, "not a folder"},
		{"a file", func(t *testing.T, dir string) {
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a folder"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws := emptyWorkspace(t)
			tt.make(t, ws.Team())
			err := prepareFolders(ws)
			var folder *FolderError
			if !errors.As(err, &folder) || !strings.Contains(folder.Reason, tt.want) || folder.Fix == "" {
				t.Errorf("error = %v, want a FolderError with %q and a fix", err, tt.want)
			}
		})
	}
}

// Whatever lies at the socket's place and is no socket is somebody's, and stays.
func TestSocketDoesNotReplaceAFile(t *testing.T) {
	ws := emptyWorkspace(t)
	if err := prepareFolders(ws); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ws.Socket(), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := listen(ws); err == nil {
		s.remove()
		t.Fatal("listened over a file")
	}
	if data, _ := os.ReadFile(ws.Socket()); string(data) != "mine" {
		t.Errorf("the file is now %q", data)
	}
}

func TestSocketIsPrivateAndGoesAway(t *testing.T) {
	ws := emptyWorkspace(t)
	if err := prepareFolders(ws); err != nil {
		t.Fatal(err)
	}
	dead, err := net.Listen("unix", ws.Socket()) // what a killed daemon leaves
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close()
	s, err := listen(ws)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(ws.Socket())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", info.Mode(), err)
	}
	if err := s.remove(); err != nil {
		t.Errorf("remove: %v", err)
	}
	if _, err := os.Lstat(ws.Socket()); err == nil {
		t.Error("the socket is still there")
	}
}

func TestStartWaitsForCommandsOfADeadDaemon(t *testing.T) {
	ws := emptyWorkspace(t)
	if err := prepareFolders(ws); err != nil {
		t.Fatal(err)
	}
	_, release, err := filelock.OpenShared(t.Context(), ws.ExecLock())
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 1)
	done := make(chan error, 1)
	go func() { done <- awaitCommands(t.Context(), ws, func(text string) { told <- text }) }()
	select {
	case err := <-done:
		t.Fatalf("did not wait: %v", err)
	case <-told:
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("after they were gone: %v", err)
	}
}

func TestStartGivesUpOnCommandsThatStay(t *testing.T) {
	ws := emptyWorkspace(t)
	if err := prepareFolders(ws); err != nil {
		t.Fatal(err)
	}
	_, release, err := filelock.OpenShared(t.Context(), ws.ExecLock())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := awaitCommands(ctx, ws, func(string) {}); err == nil || !strings.Contains(err.Error(), "earlier daemon") {
		t.Errorf("error = %v", err)
	}
}

func TestDescendantsAreRecognised(t *testing.T) {
	if isDescendant(os.Getpid()) || isDescendant(1) || isDescendant(os.Getppid()) {
		t.Error("the process itself, init or its parent counts as its descendant")
	}
	child := exec.Command("sleep", "30")
	child.Dir = filepath.Dir(os.Args[0])
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	if !isDescendant(child.Process.Pid) {
		t.Error("a child is not recognised")
	}
	if !isDescendant(1 << 30) {
		t.Error("a process that can't be looked at must count as one")
	}
}
