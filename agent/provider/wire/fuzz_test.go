package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/autonomy-team/autonomy/agent/llm"
)

func testTools() []llm.Tool {
	return []llm.Tool{
		{Name: "bash", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}`)},
		{Name: "read_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"array"},"raw":{"type":"boolean"}}}`)},
		{Name: "idle"},
	}
}

// answer runs a body through the whole reading side as if it had come with a status.
func answer(t testing.TB, status int, body io.Reader, change func(*Exchange)) (*Exchange, string, error) {
	t.Helper()
	x := &Exchange{Provider: "p", Model: "m", Tools: testTools(), TextCalls: true, Set: fields{}}
	if change != nil {
		change(x)
	}
	base := roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body)}, nil
	})
	req, err := http.NewRequestWithContext(With(t.Context(), x), http.MethodPost, "http://127.0.0.1/v1/chat/completions",
		strings.NewReader(`{"model":"model","messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&Transport{Base: base}).RoundTrip(req)
	if err != nil {
		return x, "", err
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	return x, string(out), err
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"\ufeffdata:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"bash\",\"arguments\":{\"command\":1}}}]}}]}\r\rdata: [DONE]",
		`{"choices":[{"message":{"content":[{"type":"text","text":"x"}],"tool_calls":{"function":{"name":"idle"}}}}],"usage":{"prompt_tokens":1e99}}`,
		`{"error":{"message":["a",{"b":1}],"code":429,"metadata":{"raw":"{\"error\":{\"message\":\"deep\"}}"}}}`,
		"<html>", "event: error\ndata: {\"detail\":[{\"msg\":\"x\"}]}\n\n", ": keep\n\n: alive\n", "[1,2", `[{"error":"x"}]`,
		"data: {\"choices\":[{\"delta\":{\"content\":\"<think>a</think><tool_call>{\\\"name\\\":\\\"idle\\\",\\\"arguments\\\":{}}</tool_call>\"},\"finish_reason\":\"length\"}]}\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		x, out, err := answer(t, 200, strings.NewReader(body), nil)
		if err != nil {
			var known *llm.Error
			if !errors.As(err, &known) || known.Class == "" || len(known.Message) > 2*maxShown {
				t.Fatalf("error %#v", err)
			}
			return
		}
		if !strings.HasSuffix(out, "data: [DONE]\n\n") {
			t.Fatalf("no end mark in %q", out)
		}
		seen := map[string]bool{}
		for _, c := range x.Result.Calls {
			if object(c.Arguments) == nil || c.ID == "" || seen[c.ID] || c.Name == "" {
				t.Fatalf("call %+v", c)
			}
			seen[c.ID] = true
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add("data: {}\n\ndata: [DONE]\n\n", 1)
	f.Add("data: {\r\ndata: \"a\":1}\r\n\r\nid: 3\rretry: 4\r: c\rdata:[DONE]", 3)
	f.Add("event: x\ndata: a\ndata: b\n\n{\"error\":1}\nnot sse", 7)
	f.Fuzz(func(t *testing.T, in string, size int) {
		if size < 1 || size > 100 {
			return
		}
		read := func(r io.Reader) []event {
			s := newEvents(bufio.NewReader(r))
			var all []event
			for {
				e, err := s.next()
				if err != nil {
					return all
				}
				if len(e.data) == 0 {
					t.Fatal("an event without data")
				}
				all = append(all, e)
			}
		}
		whole, pieces := read(strings.NewReader(in)), read(&dribble{in, size})
		if len(whole) != len(pieces) {
			t.Fatalf("%d events at once, %d in pieces of %d", len(whole), len(pieces), size)
		}
	})
}

// dribble gives a few bytes at a time.
type dribble struct {
	s string
	n int
}

func (d *dribble) Read(p []byte) (int, error) {
	if d.s == "" {
		return 0, io.EOF
	}
	n := copy(p, d.s[:min(d.n, len(d.s))])
	d.s = d.s[n:]
	return n, nil
}

func FuzzMerge(f *testing.F) {
	f.Add(`[{"index":0,"id":"a","function":{"name":"bash","arguments":"{"}},{"index":0,"function":{"arguments":"}"}}]`)
	f.Add(`[{"name":"ba"},{"name":"sh"},{"function":{"arguments":{"a":1}}},{"index":7},{"index":null,"id":3}]`)
	f.Fuzz(func(t *testing.T, in string) {
		tools := newToolbox(testTools())
		m := newMerger(tools.known)
		total := 0
		for _, raw := range list(json.RawMessage(in)) {
			if e, ok := readEntry(raw); ok {
				total += len(e.args)
				m.add(e)
			}
		}
		got := 0
		for _, s := range m.slots {
			got += s.args.Len()
		}
		if got > total || len(m.slots) > maxCalls || !m.full && got != total {
			t.Fatalf("%d bytes of arguments came, %d are kept in %d slots", total, got, len(m.slots))
		}
	})
}

func FuzzRepairArguments(f *testing.F) {
	for _, s := range []string{
		`{"a":1}`, `"{\"a\":1}"`, "```json\n{\"a\":1}\n```", `[{"a":1}]`, "{\"a\":\"x\ny\"}", `{"a":1,}`,
		`{'a': True, 'b': (1, None)}`, `{"a":"`, `{}</tool_call><|end|>`, "null", "", `{"a":1}{"b":2}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		obj, changed, err := RepairArguments(in)
		if err != nil {
			return
		}
		if object(obj) == nil {
			t.Fatalf("%q became %q", in, obj)
		}
		if again, changedAgain, err := RepairArguments(string(obj)); err != nil || changedAgain || string(again) != string(obj) {
			t.Fatalf("repair is not stable: %q then %q", obj, again)
		}
		if !changed && !json.Valid([]byte(strings.TrimSpace(in))) && strings.TrimSpace(in) != "" {
			t.Fatalf("%q was repaired without saying so", in)
		}
	})
}

func FuzzTextCalls(f *testing.F) {
	for _, s := range []string{
		`<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>`, `[TOOL_CALLS]bash[ARGS]{"command":"x"}`,
		"<function=bash><parameter=command>\nls\n</parameter></function>", "a </think> b", "<think>x\n<think>y</think>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if !utf8.ValidString(in) {
			return // text from JSON always is
		}
		thinking, rest := splitThinking(in)
		if len(thinking)+len(rest) > len(in) {
			t.Fatalf("%q grew to %q and %q", in, thinking, rest)
		}
		tools := newToolbox(testTools())
		answer, calls, ok := findTextCalls(tools, rest)
		if !ok && (answer != rest || calls != nil) || ok && !tools.runnable(calls) {
			t.Fatalf("ok %v, answer %q, calls %+v", ok, answer, calls)
		}
		d := newDisplay(true)
		shown := ""
		for _, r := range in {
			_, s := d.add(string(r))
			shown += s
		}
		if !strings.HasPrefix(in, shown) && !strings.Contains(in, "think") {
			t.Fatalf("showed %q of %q", shown, in)
		}
	})
}
