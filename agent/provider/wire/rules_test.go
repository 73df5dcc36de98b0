package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// The tests in this file go rule by rule through what servers are known to send; each case is one body as it arrives.

// chunk is one data line with a delta.
func chunkLine(delta string) string {
	return `data: {"choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n"
}

// finishLine is the chunk that ends a turn.
func finishLine(reason string) string {
	return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n"
}

func content(s string) string { return chunkLine(`{"content":` + string(quote(s)) + `}`) }

func calls(entries string) string { return chunkLine(`{"tool_calls":[` + entries + `]}`) }

const doneLine = "data: [DONE]\n\n"

// show renders calls in short form.
func show(calls []llm.ToolCall) string {
	var out []string
	for _, c := range calls {
		s := fmt.Sprintf("%s=%s%s", c.ID, c.Name, c.Arguments)
		if c.Problem != "" {
			s += "!"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

type rule struct {
	name, body string
	text       string
	thinking   string
	calls      string
	class      llm.Class // "" for a good answer
}

func (r rule) run(t *testing.T) {
	t.Helper()
	x, _, err := answer(t, 200, strings.NewReader(r.body), nil)
	var e *llm.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("unclassed error %v", err)
	}
	if e == nil && r.class != "" || e != nil && e.Class != r.class {
		t.Fatalf("error %v, want class %q", err, r.class)
	}
	if e != nil {
		return
	}
	thinking := ""
	for _, th := range x.Result.Thinking {
		thinking += th.Text
	}
	if x.Result.Text != r.text || thinking != r.thinking || show(x.Result.Calls) != r.calls {
		t.Errorf("got text %q, thinking %q, calls %q\nwant     %q,          %q,       %q",
			x.Result.Text, thinking, show(x.Result.Calls), r.text, r.thinking, r.calls)
	}
}

func runRules(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { r.run(t) })
	}
}

func TestRule1_ReadTheStreamAsBytes(t *testing.T) {
	const hi = `{"choices":[{"delta":{"content":"hi"}}]}`
	const end = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	runRules(t, []rule{
		{name: "no space after data, CRLF", body: "data:" + hi + "\r\n\r\ndata:" + end + "\r\n\r\n", text: "hi"},
		{name: "lone CR", body: "data: " + hi + "\r\rdata: " + end + "\r\r", text: "hi"},
		{name: "BOM", body: "\ufeffdata: " + hi + "\n\ndata: " + end + "\n\n", text: "hi"},
		{name: "no blank lines", body: "data: " + hi + "\ndata: " + end + "\ndata: [DONE]\n", text: "hi"},
		{name: "no newline at the end", body: "data: " + hi + "\n\ndata: " + end, text: "hi"},
		{name: "event over several lines", body: "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: " + end + "\n\n", text: "hi"},
		{name: "the same with CRLF", body: "data: {\"choices\":\r\ndata: [{\"delta\":{\"content\":\"hi\"}}]}\r\n\r\ndata: " + end + "\r\n\r\n", text: "hi"},
		{name: "comments, ids, retries, unknown fields", body: ": OPENROUTER PROCESSING\n\n:\nid: 1\nretry: 5\nfoo: bar\ndata: " + hi + "\n\ndata: " + end + "\n\n", text: "hi"},
		{name: "empty data and comment in data", body: "data:\n\ndata: : ping\n\ndata: " + hi + "\n\ndata: " + end + "\n\n", text: "hi"},
		{name: "blank lines while queued", body: "\n\n\n   \n{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}", text: "hi"},
		{name: "a line of 200 kB", body: content(strings.Repeat("x", 200_000)) + finishLine("stop"), text: strings.Repeat("x", 200_000)},
		{name: "500 keep-alives", body: strings.Repeat(": k\n\n", 500) + content("hi") + finishLine("stop"), text: "hi"},
	})
	t.Run("a character split over reads", func(t *testing.T) {
		x, _, err := answer(t, 200, &dribble{content("héß世界") + finishLine("stop"), 1}, nil)
		if err != nil || x.Result.Text != "héß世界" {
			t.Errorf("got %q, %v", x.Result.Text, err)
		}
	})
	t.Run("too large a line", func(t *testing.T) {
		_, _, err := answer(t, 200, strings.NewReader("data: "+strings.Repeat("x", maxLine+2)), nil)
		if llm.ClassOf(err) != llm.Protocol {
			t.Errorf("got %v", err)
		}
	})
}

func TestRule2_KnowWhenATurnIsComplete(t *testing.T) {
	whole := `{"index":0,"id":"a","function":{"name":"idle","arguments":"{}"}}`
	runRules(t, []rule{
		{name: "cut text", body: content("half"), class: llm.Cut},
		{name: "cut with arguments that parse", body: calls(whole), class: llm.Cut},
		{name: "end mark without finish", body: content("hi") + doneLine, text: "hi"},
		{name: "finish without end mark", body: content("hi") + finishLine("stop"), text: "hi"},
		{name: "empty finish is none", body: content("hi") + `data: {"choices":[{"delta":{},"finish_reason":""}]}` + "\n\n", class: llm.Cut},
		{name: "unknown finish is one", body: content("hi") + finishLine("eos_token"), text: "hi"},
		{name: "JSON body where a stream was asked", body: `{"choices":[{"message":{"content":"hi"}}]}`, text: "hi"},
		{name: "message in place of delta", body: `data: {"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\n", text: "hi"},
		{name: "message repeats the deltas", body: content("hi") + calls(whole) + `data: {"choices":[{"message":{"content":"hi","tool_calls":[` + whole + `]},"finish_reason":"stop"}]}` + "\n\n", text: "hi", calls: "a=idle{}"},
		{name: "cut JSON body", body: `{"choices":[{"message":{"content":"hi`, class: llm.Cut},
		{name: "nothing at all", body: "", class: llm.Server},
		{name: "only keep-alives", body: ": a\n\n: b\n\n", class: llm.Server},
	})
}

