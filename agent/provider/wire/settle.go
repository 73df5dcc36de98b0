package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// cutCall is what a call of an answer that hit the length limit gets as its result.
const cutCall = "output was cut; send smaller calls"

// settle judges the whole answer once it is complete: what is thinking, what is text, which calls may run. It fills the
// Result and writes the rest of the canonical stream.
func (a *assembler) settle() error {
	if err := a.finishFault(); err != nil {
		return err
	}
	r := &a.x.Result
	tagged, answer := splitThinking(a.display.text.String())
	calls := a.native()
	if len(calls) == 0 && a.x.TextCalls && len(a.x.Tools) > 0 {
		if rest, found, ok := findTextCalls(a.tools, answer); ok {
			answer, calls = rest, found
		}
	}
	r.Text = answer
	r.Finish = llm.StopEnd
	if a.finish == "length" {
		r.Finish = llm.StopLength
	}
	r.Calls = a.settleCalls(calls, r.Finish == llm.StopLength)
	if len(r.Calls) > 0 && r.Finish == llm.StopEnd {
		r.Finish = llm.StopCalls
	}
	if thought := a.thoughts.text(tagged); thought != "" || len(a.thoughts.details) > 0 {
		t := llm.Thinking{Provider: a.x.Provider, Text: thought}
		if len(a.thoughts.details) > 0 {
			t.Raw = encode(a.thoughts.details)
		}
		r.Thinking = []llm.Thinking{t}
	}
	left, ok := a.display.finish(answer)
	r.Restated = !ok
	a.close(left)
	return nil
}

// close writes the end of the canonical stream.
func (a *assembler) close(left string) {
	r := &a.x.Result
	a.emit("content", left)
	for i, c := range r.Calls {
		a.chunk(map[string]any{"index": 0, "delta": map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": string(c.Arguments)},
		}}}}, nil)
	}
	reason := map[llm.StopReason]string{
		llm.StopEnd: "stop", llm.StopCalls: "tool_calls", llm.StopLength: "length",
	}[r.Finish]
	a.chunk(map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}, nil)
	a.chunk(nil, map[string]any{
		"prompt_tokens": r.Usage.Prompt, "completion_tokens": r.Usage.Completion, "total_tokens": r.Usage.Total(),
	})
	a.out.WriteString("data: [DONE]\n\n")
}

// finishFault is the error that a finish_reason or a refusal means, nil when the answer is good.
func (a *assembler) finishFault() error {
	if refusal := strings.TrimSpace(a.refusal.String()); refusal != "" {
		return a.x.err(llm.Content, "the model refused: "+refusal)
	}
	var class llm.Class
	switch a.finish {
	case "content_filter", "sensitive", "refusal":
		class = llm.Content
	case "error", "network_error", "insufficient_system_resource":
		class = llm.Server
	case "model_context_window_exceeded":
		class = llm.Overflow
	default:
		return nil
	}
	e := a.x.err(class, "the answer ended with "+a.finish)
	a.x.explain(e, fault{message: a.finish})
	return e
}

// native are the calls that came as calls, with multi_tool_use unfolded and several objects in one slot told apart.
func (a *assembler) native() []rawCall {
	var out []rawCall
	for _, s := range a.merger.slots {
		args := s.args.String()
		if inner, ok := a.tools.unfold(s.name, args); ok {
			out = append(out, inner...)
			continue
		}
		for i, piece := range splitObjects(args) {
			c := rawCall{name: s.name, args: piece}
			if i == 0 {
				c.id, c.extra = s.id, s.extra
			}
			out = append(out, c)
		}
	}
	if a.merger.full || len(out) > maxCalls {
		a.note(fmt.Sprintf("Only the first %d tool calls of a turn are taken; the others were dropped.", maxCalls))
		out = out[:min(len(out), maxCalls)]
	}
	return out
}

// settleCalls gives each call its id, tool and arguments, or the problem that keeps it from running.
func (a *assembler) settleCalls(calls []rawCall, cut bool) []llm.ToolCall {
	ids := NewIDs(a.x.Used, a.x.IDLimit)
	var out []llm.ToolCall
	for _, c := range calls {
		if strings.TrimSpace(c.name) == "" {
			a.note("A tool call without a name was dropped; name the tool in every call.")
			continue
		}
		call := llm.ToolCall{ID: ids.Assign(c.id), Source: c.source, Extra: c.extra}
		a.resolve(&call, c)
		if cut {
			call.Problem = cutCall
		}
		out = append(out, call)
	}
	return out
}

// resolve gives a call its tool and arguments. Of two problems the name's counts: arguments of an unknown tool say
// nothing.
func (a *assembler) resolve(call *llm.ToolCall, c rawCall) {
	name, ok := a.tools.resolve(c.name)
	if !ok {
		call.Name = clip(strings.TrimSpace(c.name), 128)
		call.Problem = a.tools.unknown(c.name)
	} else {
		call.Name = name
		call.Repaired = name != c.name
	}
	args, changed, err := RepairArguments(c.args)
	if err != nil {
		call.Arguments = json.RawMessage("{}")
		if call.Problem == "" {
			call.Problem = clip(err.Error(), 300)
		}
		return
	}
	call.Repaired = call.Repaired || changed
	coerced, ok := a.tools.schema(call.Name).coerce(args)
	if ok {
		call.Sent = args
		call.Repaired = true
	}
	call.Arguments = coerced
}

// note keeps a remark for the model, once.
func (a *assembler) note(s string) {
	for _, n := range a.x.Result.Notes {
		if n == s {
			return
		}
	}
	a.x.Result.Notes = append(a.x.Result.Notes, s)
}
