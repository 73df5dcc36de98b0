package provider

import (
	"encoding/json"
	"time"

	"github.com/autonomy-team/autonomy/agent/provider/wire"
)

// Provider is one row of the table.
type Provider struct {
	ID      string
	BaseURL string
	// Hosts are other base URLs of the same provider, with what they are for.
	Hosts map[string]string
	// KeyVars are the variables that may hold the key, in order.
	KeyVars []string
	// KeyOptional says that the provider works without a key; LocalKey is then sent in its place.
	KeyOptional bool
	LocalKey    string
	// URLVars are the variables that may hold the base URL, in order.
	URLVars []string
	// Model is the default; "" means the first model listed. Models are others that are known to work.
	Model  string
	Models []string
	Limits wire.Limits
	// PerMinute is the number of requests a minute to start with; 0 means no limit.
	PerMinute int
	// InFlight is the number of requests at once.
	InFlight int
	Quirks   Quirks
	// Overrides change the quirks of single models.
	Overrides []Override
}

// Custom is the id of any server that is not in the table.
const Custom = "custom"

// limits takes seconds to the first byte, of silence, and in all.
func limits(first, idle, total int) wire.Limits {
	return wire.Limits{
		First: time.Duration(first) * time.Second, Idle: time.Duration(idle) * time.Second,
		Total: time.Duration(total) * time.Second,
	}
}

// Table is all providers in the order they are shown, the custom row last. Each call makes a fresh copy.
func Table() []Provider {
	return append(hosted(), Provider{
		ID: Custom, KeyVars: []string{"LM_API_KEY", "LITELLM_API_KEY"}, KeyOptional: true, URLVars: []string{"LM_BASE_URL"},
		Limits: limits(600, 300, 1800), InFlight: 4,
		Quirks: Quirks{Sampling: SamplingWished, TextCalls: true, StreamOptions: true},
	})
}

// Find is the row with an id.
func Find(id string) (Provider, bool) {
	for _, p := range Table() {
		if p.ID == id {
			return p, true
		}
	}
	return Provider{}, false
}

// hosted are the nine rows. They are functions rather than variables so that nobody can change them for others.
func hosted() []Provider {
	return append(westernRows(), easternRows()...)
}

func westernRows() []Provider {
	return []Provider{
		{
			ID: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Hosts: map[string]string{"https://ollama.com/v1": "cloud"},
			KeyVars: []string{"OLLAMA_API_KEY"}, KeyOptional: true, LocalKey: "ollama",
			URLVars: []string{"OLLAMA_BASE_URL", "OLLAMA_HOST"}, Models: []string{"gpt-oss:20b", "glm-4.7-flash"},
			Limits: limits(600, 300, 1800), InFlight: 4,
			Quirks: Quirks{
				Sampling: SamplingSend, Temperature: 0.2, Thinking: SwitchEffort, TextCalls: true, StreamOptions: true,
			},
		},
		{
			ID: "openai-api", BaseURL: "https://api.openai.com/v1", KeyVars: []string{"OPENAI_API_KEY"},
			URLVars: []string{"OPENAI_BASE_URL"}, Model: "gpt-5.5", Models: []string{"gpt-5.4", "gpt-5.4-mini"},
			Limits: limits(120, 120, 900), InFlight: 8,
			Quirks: Quirks{
				LimitField: "max_completion_tokens", ToolChoice: true, Parallel: true, Thinking: SwitchEffort,
				StreamOptions: true, IDLimit: 40,
			},
			Overrides: openaiOverrides(),
		},
		{
			ID: "nvidia", BaseURL: "https://integrate.api.nvidia.com/v1", KeyVars: []string{"NVIDIA_API_KEY"},
			URLVars: []string{"NVIDIA_BASE_URL"}, Model: "nvidia/nemotron-3-super-120b-a12b",
			Models: []string{"z-ai/glm-5.3", "moonshotai/kimi-k2.6"},
			Limits: limits(180, 120, 900), PerMinute: 36, InFlight: 4,
			Quirks: Quirks{
				Sampling: SamplingSend, Temperature: 0.2, ToolChoice: true, Thinking: SwitchTemplate, TextCalls: true,
				StreamOptions: true,
			},
		},
		{
			ID: "openrouter", BaseURL: "https://openrouter.ai/api/v1", KeyVars: []string{"OPENROUTER_API_KEY"},
			URLVars: []string{"OPENROUTER_BASE_URL"}, Model: "z-ai/glm-5.2",
			Models: []string{"moonshotai/kimi-k3", "deepseek/deepseek-v4-pro"},
			Limits: limits(180, 120, 900), InFlight: 8,
			Quirks: Quirks{
				ToolChoice: true, Thinking: SwitchReasoning, Echo: EchoDetails, TextCalls: true, StreamOptions: true,
				ToolFields: map[string]json.RawMessage{"provider": json.RawMessage(`{"require_parameters":true}`)},
			},
		},
		{
			ID: "xai", BaseURL: "https://api.x.ai/v1", KeyVars: []string{"XAI_API_KEY"}, URLVars: []string{"XAI_BASE_URL"},
			Model: "grok-4.6", Models: []string{"grok-4.5", "grok-build-0.1"}, Limits: limits(120, 120, 900), InFlight: 8,
			Quirks: Quirks{Sampling: SamplingWished, ToolChoice: true, StreamOptions: true},
			Overrides: []Override{
				{Model: "grok-*-mini*", Change: func(q *Quirks) { q.Thinking = SwitchEffort }},
			},
		},
	}
}