func TestRule3_LookForAnErrorEverywhere(t *testing.T) {
	runRules(t, []rule{
		{name: "error beside choices", body: content("x") + `data: {"id":"1","choices":[{"delta":{"content":""}}],"error":{"code":502,"message":"Provider returned error"}}` + "\n\n", class: llm.Server},
		{name: "error as string, late key", body: `data: {"id":"1","error":"model crashed"}` + "\n\n", class: llm.Server},
		{name: "event: error", body: "event: error\ndata: {\"message\":\"boom\"}\n\n", class: llm.Server},
		{name: "finish error", body: content("x") + finishLine("error"), class: llm.Server},
		{name: "error in a 200 body", body: `{"error":{"code":429,"message":"slow down"}}`, class: llm.Rate},
		{name: "error in an array", body: `[{"error":{"code":401,"message":"bad key"}}]`, class: llm.Auth},
		{name: "choices null", body: `{"id":"x","choices":null}`, class: llm.Server},
		{name: "empty choices in a stream are skipped", body: `data: {"choices":[]}` + "\n\n" + content("hi") + finishLine("stop"), text: "hi"},
		{name: "null error is none", body: `data: {"error":null,"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\n", text: "hi"},
		{name: "web page", body: "<!doctype html><html>hello", class: llm.Protocol},
		{name: "prose", body: "Welcome to the server!\n", class: llm.Protocol},
		{name: "line that is no JSON, then nothing", body: "data: upstream exploded\n\n", class: llm.Protocol},
		{name: "line that is no JSON, then an answer", body: "data: warming up\n\n" + content("hi") + finishLine("stop"), text: "hi"},
		{name: "object error", body: `data: {"object":"error","message":"context_length_exceeded","code":400}` + "\n\n", class: llm.Overflow},
		{name: "llama.cpp overflow in a stream", body: "error: {\"code\":400}\ndata: {\"error\":{\"code\":400,\"message\":\"the request exceeds the available context size\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9000,\"n_ctx\":4096}}\n\n", class: llm.Overflow},
		{name: "error inside the choice", body: `data: {"choices":[{"delta":{},"error":{"code":429,"message":"x"},"finish_reason":"error"}]}` + "\n\n", class: llm.Rate},
		{name: "JSON that is no completion", body: `{"hello":"world"}`, class: llm.Protocol},
	})
}

func TestRule4_MergeCallsByEvidence(t *testing.T) {
	end := finishLine("tool_calls")
	runRules(t, []rule{
		{name: "the usual two", body: calls(`{"index":0,"id":"a","function":{"name":"bash","arguments":""}}`) + calls(`{"index":0,"function":{"arguments":"{\"command\":"}}`) +
			calls(`{"index":0,"function":{"arguments":"\"ls\"}"}}`) + calls(`{"index":1,"id":"b","function":{"name":"idle","arguments":"{}"}}`) + end, calls: `a=bash{"command":"ls"} b=idle{}`},
		{name: "all with index 0, ids differ", body: calls(`{"index":0,"id":"a","function":{"name":"idle","arguments":"{}"}}`) + calls(`{"index":0,"id":"b","function":{"name":"idle","arguments":"{}"}}`) + end, calls: "a=idle{} b=idle{}"},
		{name: "all with index 0, ids differ, no arguments", body: calls(`{"index":0,"id":"a","function":{"name":"idle"}}`) + calls(`{"index":0,"id":"b","function":{"name":"idle"}}`) + end, calls: "a=idle{} b=idle{}"},
		{name: "index 0, no ids, names differ", body: calls(`{"index":0,"function":{"name":"idle","arguments":"{}"}}`) + calls(`{"index":0,"function":{"name":"bash","arguments":"{\"command\":\"x\"}"}}`) + end, calls: `call_1=idle{} call_2=bash{"command":"x"}`},
		{name: "index 0, no ids, same name twice whole", body: calls(`{"index":0,"function":{"name":"idle","arguments":"{}"}}`) + calls(`{"index":0,"function":{"name":"idle","arguments":"{}"}}`) + end, calls: "call_1=idle{} call_2=idle{}"},
		{name: "new call takes over the index", body: calls(`{"index":0,"id":"a","function":{"name":"idle","arguments":"{}"}}`) + calls(`{"index":0,"id":"b","function":{"name":"bash","arguments":"{\"command\""}}`) + calls(`{"index":0,"function":{"arguments":":\"x\"}"}}`) + end, calls: `a=idle{} b=bash{"command":"x"}`},
		{name: "no index, by id", body: calls(`{"id":"a","function":{"name":"bash","arguments":"{\"command\":"}}`) + calls(`{"id":"a","function":{"arguments":"\"x\"}"}}`) + calls(`{"id":"b","function":{"name":"idle"}}`) + end, calls: `a=bash{"command":"x"} b=idle{}`},
		{name: "no index, no id in the rest", body: calls(`{"id":"a","function":{"name":"bash","arguments":"{\"command\":"}}`) + calls(`{"function":{"arguments":"\"x\"}"}}`) + end, calls: `a=bash{"command":"x"}`},
		{name: "id comes late", body: calls(`{"index":0,"function":{"name":"bash","arguments":"{\"command\":"}}`) + calls(`{"index":0,"id":"late","function":{"arguments":"\"x\"}"}}`) + end, calls: `late=bash{"command":"x"}`},
		{name: "same id under two indexes", body: calls(`{"index":0,"id":"a","function":{"name":"idle","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"bash","arguments":"{\"command\":\"x\"}"}}`) + end, calls: `a=idle{} call_1=bash{"command":"x"}`},
		{name: "indexes with holes", body: calls(`{"index":7,"id":"a","function":{"name":"idle","arguments":"{}"}}`) + calls(`{"index":3,"id":"b","function":{"name":"idle","arguments":"{}"}}`) + end, calls: "a=idle{} b=idle{}"},
		{name: "stray index for the rest", body: calls(`{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\":"}}`) + calls(`{"index":1,"function":{"arguments":"\"x\"}"}}`) + end, calls: `a=bash{"command":"x"}`},
		{name: "name repeated in every chunk", body: calls(`{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\":"}}`) + calls(`{"index":0,"id":"a","function":{"name":"bash","arguments":"\"x\"}"}}`) + end, calls: `a=bash{"command":"x"}`},
		{name: "name in pieces", body: calls(`{"index":0,"id":"a","function":{"name":"read"}}`) + calls(`{"index":0,"function":{"name":"_file"}}`) + calls(`{"index":0,"function":{"arguments":"{}"}}`) + end, calls: "a=read_file{}"},
		{name: "two objects in one slot", body: calls(`{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\":\"x\"}{\"command\":\"y\"}"}}`) + end, calls: `a=bash{"command":"x"} call_1=bash{"command":"y"}`},
		{name: "arguments as object", body: calls(`{"index":0,"id":"a","function":{"name":"bash","arguments":{"command":"x"}}}`) + end, calls: `a=bash{"command":"x"}`},
		{name: "one object in place of a list", body: chunkLine(`{"tool_calls":{"id":"a","function":{"name":"idle","arguments":null}}}`) + end, calls: "a=idle{}"},
		{name: "legacy function_call", body: chunkLine(`{"function_call":{"name":"bash","arguments":"{\"command\":"}}`) + chunkLine(`{"function_call":{"arguments":"\"x\"}"}}`) + finishLine("function_call"), calls: `call_1=bash{"command":"x"}`},
		{name: "flattened entry", body: calls(`{"id":"a","name":"idle","arguments":"{}"}`) + end, calls: "a=idle{}"},
	})
}

func TestRule4_IdsAreKeptUnlessTheyCannotStand(t *testing.T) {
	long := strings.Repeat("x", 41)
	body := calls(`{"index":0,"id":"`+long+`","function":{"name":"idle","arguments":"{}"}},
		{"index":1,"id":"functions.idle:0","function":{"name":"idle","arguments":"{}"}},
		{"index":2,"id":"used","function":{"name":"idle","arguments":"{}"}},
		{"index":3,"id":"toolu_ok.:/","function":{"name":"idle","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}`) + doneLine
	body = strings.ReplaceAll(body, ",\n\t\t", ",")
	x, _, err := answer(t, 200, strings.NewReader(body), func(x *Exchange) {
		x.IDLimit = 40
		x.Used = map[string]bool{"used": true, "functions.idle:0": true, "functions.bash:4": true}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := show(x.Result.Calls); got != "call_1=idle{} functions.idle:5=idle{} call_2=idle{} toolu_ok.:/=idle{}" {
		t.Errorf("got %s", got)
	}
	if got := string(x.Result.Calls[3].Extra["extra_content"]); got != `{"google":{"thought_signature":"s"}}` {
		t.Errorf("extra_content is %s", got)
	}
}

func TestRule5_CallsPresentDecide(t *testing.T) {
	call := calls(`{"index":0,"id":"a","function":{"name":"idle","arguments":"{}"}}`)
	runRules(t, []rule{
		{name: "stop with calls", body: call + finishLine("stop"), calls: "a=idle{}"},
		{name: "tool_calls without calls", body: content("done") + finishLine("tool_calls"), text: "done"},
		{name: "length runs no call", body: content("x") + call + finishLine("length"), text: "x", calls: "a=idle{}!"},
		{name: "content_filter", body: content("x") + finishLine("content_filter"), class: llm.Content},
		{name: "sensitive", body: finishLine("sensitive"), class: llm.Content},
		{name: "refusal", body: chunkLine(`{"refusal":"I cannot"}`) + finishLine("stop"), class: llm.Content},
		{name: "window exceeded", body: finishLine("model_context_window_exceeded"), class: llm.Overflow},
		{name: "no resources", body: finishLine("insufficient_system_resource"), class: llm.Server},
		{name: "network error", body: finishLine("network_error"), class: llm.Server},
	})
}
