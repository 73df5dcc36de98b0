package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
)

// Tools is the toolset over one workspace.
type Tools struct {
	w   *workspace
	all []tool.Tool
}

// Open opens the workspace and makes the tools. Close gives its descriptor back; no call may run then.
func Open(path string) (*Tools, error) {
	w, err := openWorkspace(path)
	if err != nil {
		return nil, err
	}
	return &Tools{w: w, all: []tool.Tool{
		readFile(w), readFiles(w), writeFile(w), editFile(w), listDir(w), statPath(w), moveFile(w), makeDir(w), trashFile(w),
		outline(w), checkSyntax(w),
	}}, nil
}

// All is the tools, in the order of the documentation.
func (t *Tools) All() []tool.Tool { return t.all }

// Close closes the workspace.
func (t *Tools) Close() error { return t.w.root.Close() }

// op is one tool that reads. A is the struct of its arguments.
type op[A any] struct {
	w     *workspace
	name  string
	about string
	paths func(A) []string // what it touches, for the level
	run   func(w *workspace, env tool.Env, a A) (string, error)
}

func (o *op[A]) Spec() tool.Spec {
	return tool.Spec{
		Name: o.name, Toolset: "file", Description: o.about, Schema: tool.SchemaOf[A](), ReadOnly: true, Default: true,
	}
}

// Call never fails as a harness: whatever the file system says is a result for the model.
func (o *op[A]) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	a, err := tool.Decode[A](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	text, err := o.run(o.w, call.Env, a)
	if err != nil {
		return tool.Result{Content: strings.TrimSpace(text + "\nerror: " + err.Error()), IsError: true}, nil
	}
	return tool.Result{Content: text}, nil
}

func (o *op[A]) Assess(args json.RawMessage, env tool.Env) tool.Assessment {
	found := tool.Assessment{Risk: action.Low, Effect: "read files"}
	for _, p := range o.places(args, env, &found) {
		if p.class.Secret {
			raise(&found, action.High, p.name+" may hold a secret")
		}
		if info, err := o.w.root.Lstat(p.rel); err == nil && info.Mode().IsRegular() && linkCount(info) > 1 {
			raise(&found, action.Medium, p.name+" has another name, perhaps outside the workspace")
		}
	}
	return found
}

// places locates all paths of a call; one that can't be located raises the level to MEDIUM, and the call will say why.
func (o *op[A]) places(args json.RawMessage, env tool.Env, found *tool.Assessment) []place {
	a, err := tool.Decode[A](args)
	if err != nil {
		raise(found, action.High, err.Error())
		return nil
	}
	var places []place
	for _, name := range o.paths(a) {
		p, err := o.w.locate(env, name)
		if err != nil {
			raise(found, action.Medium, err.Error())
			continue
		}
		places = append(places, p)
	}
	return places
}

func raise(found *tool.Assessment, risk action.Risk, reason string) {
	if found.Risk != action.High {
		found.Risk, found.Reason = risk, reason
	}
}

// change is a tool that writes and whose effect is looked at afterwards.
type change[A any] struct {
	op[A]
	effect, plan string
	verify       func(w *workspace, env tool.Env, a A, result string) (bool, string)
}

func (c *change[A]) Spec() tool.Spec {
	spec := c.op.Spec()
	spec.ReadOnly = false
	return spec
}

func (c *change[A]) Assess(args json.RawMessage, env tool.Env) tool.Assessment {
	found := tool.Assessment{Risk: action.Medium, SideEffects: true, Effect: c.effect, Plan: c.plan}
	for _, p := range c.places(args, env, &found) {
		if p.class.Protected {
			raise(&found, action.High, p.name+" is protected: it may run code or instruct agents")
		}
		if p.class.Secret {
			raise(&found, action.High, p.name+" may hold a secret")
		}
		if p.class.State {
			found.Refused, found.Risk, found.Reason = true, action.High, p.name+" "+errState.Error()
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
func (w *workspace) target(env tool.Env, name string) (place, error) {
	p, err := w.locate(env, name)
	switch {
	case err != nil:
		return p, err
	case p.class.State:
		return p, fmt.Errorf("%s: %w", name, errState)
	case p.rel == ".":
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
