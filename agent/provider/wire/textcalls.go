package wire

import (
	"encoding/json"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// textForm is one way of writing calls as text: what it begins with and how it is read. read consumes one block at the
// start of s and gives what follows; it fails unless the block is whole.
type textForm struct {
	marks []string
	read  func(b toolbox, s string) (calls []rawCall, rest string, ok bool)
}

// textForms lists the forms that begin with a mark of their own.
func textForms() []textForm {
	return []textForm{
		{[]string{"<tool_call>"}, readHermes},
		{[]string{"<function="}, readQwen},
		{[]string{"[TOOL_CALLS]"}, readMistral},
		{[]string{"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>"}, readDeepSeek},
		{[]string{"<｜DSML｜function_calls>", "<｜DSML｜invoke"}, readDSML},
		{[]string{"<|tool_calls_section_begin|>", "<|tool_call_begin|>"}, readKimi},
	}
}

// findTextCalls finds calls written as text at the end of an answer. Everything from the first mark on must be whole
// calls of known tools with their required arguments, and nothing else; a mark that is quoted does not count. Anything
// that falls short stays prose, because explaining a call must not run it.
func findTextCalls(b toolbox, answer string) (rest string, calls []rawCall, ok bool) {
	at := -1
	var form textForm
	for _, f := range textForms() {
		for _, mark := range f.marks {
			if i := findUnquoted(answer, mark); i >= 0 && (at < 0 || i < at) {
				at, form = i, f
			}
		}
	}
	if at < 0 {
		calls, ok = readBare(b, answer)
		if !ok || !b.runnable(calls) {
			return answer, nil, false
		}
		return "", calls, true
	}
	for s := strings.TrimSpace(answer[at:]); s != ""; s = strings.TrimSpace(s) {
		some, after, ok := form.read(b, s)
		if !ok || len(calls)+len(some) > maxCalls {
			return answer, nil, false
		}
		calls, s = append(calls, some...), after
	}
	if !b.runnable(calls) {
		return answer, nil, false
	}
	return strings.TrimSpace(answer[:at]), calls, true
}

// runnable reports whether all calls name known tools exactly and bring valid, sufficient arguments.
func (b toolbox) runnable(calls []rawCall) bool {
	for i, c := range calls {
		if !b.known(c.name) {
			return false
		}
		obj, _, err := RepairArguments(c.args)
		if err != nil || b.schema(c.name).missing(obj) {
			return false
		}
		calls[i].source = llm.SourceText
	}
	return len(calls) > 0
}

// callObject reads {"name":…,"arguments"|"parameters":…}.
func callObject(s string) (rawCall, bool) {
	m := object(json.RawMessage(s))
	name := text(m["name"])
	args, ok := m["arguments"]
	if !ok {
		args, ok = m["parameters"]
	}
	if name == "" || !ok {
		return rawCall{}, false
	}
	return rawCall{name: name, args: argumentText(args)}, true
}

// readBare takes an answer that is nothing but one call object, bare or fenced.
func readBare(_ toolbox, s string) ([]rawCall, bool) {
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "```"); ok {
		if inner, ok = strings.CutSuffix(inner, "```"); !ok {
			return nil, false
		}
		s = strings.TrimSpace(strings.TrimPrefix(inner, "json"))
	}
	c, ok := callObject(s)
	return []rawCall{c}, ok
}

// readHermes takes <tool_call>…</tool_call>; a block may also be closed by the next opening.
func readHermes(b toolbox, s string) ([]rawCall, string, bool) {
	body := strings.TrimPrefix(s, "<tool_call>")
	end := strings.Index(body, "</tool_call>")
	if end < 0 {
		return nil, "", false
	}
	rest := body[end+len("</tool_call>"):]
	if next := strings.Index(body[:end], "<tool_call>"); next >= 0 {
		rest, end = body[next:], next
	}
	inner := strings.TrimSpace(body[:end])
	switch {
	case strings.HasPrefix(inner, "<function="):
		calls, after, ok := readQwen(b, inner)
		return calls, rest, ok && strings.TrimSpace(after) == ""
	case strings.HasPrefix(inner, "{"):
		c, ok := callObject(inner)
		return []rawCall{c}, rest, ok
	default:
		c, ok := readGLM(b, inner)
		return []rawCall{c}, rest, ok
	}
}

// readQwen takes <function=N><parameter=K>v</parameter>…</function>.
func readQwen(b toolbox, s string) ([]rawCall, string, bool) {
	body, ok := strings.CutPrefix(s, "<function=")
	if !ok {
		return nil, "", false
	}
	name, body, ok := strings.Cut(body, ">")
	if !ok {
		return nil, "", false
	}
	args := fields{}
	for {
		body = strings.TrimSpace(body)
		if rest, ok := strings.CutPrefix(body, "</function>"); ok {
			return []rawCall{{name: name, args: string(encode(args))}}, afterStray(rest), true
		}
		if body, ok = strings.CutPrefix(body, "<parameter="); !ok {
			return nil, "", false
		}
		var key, value string
		if key, body, ok = strings.Cut(body, ">"); !ok {
			return nil, "", false
		}
		if value, body, ok = strings.Cut(body, "</parameter>"); !ok {
			return nil, "", false
		}
		args[key] = b.schema(name).typed(key, trimLine(value))
	}
}

// afterStray drops the closing tag that Qwen templates leave when the opening one was eaten.
func afterStray(s string) string {
	return strings.TrimPrefix(strings.TrimSpace(s), "</tool_call>")
}

// trimLine removes the one line break that templates put around a value.
func trimLine(s string) string {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n")
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}

// readGLM takes NAME<arg_key>K</arg_key><arg_value>v</arg_value>….
func readGLM(b toolbox, s string) (rawCall, bool) {
	name, _, _ := strings.Cut(s, "<arg_key>")
	body := s[len(name):]
	name = strings.TrimSpace(name)
	args := fields{}
	for body = strings.TrimSpace(body); body != ""; body = strings.TrimSpace(body) {
		var key, value string
		var ok bool
		if body, ok = strings.CutPrefix(body, "<arg_key>"); !ok {
			return rawCall{}, false
		}
		if key, body, ok = strings.Cut(body, "</arg_key>"); !ok {
			return rawCall{}, false
		}
		if body, ok = strings.CutPrefix(strings.TrimSpace(body), "<arg_value>"); !ok {
			return rawCall{}, false
		}
		if value, body, ok = strings.Cut(body, "</arg_value>"); !ok {
			return rawCall{}, false
		}
		args[strings.TrimSpace(key)] = b.schema(name).typed(strings.TrimSpace(key), trimLine(value))
	}
	return rawCall{name: name, args: string(encode(args))}, true
}
