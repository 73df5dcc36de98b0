package wire

import (
	"encoding/json"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// readUsage reads usage in any of its forms; false when raw holds none.
func readUsage(raw json.RawMessage) (llm.Usage, bool) {
	m := object(raw)
	if len(m) == 0 {
		return llm.Usage{}, false
	}
	prompt, completion := object(m["prompt_tokens_details"]), object(m["completion_tokens_details"])
	u := llm.Usage{
		Prompt:     count(m["prompt_tokens"]),
		Completion: count(m["completion_tokens"]),
		Cached:     firstCount(prompt["cached_tokens"], m["prompt_cache_hit_tokens"], m["cached_tokens"]),
		Thinking:   firstCount(completion["reasoning_tokens"], m["reasoning_tokens"]),
	}
	if u.Thinking > 0 && count(m["total_tokens"]) == u.Total()+u.Thinking {
		u.Completion += u.Thinking // xAI counts the thinking apart
	}
	u.Cached, u.Thinking = min(u.Cached, u.Prompt), min(u.Thinking, u.Completion)
	if cost, ok := number(m["cost"]); ok && cost >= 0 {
		u.Cost, u.CostKnown = cost, true
	}
	return u, u.Total() > 0
}

// firstCount is the first count above 0.
func firstCount(raws ...json.RawMessage) int {
	for _, raw := range raws {
		if n := count(raw); n > 0 {
			return n
		}
	}
	return 0
}
