package wire

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// The phrases by which a class is recognised, matched against lower-case text. They are vendors' wording as of 2026.
var (
	authWords  = regexp.MustCompile(`(?:incorrect|invalid|missing) api[ _]key|api key not valid|invalid_api_key`)
	quotaWords = regexp.MustCompile(`insufficient[_ ]quota|exceeded your current quota|\bbalance\b|\bcredits?\b|` +
		`usage limit reached|quota exceeded|payment required|arrear`)
	quotaKeep = regexp.MustCompile(`per (?:minute|second)|quota.{0,40}(?:rpm|tpm)`)
	rateWords = regexp.MustCompile(`rate[_ -]?limit|too many requests|overloaded|throttling|too many tokens, please wait|` +
		`engine is currently overloaded|requests per (?:minute|second)`)
	tooLarge = regexp.MustCompile(`request too large.*?limit:? (\d+).*?requested:? (\d+)`)

	overflowWords = regexp.MustCompile(`context_length_exceeded|prompt is too long|request_too_large|exceeds? the context window|` +
		`exceeds? (?:the |the model'?s )?maximum context length|maximum context length is \d+|maximum prompt length is \d+|` +
		`reduce the length of the messages|maximum allowed input length|longer than the model'?s context length|` +
		`exceeds? the available context size|exceed_context_size_error|greater than the context length|` +
		`context window exceeds limit|exceeded model token limit|too large for model with \d+ maximum context length|` +
		`model_context_window_exceeded|prompt too long; exceeded (?:max )?context length|range of input length|` +
		`prompt 超长|string_above_max_length`)
	moderationWords = regexp.MustCompile(`content[_ ](?:filter|policy)|moderation|content exists risk|data_inspection_failed|` +
		`flagged|\bsensitive\b|inappropriate content|content_blocked`)
	modelWords = regexp.MustCompile(`model[_ ]not[_ ]found|model .{0,80}(?:not found|does not exist|not exist)|does not support tools|` +
		`no endpoints found|not found for account|unknown model|no such model|model .{0,80}is not (?:available|supported)|` +
		`does not support (?:function|tool)|invalid model`)
	serverWords = regexp.MustCompile(`degraded function|insufficient_system_resource|error parsing tool call|` +
		`network_error|loading model|service unavailable|internal server error|upstream (?:error|connect)|\bserver_error\b`)
	orderWords = regexp.MustCompile(`tool_calls?.{0,60}must be followed|must be (?:a response|followed)|` +
		`reasoning_content.{0,40}(?:missing|must be passed back|is required)|missing.{0,40}reasoning_content|` +
		`roles must alternate|tool_use.{0,40}tool_result|tool_call_id|unexpected role|incorrect role|` +
		`conversation roles|system message must be at the beginning|function\.arguments.{0,40}json`)
)

// droppable are the request fields that can be left out or renamed when a server refuses them, longest names first so
// that max_completion_tokens is not taken for max_tokens.
func droppable() []string {
	return []string{
		"max_completion_tokens", "max_tokens", "temperature", "tool_choice", "parallel_tool_calls", "reasoning_effort",
		"stream_options", "chat_template_kwargs", "enable_thinking", "thinking_budget", "thinking", "reasoning", "tool_stream",
		"provider",
	}
}

// ParamOrder as an Error's Param says that the server objects to the order or form of the history.
const ParamOrder = "messages"

// classify turns what a server said into an error. The first class that matches wins: quota codes go before rate, rate
// words before overflow, the body before the status.
func (x *Exchange) classify(status int, header http.Header, f fault) *llm.Error {
	if s := f.status(); s != 0 && (status < 400 || status >= 500 && s < 500) {
		status = s
	}
	all := f.all()
	message := f.message
	if message == "" {
		message = strings.TrimSpace(f.kind + " " + f.code)
	}
	if message == "" {
		message = http.StatusText(status)
	}
	e := x.err(llm.Protocol, message)
	e.Status = status
	e.RetryAfter = retryAfter(header)
	e.Final = header.Get("X-Should-Retry") == "false"
	e.Class = x.class(e, all, f)
	x.explain(e, f)
	return e
}

