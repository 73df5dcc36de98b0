package provider

import (
	"encoding/json"
	"strconv"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// fields are the top-level body fields beyond model, messages, tools and stream, after what the model is known to
// refuse has been left out or renamed.
func (l *link) fields(req llm.Request) map[string]json.RawMessage {
	q := l.endpoint.Quirks
	set := map[string]json.RawMessage{}
	if req.MaxTokens > 0 {
		set[q.LimitField] = number(float64(req.MaxTokens))
	}
	switch {
	case q.Sampling != SamplingOmit && req.Temperature != nil:
		set["temperature"] = number(*req.Temperature)
	case q.Sampling == SamplingSend:
		set["temperature"] = number(q.Temperature)
	}
	if q.StreamOptions {
		set["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	}
	if len(req.Tools) > 0 {
		if q.ToolChoice {
			set["tool_choice"] = json.RawMessage(`"auto"`)
		}
		if q.Parallel {
			set["parallel_tool_calls"] = json.RawMessage(`true`)
		}
		for k, v := range q.ToolFields {
			set[k] = v
		}
	}
	effort := req.Effort
	if q.Effort != "" {
		effort = q.Effort
	}
	for k, v := range thinkingFields(q.Thinking, effort) {
		set[k] = v
	}
	out := make(map[string]json.RawMessage, len(set))
	for k, v := range set {
		if name := l.lane.models.fieldName(l.endpoint.Model, k); name != "" {
			out[name] = v
		}
	}
	return out
}

// number writes a number the way JSON does, without exponent, so that equal requests have equal bytes.
func number(f float64) json.RawMessage {
	return json.RawMessage(strconv.FormatFloat(f, 'f', -1, 64))
}

// thinkingFields writes the thinking wish in the words of a provider; "" leaves the model's own default.
func thinkingFields(s Switch, effort string) map[string]json.RawMessage {
	if effort == "" && s != SwitchZai {
		return nil
	}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	off := effort == "none"
	switch s {
	case SwitchEffort:
		return map[string]json.RawMessage{"reasoning_effort": jsonString(effort)}
	case SwitchTemplate:
		on := strconv.FormatBool(!off)
		return map[string]json.RawMessage{"chat_template_kwargs": raw(`{"enable_thinking":` + on + `,"thinking":` + on + `}`)}
	case SwitchReasoning:
		if off {
			return map[string]json.RawMessage{"reasoning": raw(`{"enabled":false}`)}
		}
		return map[string]json.RawMessage{"reasoning": raw(`{"effort":` + string(jsonString(effort)) + `}`)}
	case SwitchDeepSeek:
		if off {
			return map[string]json.RawMessage{"thinking": raw(`{"type":"disabled"}`)}
		}
		level := map[string]string{"low": "low", "medium": "high", "high": "max"}[effort]
		out := map[string]json.RawMessage{"thinking": raw(`{"type":"enabled"}`)}
		if level != "" {
			out["reasoning_effort"] = jsonString(level)
		}
		return out
	case SwitchZai:
		if off {
			return map[string]json.RawMessage{"thinking": raw(`{"type":"disabled"}`)}
		}
		return map[string]json.RawMessage{"thinking": raw(`{"clear_thinking":false,"type":"enabled"}`)}
	case SwitchKimi:
		if off {
			return map[string]json.RawMessage{"thinking": raw(`{"type":"disabled"}`)}
		}
		return map[string]json.RawMessage{"reasoning_effort": jsonString(effort)}
	case SwitchAlibaba:
		if off {
			return map[string]json.RawMessage{"enable_thinking": raw(`false`)}
		}
		out := map[string]json.RawMessage{"enable_thinking": raw(`true`)}
		if budget := map[string]string{"low": "1024", "medium": "4096", "high": "16384"}[effort]; budget != "" {
			out["thinking_budget"] = raw(budget)
		}
		return out
	}
	return nil
}
