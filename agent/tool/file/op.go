package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/agent/tool/workspace"
	"github.com/autonomy-team/autonomy/internal/machine"
)

// Tools is the toolset over one workspace.
type Tools struct {
	w   *dir
	all []tool.Tool
}

// Open opens the workspace and makes the tools. Close gives its descriptor back; no call may run then.
func Open(path string) (*Tools, error) {
	opened, err := workspace.Open(path)
	if err != nil {
		return nil, err
	}
	w := &dir{opened}
	return &Tools{w: w, all: []tool.Tool{
		readFile(w), readFiles(w), writeFile(w), editFile(w), listDir(w), statPath(w), moveFile(w), makeDir(w), trashFile(w),
		outlineFile(w), checkSyntax(w),
	}}, nil
}

// All is the tools, in the order of the documentation.
func (t *Tools) All() []tool.Tool { return t.all }

// Close closes the workspace.
func (t *Tools) Close() error { return t.w.Close() }

// dir is the workspace with what writing needs.
type dir struct{ *workspace.Dir }

// op is one tool that reads. A is the struct of its arguments.
type op[A any] struct {
	w     *dir
	name  string
	about string
	paths func(A) []string // what it touches, for the level
	run   func(w *dir, env tool.Env, a A) (string, error)

	once   sync.Once
	schema json.RawMessage // made once: registries are made often
}

func (o *op[A]) Spec() tool.Spec {
	o.once.Do(func() { o.schema = tool.SchemaOf[A]() })
	return tool.Spec{
		Name: o.name, Toolset: "file", Description: o.about, Schema: o.schema, ReadOnly: true, Default: true,
	}
}

// Call gives what the file system says as a result for the model. It fails only where the machine has no descriptors or
// space left. That a folder can only be read is something that a model can go round.
func (o *op[A]) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	a, err := tool.Decode[A](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	text, err := o.run(o.w, call.Env, a)
	if machine.InTrouble(err) && !errors.Is(err, syscall.EROFS) {
		return tool.Result{}, err
	}
	if err != nil {
		return tool.Result{Content: strings.TrimSpace(text + "\nerror: " + err.Error() + way(err)), IsError: true}, nil
	}
	return tool.Result{Content: text}, nil
}

// way is what can be done about a file that is not there.
func way(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "; list_dir or find_files shows what is there"
	}
	return ""
}

func (o *op[A]) Assess(args json.RawMessage, env tool.Env) tool.Assessment {
	found := tool.Assessment{Risk: action.Low, Effect: "read files"}
	for _, p := range o.places(args, env, &found) {
		if p.Class.Secret {
			raise(&found, action.High, p.Name+" may hold a secret")
		}
		if info, err := o.w.Root.Lstat(p.Rel); err == nil && info.Mode().IsRegular() && linkCount(info) > 1 {
			raise(&found, action.Medium, p.Name+" has another name, perhaps outside the workspace")
		}
	}
	return found
}

// places locates all paths of a call; one that can't be located raises the level to MEDIUM, and the call will say why.
func (o *op[A]) places(args json.RawMessage, env tool.Env, found *tool.Assessment) []workspace.Place {
	a, err := tool.Decode[A](args)
	if err != nil {
		raise(found, action.High, err.Error())
		return nil
	}
	var places []workspace.Place
	for _, name := range o.paths(a) {
		p, err := o.w.Locate(env, name)
		if err != nil {
			raise(found, action.Medium, err.Error())
			continue
		}
		places = append(places, p)
	}
	return places
}

var errState = errors.New("holds the program's own state, which only its own commands write; tasks and mail have tools of their own")

func raise(found *tool.Assessment, risk action.Risk, reason string) {
	if found.Risk != action.High {
		found.Risk, found.Reason = risk, reason
	}
}

// change is a tool that writes and whose effect is looked at afterwards.
type change[A any] struct {
	op[A]
	effect, plan string
	verify       func(w *dir, env tool.Env, a A, result string) (bool, string)
}

func (c *change[A]) Spec() tool.Spec {
	spec := c.op.Spec()
	spec.ReadOnly = false
	return spec
}

func (c *change[A]) Assess(args json.RawMessage, env tool.Env) tool.Assessment {
	found := tool.Assessment{Risk: action.Medium, SideEffects: true, Effect: c.effect, Plan: c.plan}
	for _, p := range c.places(args, env, &found) {
		if p.Class.Protected {
			raise(&found, action.High, p.Name+" is protected: it may run code or instruct agents")
		}
		if p.Class.Secret {
			raise(&found, action.High, p.Name+" may hold a secret")
		}
		if p.Class.State {
			found.Refused, found.Risk, found.Reason = true, action.High, p.Name+" "+errState.Error()
		}
	}
	return found
}

func (c *change[A]) Verify(_ context.Context, call tool.Call, result tool.Result) (bool, string) {
	a, err := tool.Decode[A](call.Arguments)
	if err != nil || result.IsError {
		return false, "the call failed"
	}
	return c.verify(c.w, call.Env, a, result.Content)
}

// target locates a path that is to be written. State folders are refused here too, whatever was decided about the call.
func (w *dir) target(env tool.Env, name string) (workspace.Place, error) {
	p, err := w.Locate(env, name)
	switch {
	case err != nil:
		return p, err
	case p.Class.State:
		return p, fmt.Errorf("%s: %w", name, errState)
	case p.Rel == ".":
		return p, fmt.Errorf("%s: %w", name, errors.New("is the workspace itself"))
	}
	return p, nil
}

func linkCount(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}