// class is the order of precedence. A business code is the most specific; status 401 and 403 go before the words, and
// words of rate before those of overflow, because "too many tokens" can mean either.
func (x *Exchange) class(e *llm.Error, all string, f fault) llm.Class {
	status := e.Status
	if class := codeClass(f.code); class != "" {
		return class
	}
	switch {
	case status == 401, authWords.MatchString(all), status == 403 && !moderationWords.MatchString(all) && !quotaWords.MatchString(all):
		return llm.Auth
	case status == 402, quotaWords.MatchString(all) && !quotaKeep.MatchString(all):
		return llm.Quota
	case hopeless(all):
		return llm.Overflow
	case status == 429, rateWords.MatchString(all):
		return llm.Rate
	case x.overflows(all, f), status == 413:
		return llm.Overflow
	case serverWords.MatchString(all):
		return llm.Server
	}
	if status == 400 || status == 404 || status == 422 {
		if e.Param = x.refusedField(all, f, status); e.Param != "" {
			return llm.Param
		}
	}
	return x.plainClass(status, all, f)
}

// codeClass is the class of a business code of Z.ai, which come as strings and with misleading statuses.
func codeClass(code string) llm.Class {
	switch code {
	case "1113", "1310":
		return llm.Quota
	case "1302", "1305":
		return llm.Rate
	case "1261":
		return llm.Overflow
	case "1301":
		return llm.Content
	}
	return ""
}

// plainClass decides when nothing more telling was said.
func (x *Exchange) plainClass(status int, all string, f fault) llm.Class {
	switch {
	case moderationWords.MatchString(all):
		return llm.Content
	case modelWords.MatchString(all), status == 404 && f.isJSON:
		return llm.NoModel
	case status == 408, status >= 500, status < 400 && f.isJSON:
		return llm.Server
	case f.html, status == 404, status == 405, status < 400:
		return llm.Protocol
	default:
		return llm.Param
	}
}

// hopeless reports OpenAI's 429 for a request that is larger than the limit per minute, which no wait can cure.
func hopeless(all string) bool {
	m := tooLarge.FindStringSubmatch(all)
	if m == nil {
		return false
	}
	limit, err1 := strconv.Atoi(m[1])
	requested, err2 := strconv.Atoi(m[2])
	return err1 == nil && err2 == nil && requested > limit
}

// overflows reports a prompt that is too long; a string that is too long counts only if it is content, not an id.
func (x *Exchange) overflows(all string, f fault) bool {
	m := overflowWords.FindString(all)
	return m != "" && (m != "string_above_max_length" || strings.Contains(f.param, "content"))
}

// refusedField is the field of ours that the server names, "" if it names none. A 404 names one only in OpenRouter's
// way, which puts the value of a field in quotes.
func (x *Exchange) refusedField(all string, f fault, status int) string {
	if status == 404 && !strings.Contains(all, "value") {
		return ""
	}
	// Complaints about the history may mention fields by the way.
	if f.code == "1214" || orderWords.MatchString(all) {
		return ParamOrder
	}
	for _, name := range droppable() {
		_, sent := x.Set[name]
		if sent && (f.param == name || slices.Contains(identifiers(all), name)) {
			return name
		}
	}
	return ""
}

// identifiers are the words of s in which a field name may stand.
func identifiers(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// windowNumbers finds the window that an overflow message names.
var windowNumbers = regexp.MustCompile(`(?:maximum context length(?: is)?|maximum prompt length is|context length of|n_ctx|` +
	`context size(?: of)?|limit of|limit:|with|range of input length should be \[1,)\D{0,12}(\d{3,9})`)

const checkURL = "check the base URL"

// explain adds the hint for a person and the numbers that the message names.
func (x *Exchange) explain(e *llm.Error, f fault) {
	switch e.Class {
	case llm.Overflow:
		if m := windowNumbers.FindStringSubmatch(f.all()); m != nil {
			e.Window, _ = strconv.Atoi(m[1]) // at most nine digits
		}
	case llm.Protocol:
		e.Hint = checkURL
		if f.html {
			e.Message = "the base URL answers with a web page"
		}
	case llm.NoModel:
		e.Hint = "list the models with: autonomy model list"
		if x.Provider == "ollama" && !strings.Contains(f.all(), "does not support tools") {
			e.Hint = "get it with: ollama pull " + x.Model
		}
		if strings.Contains(f.all(), "does not support tools") {
			e.Hint = "choose a model that can use tools"
		}
	case llm.Content:
		e.Hint = "the provider's filter refused; rephrase the task"
	}
}
