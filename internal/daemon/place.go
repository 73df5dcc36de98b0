package daemon

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy/internal/control"
)

// placeCheck is how often a daemon looks whether its lock and its socket still lie where others look for them.
const placeCheck = time.Second

// DisplacedError says that the lock by which this daemon is the only one lies no more at its place, as after someone
// removed .team: the next daemon would start beside it and take its members for dead.
type DisplacedError struct{ Path string }

func (e *DisplacedError) Error() string {
	return fmt.Sprintf("%s was removed or replaced; this daemon ends, because another one could start beside it", e.Path)
}

// keepPlace ends the daemon at once when its lock is gone, and makes its socket and its logs again when those are. It
// returns when ctx ends and the sockets it made are closed.
func (d *daemon) keepPlace(ctx context.Context) {
	var served sync.WaitGroup
	defer served.Wait()
	tick := time.NewTicker(placeCheck)
	defer tick.Stop()
	for !d.down.Load() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !d.held.InPlace() {
			d.sup.Hurry()
			d.cancel(&DisplacedError{Path: d.opts.Workspace.DaemonLock()})
			return
		}
		switch again, err := d.logFile.stay(); {
		case err != nil:
			d.problem(control.Problem{File: d.opts.Workspace.DaemonLog(), Reason: err.Error()})
		case again:
			d.log.Warn().Msg("the log was removed or replaced and is begun again")
		}
		d.events.Keep() // may have something to say to the log
		if d.sock.inPlace() {
			continue
		}
		made, err := listen(d.opts.Workspace)
		if err != nil {
			d.log.fault("control", "make the control socket again", err)
			d.problem(control.Problem{Reason: "the control socket is gone: " + err.Error()})
			continue
		}
		_ = d.sock.Close() // nobody can reach it
		d.sock = made
		d.log.Info().Str("socket", made.path).Msg("made the control socket again")
		served.Go(func() { d.serveSocket(ctx, made) })
	}
}

// inPlace reports whether the socket is the one at its path, and can be found.
func (s *socket) inPlace() bool {
	there, err := os.Lstat(s.path)
	if err != nil || !os.SameFile(there, s.file) {
		return false
	}
	if s.addr == "" {
		return true
	}
	_, err = os.Lstat(s.addr)
	return err == nil
}
