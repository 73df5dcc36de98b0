package wire

import (
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent/llm"
)

func TestRule8_CallsWrittenAsText(t *testing.T) {
	say := func(s string) string { return content(s) + finishLine("stop") }
	const ls = `call_1=bash{"command":"ls"}`
	for _, tt := range []struct{ name, in, rest, calls string }{
		{"Hermes", `Now. <tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>`, "Now.", ls},
		{"Hermes, two, one closed by the next", "<tool_call>{\"name\":\"idle\",\"arguments\":{}}\n<tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>\n", "", `call_1=idle{} call_2=bash{"command":"ls"}`},
		{"Qwen", "<function=bash>\n<parameter=command>\nls\n</parameter>\n<parameter=timeout>\n3\n</parameter>\n</function>\n</tool_call>", "", `call_1=bash{"command":"ls","timeout":3}`},
		{"Qwen in Hermes", "<tool_call><function=bash><parameter=command>ls</parameter></function></tool_call>", "", ls},
		{"GLM", "<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>", "", ls},
		{"Mistral", `[TOOL_CALLS]bash[ARGS]{"command":"ls"}`, "", ls},
		{"Mistral list", `[TOOL_CALLS] [{"name":"bash","arguments":{"command":"ls"}}]`, "", ls},
		{"DeepSeek", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>bash\n```json\n{\"command\":\"ls\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "", ls},
		{"DeepSeek V3.1", `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>bash<｜tool▁sep｜>{"command":"ls"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, "", ls},
		{"DSML", `<｜DSML｜function_calls><｜DSML｜invoke name="bash"><｜DSML｜parameter name="command" string="true">ls</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>`, "", ls},
		{"Kimi", `<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{"command":"ls"}<|tool_call_end|><|tool_calls_section_end|>`, "", `functions.bash:0=bash{"command":"ls"}`},
		{"bare object", `{"name":"bash","arguments":{"command":"ls"}}`, "", ls},
		{"fenced object", "```json\n{\"name\":\"bash\",\"parameters\":{\"command\":\"ls\"}}\n```", "", ls},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rule{body: say(tt.in), text: tt.rest, calls: tt.calls}.run(t)
			x, out, _ := answer(t, 200, &dribble{say(tt.in), 3}, nil)
			if x.Result.Restated || strings.Contains(out, `"content":"<`) {
				t.Errorf("markup was shown: %s", out)
			}
			if x.Result.Calls[0].Source != llm.SourceText {
				t.Error("the call is not marked as text")
			}
		})
	}
	for name, in := range map[string]string{
		"not closed":           `<tool_call>{"name":"bash","arguments":{"command":"ls"}}`,
		"unknown name":         `<tool_call>{"name":"rm","arguments":{}}</tool_call>`,
		"name not exact":       `<tool_call>{"name":"Bash","arguments":{"command":"ls"}}</tool_call>`,
		"required missing":     `<tool_call>{"name":"bash","arguments":{}}</tool_call>`,
		"text follows":         `<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call> as you see`,
		"in a fence":           "Like this:\n```\n<tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>\n```",
		"in backticks":         "Write `<tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>`",
		"in a quotation":       "> <tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>",
		"object within prose":  `I would send {"name":"bash","arguments":{"command":"ls"}}`,
		"object of other kind": `{"name":"bash","version":"5.2"}`,
	} {
		t.Run("prose: "+name, func(t *testing.T) { rule{body: say(in), text: in}.run(t) })
	}
	t.Run("not beside native calls", func(t *testing.T) {
		in := `<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>`
		rule{body: content(in) + calls(`{"id":"a","function":{"name":"idle"}}`) + doneLine, text: in, calls: "a=idle{}"}.run(t)
	})
	t.Run("not inside thinking", func(t *testing.T) {
		rule{
			body:     say(`<think><tool_call>{"name":"idle","arguments":{}}</tool_call></think>ok`),
			thinking: `<tool_call>{"name":"idle","arguments":{}}</tool_call>`, text: "ok",
		}.run(t)
	})
	t.Run("not where the row forbids it", func(t *testing.T) {
		in := `<tool_call>{"name":"idle","arguments":{}}</tool_call>`
		x, _, err := answer(t, 200, strings.NewReader(say(in)), func(x *Exchange) { x.TextCalls = false })
		if err != nil || x.Result.Text != in || len(x.Result.Calls) != 0 {
			t.Errorf("got %+v, %v", x.Result, err)
		}
	})
}

