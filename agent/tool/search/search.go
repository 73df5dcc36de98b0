package search

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/agent/tool/workspace"
	"github.com/autonomy-team/autonomy/internal/outline"
	"github.com/autonomy-team/autonomy/internal/sandbox"
)

// Config says where to search. Both fields are required.
type Config struct {
	Workspace string
	Sandbox   sandbox.Config // git runs under the launcher like every program
}

// Tools is the toolset over one workspace.
type Tools struct {
	dir      *workspace.Dir
	sandbox  sandbox.Config
	outliner func() *outline.Outliner
	all      []tool.Tool
}

// Open opens the workspace and makes the tools. Close gives its descriptor back; no call may run then.
func Open(c Config) (*Tools, error) {
	switch {
	case c.Workspace == "":
		return nil, errors.New("search config: Workspace is required")
	case c.Sandbox.Self == "":
		return nil, errors.New("search config: Sandbox.Self is required")
	}
	dir, err := workspace.Open(c.Workspace)
	if err != nil {
		return nil, err
	}
	t := &Tools{dir: dir, sandbox: c.Sandbox, outliner: sync.OnceValue(outline.New)}
	t.all = []tool.Tool{
		&finder[textArgs]{
			name: "search_text", run: t.searchText, path: func(a textArgs) string { return a.Path }, tools: t,
			about: "Find text in files by a regular expression (RE2) or literally. Files that git ignores are left out.",
		},
		&finder[filesArgs]{
			name: "find_files", run: t.findFiles, path: func(a filesArgs) string { return a.Path }, tools: t,
			about: "Find files by a glob such as *.go or src/**/test_*.py. Files that git ignores are left out.",
		},
		&finder[symbolArgs]{
			name: "find_symbol", run: t.findSymbol, path: func(a symbolArgs) string { return a.Path }, tools: t,
			about: "Find where a function, type, class, constant or heading of a name is declared.",
		},
	}
	return t, nil
}

// All is the tools, in the order of the documentation.
func (t *Tools) All() []tool.Tool { return t.all }

// Close closes the workspace.
func (t *Tools) Close() error { return t.dir.Close() }

// finder is one tool. A is the struct of its arguments.
type finder[A any] struct {
	tools *Tools
	name  string
	about string
	path  func(A) string
	run   func(ctx context.Context, env tool.Env, a A) (string, error)

	once   sync.Once
	schema json.RawMessage
}

func (f *finder[A]) Spec() tool.Spec {
	f.once.Do(func() { f.schema = tool.SchemaOf[A]() })
	return tool.Spec{Name: f.name, Toolset: "search", Description: f.about, Schema: f.schema, ReadOnly: true, Default: true}
}

func (f *finder[A]) Assess(args json.RawMessage, env tool.Env) tool.Assessment {
	found := tool.Assessment{Risk: action.Low, Effect: "search files"}
	a, err := tool.Decode[A](args)
	if err == nil {
		_, err = f.tools.dir.Locate(env, f.path(a))
	}
	if err != nil {
		found.Risk, found.Reason = action.Medium, err.Error()
	}
	return found
}

func (f *finder[A]) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := tool.Decode[A](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	text, err := f.run(ctx, call.Env, a)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case err != nil:
		return tool.Result{Content: "error: " + err.Error(), IsError: true}, nil
	}
	return tool.Result{Content: strings.TrimRight(text, "\n")}, nil
}
