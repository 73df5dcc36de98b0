package wire

import (
	"encoding/json"
	"strconv"
	"strings"
)

// fault is what a server says went wrong, whatever shape it said it in.
type fault struct {
	message string
	code    string // as text, also when it was a number
	kind    string // the "type" of OpenAI-like errors
	param   string
	// isJSON says that the body was JSON, so that something that knows the API answered.
	isJSON bool
	html   bool
	empty  bool
}

// status is the HTTP status the body itself claims, 0 when it claims none.
func (f fault) status() int {
	if n, err := strconv.Atoi(f.code); err == nil && n >= 400 && n < 600 {
		return n
	}
	return 0
}

// all is everything said, in lower case, for matching phrases.
func (f fault) all() string {
	return strings.ToLower(f.message + "\n" + f.code + "\n" + f.kind)
}

// readFault reads an error body.
func readFault(body []byte) fault {
	trimmed := strings.TrimSpace(string(body))
	switch {
	case trimmed == "":
		return fault{empty: true}
	case trimmed[0] == '<':
		return fault{html: true, message: "a web page"}
	case !json.Valid([]byte(trimmed)):
		// An error may stand behind "data:" in a body whose status already says that it failed.
		if rest, ok := strings.CutPrefix(trimmed, "data:"); ok && json.Valid([]byte(rest)) {
			return readFault([]byte(rest))
		}
		return fault{message: trimmed}
	}
	f := fault{isJSON: true}
	f.read(json.RawMessage(trimmed), 0)
	return f
}

// read fills f from any JSON value; what is said first counts, what is said deeper is added to the message.
func (f *fault) read(raw json.RawMessage, depth int) {
	if depth > 6 || !present(raw) {
		return
	}
	switch first(raw) {
	case '"':
		f.say(text(raw), depth)
	case '[':
		for _, e := range list(raw) {
			f.read(e, depth+1)
			if f.message != "" {
				return
			}
		}
	case '{':
		f.readObject(object(raw), depth)
	default:
		f.setCode(word(raw))
	}
}

// readObject looks under every name that vendors use, the telling ones first.
func (f *fault) readObject(m fields, depth int) {
	f.setCode(word(m["code"]))
	f.setCode(word(m["status_code"]))
	if f.kind == "" {
		f.kind = text(m["type"])
	}
	if f.param == "" {
		f.param = text(m["param"])
	}
	for _, key := range []string{"error", "errors", "message", "msg", "detail", "title", "error_description"} {
		f.read(m[key], depth+1)
	}
	if f.code == "" {
		f.setCode(word(m["status"]))
	}
	// OpenRouter hides the cause as JSON text.
	f.read(object(m["metadata"])["raw"], depth+1)
	for _, key := range []string{"n_ctx", "n_prompt_tokens"} {
		if n := word(m[key]); n != "" {
			f.say(key+" "+n, depth)
		}
	}
}

// say adds to the message; text that is JSON is read instead.
func (f *fault) say(s string, depth int) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
		f.read(json.RawMessage(s), depth+1)
		return
	}
	switch {
	case s == "" || strings.Contains(f.message, s):
	case f.message == "":
		f.message = s
	case len(f.message) < 4096:
		f.message += ": " + s
	}
}

// setCode keeps the first code, unless that was only a status and a business code follows.
func (f *fault) setCode(code string) {
	if f.code == "" || f.status() != 0 && code != "" && code != "0" {
		f.code = code
	}
}

// chunkFault reports whether a chunk or a 200 body is an error, and which.
func chunkFault(m fields, eventName string) (fault, bool) {
	switch {
	case saysError(m["error"]), eventName == "error":
	case present(m["choices"]):
		return fault{}, false
	case text(m["object"]) == "error", present(m["detail"]), first(m["message"]) == '"', present(m["errors"]),
		present(m["status"]) && present(m["title"]):
	default:
		return fault{}, false
	}
	f := fault{isJSON: true}
	f.readObject(m, 0)
	return f, true
}

// saysError reports whether an error field is more than an empty habit.
func saysError(raw json.RawMessage) bool {
	switch first(raw) {
	case '{':
		return len(object(raw)) > 0
	case '"':
		return text(raw) != ""
	case '[':
		return len(list(raw)) > 0
	}
	return present(raw) && strings.TrimSpace(string(raw)) != "false"
}
