package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
)

// socket is the listening control socket and the files that belong to it.
type socket struct {
	net.Listener
	path string
	addr string // daemon.addr, when the socket is not in the workspace
	file fs.FileInfo
}

// listen makes the control socket, 0600 in a folder of 0700. The daemon's lock is held, so whatever lies at the path is
// a dead daemon's; anything that is not a socket is left alone and refused.
func listen(ws config.Workspace) (*socket, error) {
	path, elsewhere := control.Address(ws, control.RuntimeDir())
	s := &socket{path: path}
	if elsewhere {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("make the runtime folder: %w", err)
		}
		if err := checkFolder(filepath.Dir(path)); err != nil {
			return nil, err
		}
		s.addr = ws.DaemonAddr()
	}
	if err := removeSocket(path); err != nil {
		return nil, err
	}
	var err error
	if s.Listener, err = net.Listen("unix", path); err != nil {
		return nil, fmt.Errorf("listen for the control socket: %w", err)
	}
	s.Listener.(*net.UnixListener).SetUnlinkOnClose(false) // remove does it, last of all
	if s.file, err = os.Lstat(path); err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("close the control socket to others: %w", err), s.remove())
	}
	if s.addr != "" {
		err = atomicfile.Replace(atomicfile.OS(), s.addr, []byte(path+"\n"), 0o600)
	} else if err = os.Remove(ws.DaemonAddr()); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("say where the control socket is: %w", err), s.remove())
	}
	return s, nil
}

func removeSocket(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the control socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return &FolderError{Path: path, Reason: "is in the way of the control socket", Fix: "move it away"}
	}
	return os.Remove(path)
}

// remove takes the socket's files away, which is what a waiting `down` looks for: it comes right before the lock is
// released. What took the place of the socket is another's.
func (s *socket) remove() error {
	_ = s.Close() // the server may have closed it already
	if there, err := os.Lstat(s.path); err == nil && s.file != nil && !os.SameFile(there, s.file) {
		return nil
	}
	err := os.Remove(s.path)
	if s.addr != "" {
		_ = os.Remove(s.addr) // a stale one only costs the next client a failed dial
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the control socket: %w", err)
	}
	return nil
}

type peerKey struct{}

// newServer is the HTTP server over the socket. Base is the context of all its calls, so that streams end with it.
func newServer(base context.Context, cfg control.HandlerConfig) *http.Server {
	cfg.Peer = func(ctx context.Context) (control.Peer, bool) {
		peer, ok := ctx.Value(peerKey{}).(control.Peer)
		return peer, ok
	}
	return &http.Server{
		Handler:           control.NewHandler(cfg),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			if peer, ok := peerOf(conn); ok {
				ctx = context.WithValue(ctx, peerKey{}, peer)
			}
			return ctx
		},
	}
}
