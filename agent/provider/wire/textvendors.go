package wire

import (
	"encoding/json"
	"regexp"
	"strings"
)

// leadingJSON cuts one JSON value off the start of s.
func leadingJSON(s string) (value json.RawMessage, rest string, ok bool) {
	dec := json.NewDecoder(strings.NewReader(s))
	if dec.Decode(&value) != nil {
		return nil, "", false
	}
	return value, s[dec.InputOffset():], true
}

// readMistral takes [TOOL_CALLS]N[ARGS]{…} and [TOOL_CALLS] [{…},…].
func readMistral(_ toolbox, s string) ([]rawCall, string, bool) {
	body, ok := strings.CutPrefix(s, "[TOOL_CALLS]")
	if !ok {
		return nil, "", false
	}
	body = strings.TrimSpace(body)
	if strings.HasPrefix(body, "[") {
		value, rest, ok := leadingJSON(body)
		if !ok {
			return nil, "", false
		}
		var calls []rawCall
		for _, e := range list(value) {
			c, ok := callObject(string(e))
			if !ok {
				return nil, "", false
			}
			calls = append(calls, c)
		}
		return calls, rest, len(calls) > 0
	}
	name, body, ok := strings.Cut(body, "[ARGS]")
	if !ok {
		return nil, "", false
	}
	value, rest, ok := leadingJSON(body)
	return []rawCall{{name: strings.TrimSpace(name), args: string(value)}}, rest, ok
}

// readDeepSeek takes DeepSeek's special tokens, with the arguments fenced (V3, R1) or bare (V3.1).
func readDeepSeek(_ toolbox, s string) ([]rawCall, string, bool) {
	body, wrapped := strings.CutPrefix(s, "<｜tool▁calls▁begin｜>")
	var calls []rawCall
	for {
		body = strings.TrimSpace(body)
		one, ok := strings.CutPrefix(body, "<｜tool▁call▁begin｜>")
		if !ok {
			break
		}
		one, rest, ok := strings.Cut(one, "<｜tool▁call▁end｜>")
		if !ok {
			return nil, "", false
		}
		name, args, ok := strings.Cut(one, "<｜tool▁sep｜>")
		if !ok {
			return nil, "", false
		}
		if name == "function" {
			if name, args, ok = strings.Cut(args, "\n"); !ok {
				return nil, "", false
			}
			args = stripDecoration(strings.TrimSpace(args))
		}
		calls, body = append(calls, rawCall{name: strings.TrimSpace(name), args: args}), rest
	}
	if wrapped {
		var closed bool
		if body, closed = strings.CutPrefix(body, "<｜tool▁calls▁end｜>"); !closed {
			return nil, "", false
		}
	}
	return calls, strings.TrimPrefix(strings.TrimSpace(body), "<｜end▁of▁sentence｜>"), len(calls) > 0
}

// The tags of DeepSeek's markup language.
var (
	dsmlInvoke = regexp.MustCompile(`^<｜DSML｜invoke name="([^"]*)">`)
	dsmlParam  = regexp.MustCompile(`^<｜DSML｜parameter name="([^"]*)"(?: string="(true|false)")?>`)
)

// readDSML takes <｜DSML｜invoke name="N"><｜DSML｜parameter name="K" string="true">v…; a parameter says itself whether
// it is a string.
func readDSML(b toolbox, s string) ([]rawCall, string, bool) {
	body, wrapped := strings.CutPrefix(s, "<｜DSML｜function_calls>")
	var calls []rawCall
	for {
		body = strings.TrimSpace(body)
		m := dsmlInvoke.FindStringSubmatch(body)
		if m == nil {
			break
		}
		one, rest, ok := strings.Cut(body[len(m[0]):], "</｜DSML｜invoke>")
		if !ok {
			return nil, "", false
		}
		args, ok := dsmlParams(b.schema(m[1]), one)
		if !ok {
			return nil, "", false
		}
		calls, body = append(calls, rawCall{name: m[1], args: string(encode(args))}), rest
	}
	if wrapped {
		var closed bool
		if body, closed = strings.CutPrefix(body, "</｜DSML｜function_calls>"); !closed {
			return nil, "", false
		}
	}
	return calls, body, len(calls) > 0
}

// dsmlParams reads the parameters of one invocation; anything between them spoils it.
func dsmlParams(sc schema, s string) (fields, bool) {
	args := fields{}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		m := dsmlParam.FindStringSubmatch(s)
		if m == nil {
			return nil, false
		}
		value, rest, ok := strings.Cut(s[len(m[0]):], "</｜DSML｜parameter>")
		if !ok {
			return nil, false
		}
		if m[2] == "true" {
			args[m[1]] = quote(value)
		} else {
			args[m[1]] = sc.typed(m[1], value)
		}
		s = rest
	}
	return args, true
}

// readKimi takes Kimi's section tokens; the id names the tool.
func readKimi(_ toolbox, s string) ([]rawCall, string, bool) {
	body, wrapped := strings.CutPrefix(s, "<|tool_calls_section_begin|>")
	var calls []rawCall
	for {
		body = strings.TrimSpace(body)
		one, ok := strings.CutPrefix(body, "<|tool_call_begin|>")
		if !ok {
			break
		}
		one, rest, ok := strings.Cut(one, "<|tool_call_end|>")
		if !ok {
			return nil, "", false
		}
		id, args, ok := strings.Cut(one, "<|tool_call_argument_begin|>")
		if !ok {
			return nil, "", false
		}
		id = strings.TrimSpace(id)
		m := kimiID.FindStringSubmatch(id)
		if m == nil {
			return nil, "", false
		}
		calls, body = append(calls, rawCall{id: id, name: m[1], args: args}), rest
	}
	if wrapped {
		var closed bool
		if body, closed = strings.CutPrefix(body, "<|tool_calls_section_end|>"); !closed {
			return nil, "", false
		}
	}
	return calls, body, len(calls) > 0
}
