package provider

import "github.com/autonomy-team/autonomy/agent/llm"

// shapesCustom are what the servers send that people run themselves. All of them get the careful request.
func shapesCustom() []shape {
	careful := []string{`"max_tokens":500`, `"stream_options":{"include_usage":true}`}
	never := []string{"tool_choice", "parallel_tool_calls", "temperature", "reasoning_effort", "thinking", "max_completion_tokens", "strict", "store"}
	return []shape{
		{
			id: Custom, server: "llama.cpp", model: "local", effort: "high", sends: careful, lacks: never,
			stream: ":\n\n" + lines(
				`{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1,"object":"chat.completion.chunk"}`,
				`{"choices":[{"finish_reason":null,"index":0,"delta":{"reasoning_content":"hm"}}]}`,
				`{"choices":[{"finish_reason":null,"index":0,"delta":{"tool_calls":[{"index":0,"id":"Zx81","type":"function","function":{"name":"bash","arguments":"{"}}]}}]}`,
				`{"choices":[{"finish_reason":null,"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"command\":\"ls\"}"}}]}}]}`,
				`{"choices":[{"finish_reason":null,"index":0,"delta":{"tool_calls":[{"index":1,"id":"Qy27","type":"function","function":{"name":"bash","arguments":"`+pwdArgs+`"}}]}}]}`,
				`{"choices":[{"finish_reason":"tool_calls","index":0,"delta":{}}]}`,
				`{"choices":[],`+usage50+`,"timings":{"cache_n":0,"prompt_n":50}}`),
			calls: "Zx81 ls Qy27 pwd", never: []string{"reasoning"}, errStatus: 400, class: llm.Overflow,
			errBody: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`,
		},
		{
			id: Custom, server: "vLLM", model: "Qwen/Qwen3-32B", sends: careful, lacks: never,
			stream: lines(
				`{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}`,
				`{"choices":[{"index":0,"delta":{"reasoning":"hm"},"finish_reason":null}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"chatcmpl-tool-a","type":"function","index":0,"function":{"name":"bash"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"`+lsArgs+`"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"chatcmpl-tool-b","type":"function","index":1,"function":{"name":"bash","arguments":"`+pwdArgs+`"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"tool_calls","stop_reason":null}]}`,
				`{"choices":[],"usage":{"prompt_tokens":50,"total_tokens":59,"completion_tokens":9,"prompt_tokens_details":null}}`),
			calls: "chatcmpl-tool-a ls chatcmpl-tool-b pwd", never: []string{"reasoning"}, errStatus: 404, class: llm.NoModel,
			errBody: `{"object":"error","message":"The model Qwen/Qwen3 does not exist.","type":"NotFoundError","param":null,"code":404}`,
		},
		{
			id: Custom, server: "LM Studio", model: "qwen3-8b", sends: careful, lacks: never,
			stream: lines(
				`{"choices":[{"index":0,"delta":{"role":"assistant","content":"<think>hm</think>"},"finish_reason":null}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"365174485","type":"function","function":{"name":"bash","arguments":""}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"type":"function","function":{"name":"","arguments":"`+lsArgs+`"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"365174486","type":"function","function":{"name":"bash","arguments":"`+pwdArgs+`"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],`+usage50+`}`),
			calls: "365174485 ls 365174486 pwd", never: []string{"reasoning"}, errStatus: 400, class: llm.Overflow,
			errBody: `{"error":"Trying to keep the first 9000 tokens when context overflows. However, the model is loaded with context length of only 4096 tokens, exceeds the available context size"}`,
		},
		{
			id: Custom, server: "LiteLLM", model: "alias", sends: careful, lacks: never,
			stream: wholeCalls("reasoning_content", "call_a", "call_b", usage50),
			calls:  "call_a ls call_b pwd", never: []string{"reasoning"}, errStatus: 429, class: llm.Quota,
			errBody: `{"error":{"message":"litellm.RateLimitError: OpenAIException - You exceeded your current quota, insufficient_quota","type":null,"param":null,"code":"429"}}`,
		},
	}
}
