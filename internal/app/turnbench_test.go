package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/outcome"
	"github.com/autonomy-team/autonomy/agent/provider/script"
)

// reader is the address of a model that reads one line of a file in each turn and claims in the last, run after run. It
// looks at no request, so that what is measured is the one who asks.
func reader(b *testing.B, turns int) string {
	b.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"scripted","object":"model","max_model_len":1000000}]}`)
			return
		}
		n := (asked.Add(1)-1)%int64(turns) + 1
		delta, finish := fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":"read_file",`+
			`"arguments":"{\"path\":\"in.txt\",\"offset\":%d,\"limit\":1}"}}]}`, n, n), "tool_calls"
		if n == int64(turns) {
			delta, finish = `{"content":"read"}`, "stop"
		}
		w.Header().Set("Content-Type", "text/event-stream")
		const chunk = `data: {"id":"x","object":"chat.completion.chunk","model":"scripted","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}` + "\n\n"
		fmt.Fprintf(w, chunk, delta, "null")
		fmt.Fprintf(w, chunk, "{}", `"`+finish+`"`)
		_, _ = io.WriteString(w, `data: {"id":"x","object":"chat.completion.chunk","model":"scripted","choices":[],"usage":`+
			`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`+"\n\ndata: [DONE]\n\n")
	}))
	b.Cleanup(server.Close)
	return server.URL + "/v1"
}

func lines(b *testing.B, path string, n int) {
	b.Helper()
	if err := os.WriteFile(path, []byte(strings.Repeat("one line of the file\n", n)), 0o600); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkTurnOverHTTP is one turn of a single run with everything on: HTTP, log, ranking, policy, transcript, tool.
// Beside it a bare loop that asks the same server and reads the same file. The ratio is theirs.
func BenchmarkTurnOverHTTP(b *testing.B) {
	for _, turns := range []int{50, 500} {
		var whole float64
		b.Run(fmt.Sprint("whole/of", turns), func(b *testing.B) {
			p := newPlace(b)
			lines(b, filepath.Join(p.ws.Root, "in.txt"), turns)
			url := reader(b, turns)
			goal := 0
			for b.Loop() {
				goal++ // each run has its own, lest it learn; nor is it to carry what the others have left
				_ = os.Remove(p.ws.Recipes())
				report, err := p.RunGoal(b.Context(), GoalOptions{
					Goal: fmt.Sprint("read ", goal), Model: "scripted", BaseURL: url, MaxSteps: turns, Judge: outcome.Never,
				})
				if err != nil || report.Termination != agent.Achieved || report.Turns != turns {
					b.Fatalf("%+v, %v", report, err)
				}
			}
			whole = perTurn(b, turns)
		})
		b.Run(fmt.Sprint("bare/of", turns), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "in.txt")
			lines(b, path, turns)
			url := reader(b, turns)
			toolList := wireTools(b)
			for b.Loop() {
				bareLoop(b, url, path, toolList)
			}
			if bare := perTurn(b, turns); bare > 0 {
				b.ReportMetric(whole/bare, "x-bare")
			}
		})
	}
}

func perTurn(b *testing.B, turns int) float64 {
	us := float64(b.Elapsed().Microseconds()) / float64(b.N*turns)
	b.ReportMetric(us, "µs/turn")
	return us
}

// wireTools are the tools of a single run as a server gets them: the bare loop sends them too.
func wireTools(b *testing.B) json.RawMessage {
	b.Helper()
	tools, err := newPlace(b).openHands(nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = tools.close(b.Context()) }()
	var list []map[string]any
	for _, t := range offered(tools.registry) {
		list = append(list, map[string]any{"type": "function", "function": map[string]any{
			"name": t.Name, "description": t.Description, "parameters": t.Schema,
		}})
	}
	raw, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	return raw
}

type wireCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type wireMessage struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []wireCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

// bareLoop is the least that an agent does: send the conversation, put the stream together, read the file, go on.
func bareLoop(b *testing.B, url, path string, toolList json.RawMessage) {
	history := []wireMessage{{Role: "user", Content: "read"}}
	for {
		body, err := json.Marshal(map[string]any{"model": "scripted", "stream": true, "messages": history, "tools": toolList})
		if err != nil {
			b.Fatal(err)
		}
		resp, err := http.Post(url+"/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		reply := assemble(b, resp)
		history = append(history, reply)
		if len(reply.Calls) == 0 {
			return
		}
		for _, c := range reply.Calls {
			var args struct{ Offset int }
			if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil {
				b.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			line := strings.SplitN(string(data), "\n", args.Offset+1)[args.Offset-1]
			history = append(history, wireMessage{Role: "tool", CallID: c.ID, Content: line})
		}
	}
}

func assemble(b *testing.B, resp *http.Response) wireMessage {
	defer resp.Body.Close()
	m := wireMessage{Role: "assistant"}
	events := bufio.NewScanner(resp.Body)
	for events.Scan() {
		data, ok := strings.CutPrefix(events.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content string     `json:"content"`
					Calls   []wireCall `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			b.Fatal(err)
		}
		for _, c := range chunk.Choices {
			m.Content += c.Delta.Content
			for _, call := range c.Delta.Calls {
				if call.Index >= len(m.Calls) {
					m.Calls = append(m.Calls, call)
					continue
				}
				m.Calls[call.Index].Function.Arguments += call.Function.Arguments
			}
		}
	}
	return m
}

// BenchmarkThirdRun is a goal that was achieved twice before: no request reaches the model, and verify still runs.
func BenchmarkThirdRun(b *testing.B) {
	p := newPlace(b)
	server, err := script.NewServer(script.Script{Func: func(r llm.Request) (script.Entry, bool) {
		if r.Messages[len(r.Messages)-1].Role == llm.ToolRole {
			return script.Text("written"), true
		}
		return script.Do("write_file", `{"path":"out.txt","content":"x\n"}`), true
	}})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	run := func() {
		report, err := p.RunGoal(b.Context(), GoalOptions{
			Goal: "write", Model: "scripted", BaseURL: server.URL(), Mode: "full", Verify: "test -s out.txt",
		})
		if err != nil || report.Termination != agent.Achieved || !report.Verified {
			b.Fatalf("%+v, %v", report, err)
		}
	}
	run()
	run()
	before := server.Count()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(server.Count()-before)/float64(b.N), "requests/op")
}
