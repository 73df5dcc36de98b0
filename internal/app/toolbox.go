package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/agent/tool/file"
	"github.com/autonomy-team/autonomy/agent/tool/search"
	teamtool "github.com/autonomy-team/autonomy/agent/tool/team"
	"github.com/autonomy-team/autonomy/agent/tool/terminal"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/sandbox"
	"github.com/autonomy-team/autonomy/team"
)

// toolbox is the tools that work on files and commands of one workspace. It is opened once and serves any number of
// agents at once.
type toolbox struct {
	terminal terminal.Config
	shell    []tool.Tool
	files    *file.Tools
	search   *search.Tools
}

// openToolbox makes the tools. execLock is .team/exec.lock for a daemon's attempts, "" else.
func (a *App) openToolbox(execLock string) (*toolbox, error) {
	self := a.opts.Program
	if self == "" {
		var err error
		if self, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find the launcher: %w", err)
		}
	}
	b := &toolbox{terminal: terminal.Config{
		Sandbox: sandbox.Config{Self: self}, ExecLock: execLock,
		Redact: func(w io.WriteCloser) io.WriteCloser { return a.redact.Writer(w) },
	}}
	var err error
	if b.shell, err = terminal.New(b.terminal); err != nil {
		return nil, err
	}
	if b.files, err = file.Open(a.ws.Root); err != nil {
		return nil, fmt.Errorf("open the workspace for the file tools: %w", err)
	}
	if b.search, err = search.Open(search.Config{Workspace: a.ws.Root, Sandbox: b.terminal.Sandbox}); err != nil {
		return nil, errors.Join(fmt.Errorf("open the workspace for the search tools: %w", err), b.files.Close())
	}
	return b, nil
}

// close gives the descriptors back; no call may run.
func (b *toolbox) close() error { return errors.Join(b.files.Close(), b.search.Close()) }

// tools are those of one agent, processes those it has of its own. The order is that of the documentation.
func (b *toolbox) tools(processes *terminal.Processes) []tool.Tool {
	return slices.Concat(b.files.All(), b.search.All(), b.shell, processes.Tools())
}

// processes is an agent's table of processes that stay while its run goes on. finished hears of their ends; nil = nobody.
func (b *toolbox) processes(finished func(terminal.Finished)) (*terminal.Processes, error) {
	return terminal.OpenProcesses(b.terminal, finished)
}

// catalogue is every tool there is, for lists and for what tasks require. Nothing in it can be called.
func (a *App) catalogue() (*tool.Registry, error) {
	box, err := a.openToolbox("")
	if err != nil {
		return nil, err
	}
	processes, err := box.processes(nil)
	if err != nil {
		return nil, errors.Join(err, box.close())
	}
	defer processes.Close(a.life) // none is started
	dir, err := a.Board()
	if err != nil {
		return nil, errors.Join(err, box.close())
	}
	shared, err := teamtool.New(teamtool.Config{
		Board: dir,
		Claim: func(context.Context, autonomy.AgentName, autonomy.TaskID) (board.Task, error) {
			return board.Task{}, team.ErrNotServing
		},
		Send:   func(context.Context, inbox.Message) (string, error) { return "", team.ErrNotServing },
		Unread: func(context.Context, autonomy.AgentName) (int, error) { return 0, team.ErrNotServing },
		Submit: func(context.Context, tool.Env, string) (string, error) { return "", team.ErrNotServing },
		Review: func(context.Context, autonomy.AgentName, string, bool, string) error { return team.ErrNotServing },
		Crew:   crew{},
	})
	if err != nil {
		return nil, errors.Join(err, box.close())
	}
	all, err := tool.New(append(box.tools(processes), shared...)...)
	return all, errors.Join(err, box.close())
}

// Toolsets is the catalogue of toolsets as `tools list` shows it.
func (a *App) Toolsets() ([]tool.Toolset, error) {
	all, err := a.specs()
	if err != nil {
		return nil, err
	}
	return tool.Catalog(all, nil), nil
}

// ToolNames names the toolsets and tools a member has, for what tasks require. The board asks for it with every look for
// work, so the answer is remembered; the caller must not change it.
func (a *App) ToolNames(m team.Spec) []string {
	key := fmt.Sprintf("%q", m.Toolsets)
	if m.Toolsets == nil {
		key = "usual"
	}
	if names, ok := a.names.Load(key); ok {
		return names.([]string)
	}
	names := a.toolNames(m)
	a.names.Store(key, names)
	return names
}

func (a *App) toolNames(m team.Spec) []string {
	all, err := a.specs()
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range all.Available(m.Toolsets).List() {
		if !slices.Contains(names, s.Toolset) {
			names = append(names, s.Toolset)
		}
		names = append(names, s.Name)
	}
	return names
}