func TestRule9_ThinkingIsNotTheAnswer(t *testing.T) {
	end := finishLine("stop")
	runRules(t, []rule{
		{name: "reasoning_content", body: chunkLine(`{"reasoning_content":"hm"}`) + content("a") + end, thinking: "hm", text: "a"},
		{name: "reasoning", body: chunkLine(`{"reasoning":"hm"}`) + content("a") + end, thinking: "hm", text: "a"},
		{name: "both, equal, count once", body: chunkLine(`{"reasoning":"hm","reasoning_content":"hm"}`) + content("a") + end, thinking: "hm", text: "a"},
		{name: "content parts", body: chunkLine(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"}]}`) + end, thinking: "hm", text: "a"},
		{name: "tags split over chunks", body: content("<th") + content("ink>h") + content("m</thi") + content("nk>\n\na") + end, thinking: "hm", text: "a"},
		{name: "lone closing tag", body: content("hm so") + content("\n</think>\n\na") + end, thinking: "hm so", text: "a"},
		{name: "never closed", body: content("<think>hm and hm") + end, thinking: "hm and hm", text: ""},
		{name: "a tag in backticks is text", body: content("close it with `</think>` please") + end, text: "close it with `</think>` please"},
		{name: "details", body: chunkLine(`{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]}`) + content("a") + end, thinking: "hm", text: "a"},
	})
	t.Run("details are kept whole", func(t *testing.T) {
		x, _, err := answer(t, 200, strings.NewReader(
			chunkLine(`{"reasoning_details":[{"type":"reasoning.text","text":"h","index":0}]}`)+
				chunkLine(`{"reasoning_details":[{"type":"reasoning.text","text":"m","index":0,"signature":"s"}]}`)+
				chunkLine(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"x","index":1}]}`)+content("a")+end), nil)
		want := `[{"index":0,"signature":"s","text":"hm","type":"reasoning.text"},{"data":"x","index":1,"type":"reasoning.encrypted"}]`
		if err != nil || len(x.Result.Thinking) != 1 || string(x.Result.Thinking[0].Raw) != want {
			t.Errorf("got %+v, %v", x.Result.Thinking, err)
		}
	})
	t.Run("late closing tag restates", func(t *testing.T) {
		x, _, err := answer(t, 200, strings.NewReader(content("hm ")+content("so</think>a")+end), nil)
		if err != nil || !x.Result.Restated || x.Result.Text != "a" {
			t.Errorf("got %+v, %v", x.Result, err)
		}
	})
}

func TestRule13_UsageInEveryForm(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want llm.Usage
	}{
		"usage chunk":      {content("a") + finishLine("stop") + `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}}` + "\n\n", llm.Usage{Prompt: 9, Completion: 2, Cached: 4, Thinking: 1}},
		"in the choice":    {content("a") + `data: {"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":3}}]}` + "\n\n", llm.Usage{Prompt: 9, Completion: 2, Cached: 3}},
		"last non-null":    {`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}` + "\n\n" + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":5}}` + "\n\n" + `data: {"choices":[],"usage":null}` + "\n\n", llm.Usage{Prompt: 9, Completion: 5}},
		"deepseek's cache": {content("a") + finishLine("stop") + `data: {"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_cache_hit_tokens":8}}` + "\n\n", llm.Usage{Prompt: 9, Completion: 1, Cached: 8}},
		"thinking apart":   {`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":17,"completion_tokens_details":{"reasoning_tokens":7}}}`, llm.Usage{Prompt: 9, Completion: 8, Thinking: 7}},
		"cost":             {`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":9.0,"completion_tokens":"1","cost":0.5}}`, llm.Usage{Prompt: 9, Completion: 1, Cost: 0.5, CostKnown: true}},
	} {
		t.Run(name, func(t *testing.T) {
			x, _, err := answer(t, 200, strings.NewReader(tt.body), nil)
			if err != nil || x.Result.Usage != tt.want || !x.Result.UsageSeen {
				t.Errorf("got %+v, %v", x.Result.Usage, err)
			}
		})
	}
}
