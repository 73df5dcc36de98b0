package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// page is one raw answer of a server. The zero status is 200.
type page struct {
	status int
	body   string
}

// strictServer gives raw answers one after the other, then one that ends the run. It refuses what the strictest servers
// refuse in a history, and remembers why.
type strictServer struct {
	url string

	mu      sync.Mutex
	pages   []page
	bodies  [][]byte
	refused []string
}

func newStrictServer(t *testing.T, pages ...page) *strictServer {
	t.Helper()
	s := &strictServer{pages: pages}
	srv := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(srv.Close)
	s.url = srv.URL + "/v1"
	return s
}

func (s *strictServer) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body) // a short body is refused below
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	if err := strictly(body); err != nil {
		s.refused = append(s.refused, fmt.Sprintf("request %d: %v", len(s.bodies), err))
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, err)
		return
	}
	next := page{body: stream(`{"content":"done"}`) + ending("stop")}
	if len(s.pages) > 0 {
		next, s.pages = s.pages[0], s.pages[1:]
	}
	if next.status == 0 {
		next.status = http.StatusOK
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body) // the client may have seen enough
}

// stream is one event with a delta, ending the one that finishes a turn.
func stream(delta string) string { return `data: {"choices":[{"delta":` + delta + `}]}` + "\n\n" }

func ending(reason string) string {
	return `data: {"choices":[{"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n"
}

// native is an event with entries of tool_calls.
func native(entries string) string { return stream(`{"tool_calls":[` + entries + `]}`) }

// spoken is a text as one delta.
func spoken(text string) string {
	quoted, _ := json.Marshal(text) // a string cannot fail
	return stream(`{"content":` + string(quoted) + `}`)
}

// wireMessage is a message as it is sent, with its fields told apart from absent and null.
type wireMessage struct {
	fields map[string]json.RawMessage
	role   string
	calls  []wireCall
}

type wireCall struct {
	ID       string
	Type     string
	Index    *int
	Function struct{ Name, Arguments string }
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// strictly says why a request would be refused.
func strictly(body []byte) error {
	var req struct {
		Model      string            `json:"model"`
		Stream     bool              `json:"stream"`
		Messages   []json.RawMessage `json:"messages"`
		ToolChoice any               `json:"tool_choice"`
		Tools      []struct {
			Function struct {
				Name       string
				Parameters map[string]any
			}
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if req.Model != "m" || !req.Stream || len(req.Messages) == 0 {
		return fmt.Errorf("model %q, stream %v, %d messages", req.Model, req.Stream, len(req.Messages))
	}
	if req.ToolChoice != nil && req.ToolChoice != "auto" {
		return fmt.Errorf("tool_choice %v", req.ToolChoice)
	}
	for _, tool := range req.Tools {
		if !toolName.MatchString(tool.Function.Name) || tool.Function.Parameters["type"] != "object" {
			return fmt.Errorf("tool %+v", tool)
		}
	}
	return strictHistory(req.Messages)
}

func strictHistory(raw []json.RawMessage) error {
	open := []string{} // calls whose results come next, in order
	used := map[string]bool{}
	for i, text := range raw {
		m, err := strictMessage(text)
		switch {
		case err != nil:
		case m.role == "tool" && len(open) == 0:
			err = fmt.Errorf("a result of no call")
		case m.role == "tool" && string(m.fields["tool_call_id"]) != fmt.Sprintf("%q", open[0]):
			err = fmt.Errorf("the result of %s where that of %q is due", m.fields["tool_call_id"], open[0])
		case m.role == "tool":
			open = open[1:]
		case len(open) > 0:
			err = fmt.Errorf("call %q has no result", open[0])
		case m.role == "system" && i > 0:
			err = fmt.Errorf("a late system message")
		}
		for _, c := range m.calls {
			if used[c.ID] {
				err = fmt.Errorf("id %q is used twice", c.ID)
			}
			used[c.ID] = true
			open = append(open, c.ID)
		}
		if err != nil {
			return fmt.Errorf("message %d: %w: %s", i, err, text)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("call %q has no result at the end", open[0])
	}
	return nil
}

func strictMessage(text json.RawMessage) (wireMessage, error) {
	var m wireMessage
	if err := json.Unmarshal(text, &m.fields); err != nil {
		return m, err
	}
	m.role = strings.Trim(string(m.fields["role"]), `"`)
	known := map[string]string{
		"system": "role content", "user": "role content", "assistant": "role content tool_calls reasoning_content", "tool": "role content tool_call_id",
	}[m.role]
	for name := range m.fields {
		if !strings.Contains(" "+known+" ", " "+name+" ") {
			return m, fmt.Errorf("field %q in a message of role %q", name, m.role)
		}
	}
	var content *string
	if err := json.Unmarshal(m.fields["content"], &content); err != nil || content == nil {
		return m, fmt.Errorf("content is no string")
	}
	if calls := m.fields["tool_calls"]; calls != nil {
		decoder := json.NewDecoder(bytes.NewReader(calls))
		if err := decoder.Decode(&m.calls); err != nil {
			return m, err
		}
	}
	if *content == "" && len(m.calls) == 0 {
		return m, fmt.Errorf("empty message")
	}
	for _, c := range m.calls {
		var object map[string]any
		if err := json.Unmarshal([]byte(c.Function.Arguments), &object); err != nil || object == nil {
			return m, fmt.Errorf("arguments %q", c.Function.Arguments)
		}
		if c.ID == "" || len(c.ID) > 40 || c.Type != "function" || c.Index != nil || !toolName.MatchString(c.Function.Name) {
			return m, fmt.Errorf("call %+v", c)
		}
	}
	return m, nil
}

// Without teeth the server would prove nothing.
func TestTheStrictServerIsStrict(t *testing.T) {
	const call = `{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{}"}}]}`
	const result = `{"role":"tool","tool_call_id":"a","content":"x"}`
	const hi = `{"role":"user","content":"hi"}`
	for messages, good := range map[string]bool{
		hi:                             true,
		hi + "," + call + "," + result: true,
		hi + "," + call:                false,
		hi + "," + result:              false,
		hi + "," + call + "," + hi + "," + result:                                            false,
		hi + `,{"role":"system","content":"late"}`:                                           false,
		hi + `,{"role":"assistant","content":""}`:                                            false,
		hi + `,{"role":"assistant","content":null}`:                                          false,
		hi + "," + strings.Replace(call, `"{}"`, `"{"`, 1) + "," + result:                    false,
		hi + "," + strings.Replace(call, `"type":"function",`, "", 1) + "," + result:         false,
		hi + "," + strings.Replace(call, `"id":"a"`, `"id":"a","index":0`, 1) + "," + result: false,
		hi + "," + call + "," + strings.Replace(result, `"tool"`, `"tool","name":"bash"`, 1): false,
		hi + "," + call + "," + result + "," + call + "," + result:                           false,
	} {
		err := strictly([]byte(`{"model":"m","stream":true,"messages":[` + messages + `]}`))
		if (err == nil) != good {
			t.Errorf("%s: %v", messages, err)
		}
	}
}
