package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// assembler turns the chunks of one answer into canonical lines and, at the end, into the exchange's Result.
type assembler struct {
	x      *Exchange
	status int
	header http.Header
	out    *bytes.Buffer

	tools    toolbox
	merger   *merger
	display  *display
	thoughts thoughts
	refusal  strings.Builder

	finish string
	done   bool   // the end mark was seen
	whole  bool   // a JSON body with valid choices: complete without a finish_reason
	deltas bool   // something came in a delta, so a closing message only repeats it
	junk   []byte // the last line that was no JSON, if nothing valid followed
	valid  bool   // some chunk was valid
}

// newAssembler starts an answer; what an earlier try of the exchange left is forgotten.
func newAssembler(x *Exchange, resp *http.Response, out *bytes.Buffer) *assembler {
	tools := newToolbox(x.Tools)
	x.Result = Result{Header: resp.Header, RequestID: requestID(resp.Header)}
	return &assembler{
		x: x, status: resp.StatusCode, header: resp.Header, out: out, tools: tools, merger: newMerger(tools.known),
		display: newDisplay(x.TextCalls && len(x.Tools) > 0),
	}
}

// complete reports whether the turn may be used: it named a reason to finish, or the end mark came.
func (a *assembler) complete() bool { return a.finish != "" || a.done || a.whole }

// take reads one event of a stream or one JSON body; a returned error ends the answer.
func (a *assembler) take(e event, isBody bool) error {
	if e.done() {
		a.done = true
		return nil
	}
	m := object(e.data)
	if m == nil {
		for _, element := range list(e.data) {
			if f, bad := chunkFault(object(element), e.name); bad {
				return a.x.classify(a.status, a.header, f)
			}
		}
		if e.name == "error" {
			return a.x.classify(a.status, a.header, readFault(e.data))
		}
		a.junk = e.data
		return nil
	}
	if f, bad := chunkFault(m, e.name); bad {
		return a.x.classify(a.status, a.header, f)
	}
	choices := list(m["choices"])
	if isBody && len(choices) == 0 {
		return a.choiceless(m)
	}
	a.valid, a.junk = true, nil
	a.meta(m)
	for _, raw := range choices {
		c := object(raw)
		if i, ok := number(c["index"]); ok && i != 0 && len(choices) > 1 {
			continue
		}
		if err := a.choice(c); err != nil {
			return err
		}
	}
	a.whole = a.whole || isBody
	return nil
}

// choiceless is the error of a JSON body that says neither an answer nor an error.
func (a *assembler) choiceless(m fields) error {
	if _, ok := m["choices"]; ok {
		return a.x.err(llm.Server, "the answer has no choices")
	}
	e := a.x.err(llm.Protocol, "the answer is JSON but no chat completion")
	e.Hint = checkURL
	return e
}

// meta reads what stands beside the choices.
func (a *assembler) meta(m fields) {
	if model := text(m["model"]); model != "" {
		a.x.Result.Model = clip(model, 200)
	}
	if id := text(m["id"]); id != "" && a.x.Result.RequestID == "" {
		a.x.Result.RequestID = clip(id, 128)
	}
	a.usage(m["usage"])
}

// usage keeps the last usage that says something: servers repeat it, send null, or put it into the choice.
func (a *assembler) usage(raw json.RawMessage) {
	if u, ok := readUsage(raw); ok {
		a.x.Result.Usage, a.x.Result.UsageSeen = u, true
	}
}

// choice reads one choice of a chunk, or of a whole body, which has message in place of delta. A message after deltas
// only repeats them.
func (a *assembler) choice(c fields) error {
	if saysError(c["error"]) {
		f := fault{isJSON: true}
		f.read(c["error"], 0)
		return a.x.classify(a.status, a.header, f)
	}
	a.usage(c["usage"])
	if reason := word(c["finish_reason"]); reason != "" && reason != "null" {
		a.finish = reason
	}
	delta := object(c["delta"])
	message := object(c["message"])
	switch {
	case len(delta) > 0:
		a.deltas = true
		a.delta(delta)
	case len(message) > 0 && !a.deltas:
		a.delta(message)
	}
	return nil
}