// openaiOverrides: the o models refuse parallel_tool_calls, and some gpt-6 models take tools over this API only without
// reasoning, or not at all.
func openaiOverrides() []Override {
	noReasoning := func(q *Quirks) { q.Effort = "none" }
	refused := func(q *Quirks) { q.Refused = "it takes tools over the Responses API only" }
	return []Override{
		{Model: "o[0-9]*", Change: func(q *Quirks) { q.Parallel = false }},
		{Model: "gpt-6-sol", Change: noReasoning},
		{Model: "gpt-6-luna", Change: noReasoning},
		{Model: "gpt-6.1-sol", Change: refused},
		{Model: "gpt-6-astra", Change: refused},
	}
}

func easternRows() []Provider {
	return []Provider{
		{
			ID: "deepseek", BaseURL: "https://api.deepseek.com/v1", KeyVars: []string{"DEEPSEEK_API_KEY"},
			URLVars: []string{"DEEPSEEK_BASE_URL"}, Model: "deepseek-flash", Models: []string{"deepseek-v4-pro"},
			Limits: limits(600, 120, 1800), InFlight: 8,
			Quirks: Quirks{
				ToolChoice: true, Thinking: SwitchDeepSeek, Echo: EchoCalls, EchoRequired: true, TextCalls: true,
				StreamOptions: true,
			},
		},
		{
			ID: "zai", BaseURL: "https://api.z.ai/api/paas/v4",
			Hosts: map[string]string{
				"https://api.z.ai/api/coding/paas/v4": "coding plan", "https://open.bigmodel.cn/api/paas/v4": "China",
			},
			KeyVars: []string{"GLM_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY"}, URLVars: []string{"GLM_BASE_URL"},
			Model: "glm-5.3", Models: []string{"glm-5.3-flash", "glm-4.7"}, Limits: limits(180, 180, 900), InFlight: 4,
			Quirks: Quirks{
				Sampling: SamplingSend, Temperature: 0.2, ToolChoice: true, Thinking: SwitchZai, Echo: EchoCalls, TextCalls: true,
				ToolFields: map[string]json.RawMessage{"tool_stream": json.RawMessage(`true`)},
			},
		},
		{
			ID: "kimi-coding", BaseURL: "https://api.moonshot.ai/v1",
			Hosts: map[string]string{
				kimiCodingURL: "keys that begin with sk-kimi-", "https://api.moonshot.cn/v1": "China",
			},
			KeyVars: []string{"KIMI_API_KEY", "KIMI_CODING_API_KEY", "MOONSHOT_API_KEY"}, URLVars: []string{"KIMI_BASE_URL"},
			Model: "kimi-k3", Models: []string{"kimi-k2.7-code", "kimi-k2.6"}, Limits: limits(180, 180, 900), InFlight: 4,
			Quirks: Quirks{
				LimitField: "max_completion_tokens", ToolChoice: true, Thinking: SwitchKimi, Echo: EchoCalls, EchoRequired: true,
				TextCalls: true, StreamOptions: true,
			},
		},
		{
			ID: "alibaba", BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
			Hosts: map[string]string{
				"https://dashscope-us.aliyuncs.com/compatible-mode/v1": "US", "https://dashscope.aliyuncs.com/compatible-mode/v1": "China",
				"https://coding-intl.dashscope.aliyuncs.com/v1": "coding plan",
			},
			KeyVars: []string{"DASHSCOPE_API_KEY"}, URLVars: []string{"DASHSCOPE_BASE_URL"}, Model: "qwen3.8-max",
			Models: []string{"qwen3.7-plus", "qwen3-coder-plus"}, Limits: limits(180, 120, 900), InFlight: 4,
			Quirks: Quirks{
				Sampling: SamplingSend, Temperature: 0.2, ToolChoice: true, Parallel: true, Thinking: SwitchAlibaba, TextCalls: true,
				StreamOptions: true,
			},
		},
	}
}
