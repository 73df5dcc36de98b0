package trust

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/config"
)

// ErrUntrusted says that a workspace was not trusted.
var ErrUntrusted = errors.New("untrusted: run autonomy trust")

// Gate admits the tasks of one workspace to its board. It is a board.Gate.
type Gate struct {
	store *Store
	ws    config.Workspace
	ctx   context.Context // the life of the board that asks: board.Gate's methods have none

	mu         sync.Mutex
	seen       [3]stamp // of trust.json, the workspace's folder and git's index
	known      bool
	busy       bool // a task was refused because git was at work
	generation uint64
	refusal    string            // why no task is admitted; "" when the workspace is trusted
	tracked    map[string]bool   // names in .tasks that git tracks
	accepted   map[string]string // hashes of tracked tasks
}

var _ board.Gate = (*Gate)(nil)

// Gate returns the gate of a workspace. A call of git ends with ctx, which is that of the board's owner.
func (s *Store) Gate(ctx context.Context, ws config.Workspace) *Gate {
	return &Gate{store: s, ws: ws, ctx: ctx}
}

// Generation changes whenever an earlier answer may be wrong. It costs a few stats, and a call of git when its index
// has changed; the board asks at each look.
func (g *Gate) Generation() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refresh()
	return g.generation
}

// Admit returns "" or why a task may not be worked. It looks again each time: between two polls consent may have been
// taken back, or a file may have come with git. Git writes files first and its index last, and holds index.lock
// meanwhile; a file that is there and not in the index is a person's only when that lock is not.
func (g *Gate) Admit(name string, _ board.Task, people []byte) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	locked := g.refresh()
	if g.refusal != "" {
		return g.refusal
	}
	if locked != "" && !g.tracked[name] {
		g.busy = true
		return fmt.Sprintf("untrusted: git is at work (%s is there), looking again", locked)
	}
	if g.tracked[name] && g.accepted[name] != TaskHash(name, people) {
		return fmt.Sprintf("untrusted: %s came with git; run autonomy trust", name)
	}
	return ""
}

// refresh looks again when something has changed, and returns git's lock on its index where there is one. The lock is
// looked for first and the stamps are taken before the look: a change that comes meanwhile is seen the next time.
func (g *Gate) refresh() (locked string) {
	index := gitIndex(g.ws.Tasks())
	if index != "" {
		if _, err := os.Lstat(index + ".lock"); err == nil {
			locked = index + ".lock"
		}
	}
	if g.busy && locked == "" {
		g.busy = false
		g.generation++
	}
	now := [3]stamp{stampOf(g.store.path), folderStamp(g.ws.Root), {}}
	if index != "" {
		now[2] = stampOf(index)
	}
	if g.known && now == g.seen {
		return locked
	}
	refusal, tracked, accepted := g.look()
	if !g.known || refusal != g.refusal || !maps.Equal(tracked, g.tracked) || !maps.Equal(accepted, g.accepted) {
		g.generation++
	}
	g.known, g.seen = true, now
	g.refusal, g.tracked, g.accepted = refusal, tracked, accepted
	if refusal != "" && refusal != ErrUntrusted.Error() {
		g.seen = [3]stamp{} // it could not be told: look again the next time
	}
	return locked
}

func (g *Gate) look() (refusal string, tracked map[string]bool, accepted map[string]string) {
	e, why, err := g.store.of(g.ws)
	if err != nil {
		return "untrusted: " + err.Error(), nil, nil
	}
	if why != "" {
		return ErrUntrusted.Error(), nil, nil
	}
	tracked, err = trackedNames(g.ctx, g.ws)
	if err != nil {
		return "untrusted: cannot tell which tasks came with git: " + err.Error(), nil, nil
	}
	return "", tracked, e.Tasks
}

// folderStamp tells a folder from another under its path; what is in it may change.
func folderStamp(path string) stamp { return stamp{inode: stampOf(path).inode} }
