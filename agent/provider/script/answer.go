package script

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// piece is how many bytes of text or arguments go into one chunk: small, so that readers meet split calls.
const piece = 24

type object = map[string]any

// sendStream writes the reply as server-sent events, text and arguments in pieces.
func (s *Server) sendStream(w http.ResponseWriter, r Reply, promptBytes int) {
	w.Header().Set("Content-Type", "text/event-stream")
	flusher, _ := w.(http.Flusher)
	event := func(v any) {
		data, _ := json.Marshal(v) // maps of strings and numbers cannot fail
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		if flusher != nil {
			flusher.Flush()
		}
	}
	delta := func(d object) { event(s.chunk(object{"index": 0, "delta": d})) }

	delta(object{"role": "assistant", "content": ""})
	for _, p := range pieces(r.Thinking) {
		delta(object{"reasoning_content": p})
	}
	for _, p := range pieces(r.Text) {
		delta(object{"content": p})
	}
	for i, c := range r.Calls {
		delta(object{"tool_calls": []object{{
			"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""},
		}}})
		for _, p := range pieces(c.text()) {
			delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": p}}}})
		}
	}
	if r.Cut {
		return
	}
	event(s.chunk(object{"index": 0, "delta": object{}, "finish_reason": r.finish()}))
	if !r.NoUsage {
		last := s.chunk(nil)
		last["choices"] = []object{}
		last["usage"] = usageObject(r.usage(promptBytes))
		event(last)
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

// chunk is the frame of one stream event.
func (s *Server) chunk(choice object) object {
	return object{
		"id": "script", "object": "chat.completion.chunk", "created": 0, "model": s.player.script.Model,
		"choices": []object{choice},
	}
}

// sendJSON writes the reply as one JSON body; a cut one ends in the middle.
func (s *Server) sendJSON(w http.ResponseWriter, r Reply, promptBytes int) {
	message := object{"role": "assistant", "content": r.Text}
	if r.Thinking != "" {
		message["reasoning_content"] = r.Thinking
	}
	if len(r.Calls) > 0 {
		calls := make([]object, len(r.Calls))
		for i, c := range r.Calls {
			calls[i] = object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.text()}}
		}
		message["tool_calls"] = calls
	}
	answer := s.chunk(object{"index": 0, "message": message, "finish_reason": r.finish()})
	answer["object"] = "chat.completion"
	if !r.NoUsage {
		answer["usage"] = usageObject(r.usage(promptBytes))
	}
	data, _ := json.Marshal(answer)
	if r.Cut {
		data = data[:len(data)/2]
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data)
}

// usageObject is usage in the words of the OpenAI API.
func usageObject(u llm.Usage) object {
	out := object{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
	}
	if u.Cached > 0 {
		out["prompt_tokens_details"] = object{"cached_tokens": u.Cached}
	}
	if u.Thinking > 0 {
		out["completion_tokens_details"] = object{"reasoning_tokens": u.Thinking}
	}
	return out
}

// pieces cuts s into chunks of whole characters.
func pieces(s string) []string {
	var out []string
	start := 0
	for i := range s {
		if i-start >= piece {
			out = append(out, s[start:i])
			start = i
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
