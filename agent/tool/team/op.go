package team

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
)

// op is one tool. A is the struct of its arguments.
type op[A any] struct {
	name   string
	about  string
	reads  bool   // changes nothing
	effect string // of a tool that changes something
	ends   bool   // a call that goes well ends the turn
	run    func(ctx context.Context, call tool.Call, a A) (string, error)
}

// Spec is part of tool.Tool.
func (o op[A]) Spec() tool.Spec {
	return tool.Spec{
		Name: o.name, Toolset: "team", Description: o.about, Schema: tool.SchemaOf[A](), ReadOnly: o.reads, Default: true,
	}
}

// Call is part of tool.Tool. What board and mail refuse is a result for the model, not a failure of the harness.
func (o op[A]) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := tool.Decode[A](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	text, err := o.run(ctx, call, a)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return tool.Result{}, err
	}
	if err != nil {
		return tool.Result{Content: "error: " + err.Error(), IsError: true}, nil
	}
	return tool.Result{Content: text, EndTurn: o.ends}, nil
}

// Assess is part of tool.Assessor: board and mail are validated and carry no authority.
func (o op[A]) Assess(json.RawMessage, tool.Env) tool.Assessment {
	return tool.Assessment{Risk: action.Low, SideEffects: o.effect != "", Effect: o.effect}
}