// delta reads a piece of the message, or a whole one.
func (a *assembler) delta(d fields) {
	shown := false
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if piece := text(d[name]); a.thoughts.add(name, piece) {
			a.emit("reasoning_content", piece)
			shown = true
		}
	}
	if details := d["reasoning_details"]; present(details) {
		if piece := a.thoughts.addDetails(details); a.thoughts.add("reasoning_details", piece) && !shown {
			a.emit("reasoning_content", piece)
		}
	}
	a.content(d["content"])
	a.refusal.WriteString(text(d["refusal"]))
	if extra := d["extra_content"]; present(extra) {
		a.x.Result.Extra = fields{"extra_content": extra}
	}
	for _, raw := range list(d["tool_calls"]) {
		if e, ok := readEntry(raw); ok {
			a.merger.add(e)
		}
	}
	if e, ok := readEntry(d["function_call"]); ok {
		a.merger.add(e)
	}
}

// content reads a string or a list of parts.
func (a *assembler) content(raw json.RawMessage) {
	if first(raw) == '"' {
		a.say(text(raw))
		return
	}
	for _, part := range list(raw) {
		if first(part) == '"' {
			a.say(text(part))
			continue
		}
		m := object(part)
		switch text(m["type"]) {
		case "thinking", "reasoning":
			piece := partText(m["thinking"]) + partText(m["reasoning"])
			if piece == "" {
				piece = text(m["text"])
			}
			if a.thoughts.add("parts", piece) {
				a.emit("reasoning_content", piece)
			}
		default:
			a.say(text(m["text"]))
		}
	}
}

// partText is the text of a part that is a string or again a list of parts (Mistral).
func partText(raw json.RawMessage) string {
	if first(raw) == '"' {
		return text(raw)
	}
	var b strings.Builder
	for _, p := range list(raw) {
		b.WriteString(text(object(p)["text"]))
	}
	return b.String()
}

// say takes a piece of content and emits what may be shown of it.
func (a *assembler) say(piece string) {
	thinking, answer := a.display.add(piece)
	a.emit("reasoning_content", thinking)
	a.emit("content", answer)
}

// emit writes one canonical delta.
func (a *assembler) emit(field, piece string) {
	if piece != "" {
		a.chunk(map[string]any{"index": 0, "delta": map[string]any{field: piece}}, nil)
	}
}

// chunk writes one canonical line.
func (a *assembler) chunk(choice any, usage any) {
	c := map[string]any{"object": "chat.completion.chunk", "choices": []any{}}
	if choice != nil {
		c["choices"] = []any{choice}
	}
	if usage != nil {
		c["usage"] = usage
	}
	a.out.WriteString("data: ")
	a.out.Write(encode(c))
	a.out.WriteString("\n\n")
}

// cut is the error of an answer that ended too early; readErr is why, nil at a bare end.
func (a *assembler) cut(readErr error) error {
	var known *llm.Error
	switch {
	case errors.As(readErr, &known):
		return known
	case errors.Is(readErr, errTooLarge):
		return a.x.err(llm.Protocol, "the answer is too large")
	case readErr != nil:
		e := a.x.err(llm.Cut, "the connection broke: "+readErr.Error())
		e.Err = readErr
		return e
	case a.junk != nil && !a.valid:
		e := a.x.classify(a.status, a.header, readFault(a.junk))
		if e.Class == llm.Server && a.status < 400 {
			e.Class, e.Hint = llm.Protocol, checkURL
		}
		return e
	case !a.valid:
		return a.x.err(llm.Server, "the answer is empty")
	default:
		return a.x.err(llm.Cut, "the stream ended before the answer was complete")
	}
}
