package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider"
)

// quirk is what a server really sends, and what a run over it must do and must not do.
type quirk struct {
	name     string
	provider string // "" = custom
	pages    []page
	ran      string // what was executed, in order
	ids      string // ids in the history of the last request
	requests int
	fails    bool     // the run does not end by an answer
	tells    []string // what the last request has to say
	text     string   // of the report; "" = done
	prompt   int      // tokens of the prompt that the report counts; 0 = not looked at
}

// quirkTools are what the model may call.
var quirkTools = []llm.Tool{
	{Name: "bash", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}`)},
	{Name: "read", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"array","items":{"type":"integer"}}}}`)},
}

func (q quirk) run(t *testing.T) {
	srv := newStrictServer(t, q.pages...)
	id := q.provider
	if id == "" {
		id = provider.Custom
	}
	e, err := provider.Resolve(provider.Settings{Provider: id, Model: "m", BaseURL: srv.url, Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := provider.New(provider.Config{Endpoint: e, Jitter: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	b := newBench()
	var ran []string
	for _, tool := range quirkTools {
		b.hands.tools[tool.Name] = func(_ context.Context, a action.Action) action.Observation {
			ran = append(ran, a.Tool+string(a.Arguments))
			return action.Observation{Status: action.OK, Wrote: true} // no output, which must not become null
		}
	}
	b.hands.read = map[string]bool{} // one after the other, so that the order is known
	b.cfg.Model = client
	if b.cfg.Transcript, err = agent.NewTranscript(agent.Head{System: "You are a test.", Tools: quirkTools}, nil); err != nil {
		t.Fatal(err)
	}
	report := b.run(t, agent.Goal{Kind: agent.KindPrompt, Subject: "go", Text: "go"})
	q.check(t, srv, report, strings.Join(ran, " "))
}

func (q quirk) check(t *testing.T, srv *strictServer, report agent.Report, ran string) {
	t.Helper()
	if len(srv.refused) > 0 {
		t.Errorf("a strict server refuses:\n%s", strings.Join(srv.refused, "\n"))
	}
	if ran != q.ran {
		t.Errorf("ran  %s\nwant %s", ran, q.ran)
	}
	if len(srv.bodies) != q.requests {
		t.Errorf("%d requests, want %d", len(srv.bodies), q.requests)
	}
	if got := report.Termination == agent.Achieved; got == q.fails {
		t.Errorf("ended %s %s: %s", report.Termination, report.Code, report.Message)
	}
	if want := q.text; !q.fails && report.Text != want && (want != "" || report.Text != "done") {
		t.Errorf("text %q, want %q", report.Text, want)
	}
	if q.prompt > 0 && report.Usage.Prompt != q.prompt {
		t.Errorf("usage %+v, want a prompt of %d", report.Usage, q.prompt)
	}
	if len(srv.bodies) == 0 {
		return
	}
	last := srv.bodies[len(srv.bodies)-1]
	if got := sentIDs(t, last); got != q.ids {
		t.Errorf("ids %q, want %q", got, q.ids)
	}
	for _, want := range q.tells {
		if !bytes.Contains(last, []byte(want)) {
			t.Errorf("the last request lacks %q: %s", want, last)
		}
	}
	grows(t, srv.bodies)
}

// sentIDs are the ids of the calls in a request.
func sentIDs(t *testing.T, body []byte) string {
	t.Helper()
	var req struct {
		Messages []struct {
			ToolCalls []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range req.Messages {
		for _, c := range m.ToolCalls {
			ids = append(ids, c.ID)
		}
	}
	return strings.Join(ids, " ")
}

// grows checks that what was sent once is sent again byte for byte, so that the caches of servers hit. The nudge after
// an empty answer is the one message that comes and goes.
func grows(t *testing.T, bodies [][]byte) {
	t.Helper()
	var before []json.RawMessage
	for i, body := range bodies {
		var req struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(body, &req); err != nil {
			t.Fatal(err)
		}
		if len(req.Messages) < len(before) {
			t.Fatalf("request %d is shorter than the one before", i+1)
		}
		for j, m := range before {
			if !bytes.Equal(m, req.Messages[j]) {
				t.Fatalf("request %d changes message %d:\n%s\n%s", i+1, j, m, req.Messages[j])
			}
		}
		if before = req.Messages; bytes.Contains(before[len(before)-1], []byte("Your last answer was empty")) {
			before = before[:len(before)-1]
		}
	}
}

// ok200 are answers with status 200.
func ok200(bodies ...string) (pages []page) {
	for _, b := range bodies {
		pages = append(pages, page{body: b})
	}
	return pages
}

func runQuirks(t *testing.T, quirks []quirk) {
	t.Helper()
	for _, q := range quirks {
		t.Run(q.name, q.run)
	}
}

// The calls that most answers below hold, under their ids.
const (
	callLS  = `{"index":0,"id":"a","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}`
	callPWD = `{"index":1,"id":"b","type":"function","function":{"name":"bash","arguments":"{\"command\":\"pwd\"}"}}`
	ranLS   = `bash{"command":"ls"}`
	ranBoth = `bash{"command":"ls"} bash{"command":"pwd"}`
)

func TestQuirks1to3_StreamsAndErrors(t *testing.T) {
	two := native(callLS) + native(callPWD)
	end := ending("tool_calls")
	runQuirks(t, []quirk{
		{name: "1 CRLF, no space, comments", pages: ok200(": hi\r\n\r\n" + strings.ReplaceAll(strings.ReplaceAll(two+end, "data: ", "data:"), "\n", "\r\n")), ran: ranBoth, ids: "a b", requests: 2},
		{name: "1 no blank lines, none at the end", pages: ok200(strings.TrimSpace(strings.ReplaceAll(two+end, "\n\n", "\n"))), ran: ranBoth, ids: "a b", requests: 2},
		{name: "2 cut after a call that parses", pages: ok200(native(callLS), two+end), ran: ranBoth, ids: "a b", requests: 3},
		{name: "2 cut in the middle of a line", pages: ok200(two[:len(two)-40], two+end), ran: ranBoth, ids: "a b", requests: 3},
		{name: "2 a JSON body in place of a stream", pages: ok200(`{"choices":[{"message":{"content":null,"tool_calls":[` + callLS + "," + callPWD + `]},"finish_reason":"tool_calls"}]}`), ran: ranBoth, ids: "a b", requests: 2},
		{name: "2 the end mark alone", pages: ok200(two + "data: [DONE]\n\n"), ran: ranBoth, ids: "a b", requests: 2},
		{name: "3 error after calls", pages: ok200(two+`data: {"error":{"code":502,"message":"upstream"}}`+"\n\n", native(callLS)+end), ran: ranLS, ids: "a", requests: 3},
		{name: "3 error in a 200 body", pages: ok200(`{"error":{"code":503,"message":"busy"}}`, native(callLS)+end), ran: ranLS, ids: "a", requests: 3},
		{name: "3 a web page", pages: ok200("<!doctype html><html>Welcome"), requests: 1, fails: true},
		{name: "3 prose", pages: ok200("It works!\n"), requests: 1, fails: true},
	})
}

func TestQuirks4to5_CallsAndEnds(t *testing.T) {
	end := ending("tool_calls")
	long := strings.Repeat("x", 41)
	runQuirks(t, []quirk{
		{name: "4 all of index 0", pages: ok200(native(callLS) + native(strings.Replace(callPWD, `"index":1`, `"index":0`, 1)) + end), ran: ranBoth, ids: "a b", requests: 2},
		{name: "4 no index, no ids", pages: ok200(native(`{"function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}`) + native(`{"function":{"name":"bash","arguments":{"command":"pwd"}}}`) + end), ran: ranBoth, ids: "call_1 call_2", requests: 2},
		{name: "4 two objects in one call", pages: ok200(native(`{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\":\"ls\"}{\"command\":\"pwd\"}"}}`) + end), ran: ranBoth, ids: "a call_1", requests: 2},
		{name: "4 one id in two turns", pages: ok200(native(callLS)+end, native(callLS)+end), ran: ranLS + " " + ranLS, ids: "a call_1", requests: 3},
		{
			name: "4 ids of Kimi begin anew", provider: "kimi-coding", pages: ok200(native(strings.Replace(callLS, `"a"`, `"functions.bash:0"`, 1))+end, native(strings.Replace(callLS, `"a"`, `"functions.bash:0"`, 1))+end),
			ran: ranLS + " " + ranLS, ids: "functions.bash:0 functions.bash:1", requests: 3,
		},
		{name: "4 an id that is too long", provider: "openai-api", pages: ok200(native(strings.Replace(callLS, `"a"`, `"`+long+`"`, 1)) + end), ran: ranLS, ids: "call_1", requests: 2},
		{name: "5 stop with calls", pages: ok200(native(callLS) + ending("stop")), ran: ranLS, ids: "a", requests: 2},
		{name: "5 tool_calls without calls", pages: ok200(spoken("All is well.") + end), requests: 1, text: "All is well."},
		{name: "5 length runs none of them", pages: ok200(native(callLS)+native(callPWD)+ending("length"), native(callPWD)+end), ran: `bash{"command":"pwd"}`, ids: "a b call_1", requests: 3, tells: []string{"output was cut; send smaller calls"}},
		{name: "5 length in the middle of one", pages: ok200(native(callLS) + native(`{"index":1,"id":"b","function":{"name":"bash","arguments":"{\"command\":\"rm -rf"}}`) + ending("length")), ids: "a b", requests: 2, tells: []string{"output was cut; send smaller calls"}},
		{name: "5 empty, then an answer", pages: ok200(ending("stop"), spoken("Here.")+ending("stop")), requests: 2, text: "Here."},
		{name: "5 empty for ever", pages: ok200(ending("stop"), ending("stop"), ending("stop")), requests: 3, fails: true},
		{name: "5 filtered", pages: ok200(native(callLS) + ending("content_filter")), requests: 1, fails: true},
		{name: "5 cut by the filter of zai", provider: "zai", pages: ok200(native(callLS) + ending("sensitive")), requests: 1, fails: true},
	})
}

func TestQuirks6to7_ArgumentsAndNames(t *testing.T) {
	end := ending("tool_calls")
	call := func(id, name, args string) string {
		return native(fmt.Sprintf(`{"index":0,"id":%q,"function":{"name":%q,"arguments":%q}}`, id, name, args))
	}
	runQuirks(t, []quirk{
		{name: "6 fenced", pages: ok200(call("a", "bash", "```json\n{\"command\":\"ls\"}\n```") + end), ran: ranLS, ids: "a", requests: 2},
		{name: "6 encoded twice", pages: ok200(call("a", "bash", `"{\"command\":\"ls\"}"`) + end), ran: ranLS, ids: "a", requests: 2},
		{name: "6 a Python literal", pages: ok200(call("a", "bash", `{'command': 'ls',}`) + end), ran: ranLS, ids: "a", requests: 2},
		{name: "6 a number as text", pages: ok200(call("a", "bash", `{"command":"ls","timeout":"3"}`) + end), ran: `bash{"command":"ls","timeout":3}`, ids: "a", requests: 2},
		{name: "6 no arguments", pages: ok200(native(`{"index":0,"id":"a","function":{"name":"read","arguments":null}}`) + end), ran: `read{}`, ids: "a", requests: 2},
		{name: "6 cut JSON is never closed", pages: ok200(call("a", "bash", `{"command":"rm -rf /tmp/x`) + end), ids: "a", requests: 2, tells: []string{`"arguments":"{}"`}},
		{name: "6 prose beside a good call", pages: ok200(call("a", "bash", `run ls please`) + native(callPWD) + end), ran: `bash{"command":"pwd"}`, ids: "a b", requests: 2},
		{name: "7 a prefix and a token", pages: ok200(call("a", "functions.bash<|channel|>", `{"command":"ls"}`) + end), ran: ranLS, ids: "a", requests: 2},
		{name: "7 another case", pages: ok200(call("a", "Bash", `{"command":"ls"}`) + end), ran: ranLS, ids: "a", requests: 2},
		{name: "7 unknown, beside a good one", pages: ok200(call("a", "delete everything!", `{}`) + native(callPWD) + end), ran: `bash{"command":"pwd"}`, ids: "a b", requests: 2, tells: []string{"bash, read"}},
		{name: "7 no name", pages: ok200(call("a", "", `{"command":"ls"}`) + native(callPWD) + end), ran: `bash{"command":"pwd"}`, ids: "b", requests: 2},
		{name: "7 several in one", pages: ok200(call("a", "multi_tool_use.parallel", `{"tool_uses":[{"recipient_name":"functions.bash","parameters":{"command":"ls"}},{"recipient_name":"functions.bash","parameters":{"command":"pwd"}}]}`) + end), ran: ranBoth, ids: "call_1 call_2", requests: 2},
	})
}

func TestQuirks8to9_TextAndThinking(t *testing.T) {
	const markup = `<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>`
	runQuirks(t, []quirk{
		{name: "8 Hermes", pages: ok200(spoken(markup) + ending("stop")), ran: ranLS, ids: "call_1", requests: 2},
		{name: "8 Qwen", pages: ok200(spoken("<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>") + ending("stop")), ran: ranLS, ids: "call_1", requests: 2},
		{name: "8 a bare object", pages: ok200(spoken(`{"name":"bash","arguments":{"command":"ls"}}`) + ending("stop")), ran: ranLS, ids: "call_1", requests: 2},
		{name: "8 an explanation", pages: ok200(spoken("Write `"+markup+"` to list.") + ending("stop")), requests: 1, text: "Write `" + markup + "` to list."},
		{name: "8 not closed", pages: ok200(spoken(strings.TrimSuffix(markup, "</tool_call>")) + ending("stop")), requests: 1, text: strings.TrimSuffix(markup, "</tool_call>")},
		{name: "8 where the row forbids it", provider: "openai-api", pages: ok200(spoken(markup) + ending("stop")), requests: 1, text: markup},
		{name: "9 a call in thinking", pages: ok200(stream(`{"reasoning_content":"<tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>"}`) + spoken("No.") + ending("stop")), requests: 1, text: "No."},
		{name: "9 a call in think tags", pages: ok200(spoken("<thi") + spoken("nk>"+markup+"</thi") + spoken("nk>No.") + ending("stop")), requests: 1, text: "No."},
		{name: "9 a lone end of thinking", pages: ok200(spoken(markup+"</think>No.") + ending("stop")), requests: 1, text: "No."},
		{name: "9 thinking is not sent to others", pages: ok200(stream(`{"reasoning":"hm"}`) + native(callLS) + ending("tool_calls")), ran: ranLS, ids: "a", requests: 2},
		{name: "9 thinking returns where it must", provider: "deepseek", pages: ok200(stream(`{"reasoning_content":"hm"}`) + native(callLS) + ending("tool_calls")), ran: ranLS, ids: "a", requests: 2, tells: []string{`"reasoning_content":"hm"`}},
	})
}

func TestQuirks10to13_HistoriesClassesAndUsage(t *testing.T) {
	ls := native(callLS) + ending("tool_calls")
	refuse := func(status int, message string) page { return page{status, `{"error":{"message":"` + message + `"}}`} }
	runQuirks(t, []quirk{
		{name: "10 text beside calls", pages: ok200(spoken("Looking.") + ls), ran: ranLS, ids: "a", requests: 2, tells: []string{"(no output)", "Looking."}},
		{name: "10 many turns", pages: ok200(ls, ls, ending("length"), ls), ran: strings.TrimSpace(strings.Repeat(ranLS+" ", 2)), ids: "a call_1", requests: 3, fails: true},
		{name: "11 overload, then well", pages: []page{refuse(529, "Overloaded"), refuse(500, "boom"), {body: ls}}, ran: ranLS, ids: "a", requests: 4},
		{name: "11 a storm", pages: []page{refuse(500, "a"), refuse(502, "b"), refuse(503, "c"), refuse(504, "d"), refuse(500, "e"), {body: ls}}, requests: 5, fails: true},
		{name: "11 a bad key", pages: []page{refuse(401, "bad key"), {body: ls}}, requests: 1, fails: true},
		{name: "11 a spent account", pages: []page{refuse(429, "insufficient_quota"), {body: ls}}, requests: 1, fails: true},
		{name: "11 a field that is refused", provider: "zai", pages: []page{refuse(400, "unsupported parameter: tool_choice"), {body: ls}}, ran: ranLS, ids: "a", requests: 3},
		{name: "11 a page of a proxy", pages: []page{{404, "<html>not here</html>"}, {body: ls}}, requests: 1, fails: true},
		{name: "12 too long, with nothing to compact", pages: []page{refuse(400, "This model's maximum context length is 4096 tokens"), {body: ls}}, requests: 1, fails: true},
		{name: "12 too long in a stream", pages: ok200(`data: {"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}`+"\n\n", ls), requests: 1, fails: true},
		{name: "13 usage in the choice, twice", pages: ok200(`data: {"choices":[{"delta":{"content":"Hi."},"usage":{"prompt_tokens":7}}]}` + "\n\n" + `data: {"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":1}}],"usage":null}` + "\n\n"), requests: 1, text: "Hi.", prompt: 9},
		{name: "13 usage after the end", pages: ok200(spoken("Hi.") + ending("stop") + `data: {"choices":[],"usage":{"prompt_tokens":11.0,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n"), requests: 1, text: "Hi.", prompt: 11},
		{name: "13 usage of nonsense", pages: ok200(spoken("Hi.") + ending("stop") + `data: {"choices":[],"usage":{"prompt_tokens":"many","completion_tokens":-4}}` + "\n\n"), requests: 1, text: "Hi."},
	})
}
