package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// Real error bodies of vendors, by class. The fields sent are those of a full request.
func TestRule11_ClassifyWhatServersSay(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   llm.Class
		param  string
	}{
		{"openai bad key", 401, `{"error":{"message":"Incorrect API key provided: sk-abcdefgh123. You can find…","type":"invalid_request_error","code":"invalid_api_key"}}`, llm.Auth, ""},
		{"forbidden", 403, `{"error":"forbidden"}`, llm.Auth, ""},
		{"openrouter moderation", 403, `{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged","metadata":{"reasons":["x"]}}}`, llm.Content, ""},
		{"openrouter credits", 402, `{"error":{"code":402,"message":"Insufficient credits"}}`, llm.Quota, ""},
		{"402 and no more", 402, `{}`, llm.Quota, ""},
		{"openai quota as 429", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, llm.Quota, ""},
		{"zai balance as 429", 429, `{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`, llm.Quota, ""},
		{"zai weekly limit", 429, `{"error":{"code":"1310","message":"Weekly/Monthly Limit Exhausted"}}`, llm.Quota, ""},
		{"deepseek balance", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, llm.Quota, ""},
		{"a load balancer is no balance", 502, `upstream load balancer failed`, llm.Server, ""},
		{"nvidia rate", 429, `{"status":429,"title":"Too Many Requests"}`, llm.Rate, ""},
		{"zai rate", 200, `{"error":{"code":"1302","message":"x"}}`, llm.Rate, ""},
		{"zai overload", 500, `{"error":{"code":"1305","message":"x"}}`, llm.Rate, ""},
		{"dashscope throttling is no overflow", 400, `{"code":"ThrottlingException","message":"Too many tokens, please wait before trying again."}`, llm.Rate, ""},
		{"overloaded 529", 529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.Rate, ""},
		{"openai request too large", 429, `{"error":{"message":"Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 45000.","code":"rate_limit_exceeded"}}`, llm.Overflow, ""},
		{"openai rate of tokens", 429, `{"error":{"message":"Rate limit reached: Limit 30000, Used 29000, Requested 2000.","code":"rate_limit_exceeded"}}`, llm.Rate, ""},
		{"param by name", 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`, llm.Param, "max_tokens"},
		{"param in the message", 400, `{"detail":[{"loc":["body","temperature"],"msg":"temperature: extra inputs are not permitted"}]}`, llm.Param, "temperature"},
		{"openrouter tool_choice 404", 404, `{"error":{"message":"No endpoints found that support the provided 'tool_choice' value.","code":404}}`, llm.Param, "tool_choice"},
		{"openrouter no tools 404", 404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, llm.NoModel, ""},
		{"field that was not sent", 400, `{"error":{"message":"top_logprobs is bad"}}`, llm.Param, ""},
		{"history order", 400, `{"error":{"message":"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."}}`, llm.Param, ParamOrder},
		{"echo lost", 400, `{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"}}`, llm.Param, ParamOrder},
		{"ollama no such model", 404, `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}`, llm.NoModel, ""},
		{"ollama no tools", 400, `{"error":{"message":"registry.ollama.ai/library/x does not support tools"}}`, llm.NoModel, ""},
		{"nvidia function", 404, `{"status":404,"title":"Not Found","detail":"Function 'abc': Not found for account 'x'"}`, llm.NoModel, ""},
		{"nvidia degraded", 400, `{"status":400,"title":"Bad Request","detail":"Function id 'a': DEGRADED function cannot be invoked"}`, llm.Server, ""},
		{"deepseek content", 400, `{"error":{"message":"Content Exists Risk"}}`, llm.Content, ""},
		{"dashscope inspection", 400, `{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."},"request_id":"x"}`, llm.Content, ""},
		{"ollama tool parse", 500, `{"error":{"message":"error parsing tool call: raw='{' err=unexpected end of JSON input"}}`, llm.Server, ""},
		{"llama.cpp loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, llm.Server, ""},
		{"timeout", 408, ``, llm.Server, ""},
		{"xai shape", 400, `{"code":"Client specified an invalid argument","error":"This model does not support reasoning_effort."}`, llm.Param, "reasoning_effort"},
		{"LM Studio shape", 404, `{"error":"Model not found"}`, llm.NoModel, ""},
		{"404 page", 404, `<html>not found</html>`, llm.Protocol, ""},
		{"404 text", 404, `404 page not found`, llm.Protocol, ""},
		{"413 without a body", 413, ``, llm.Overflow, ""},
		{"error as JSON in metadata.raw", 200, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 300000 tokens\"}}"}}}`, llm.Overflow, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := answer(t, tt.status, strings.NewReader(tt.body), func(x *Exchange) {
				for _, f := range droppable() {
					x.Set[f] = quote("x")
				}
				delete(x.Set, "max_completion_tokens")
			})
			var e *llm.Error
			if !errors.As(err, &e) || e.Class != tt.want || e.Param != tt.param {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestRule12_OverflowPhrases(t *testing.T) {
	for _, tt := range []struct {
		message string
		window  int
	}{
		{"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", 8192},
		{"prompt is too long: 210000 tokens > 200000 maximum", 0},
		{"Your input exceeds the context window of this model", 0},
		{"This request exceeds the maximum context length", 0},
		{"This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131072},
		{"Please reduce the length of the messages or completion.", 0},
		{"input is longer than the model's context length", 0},
		{"the request exceeds the available context size, try increasing it; n_ctx 4096", 4096},
		{"number of tokens to keep from the initial prompt is greater than the context length", 0},
		{"invalid params, context window exceeds limit (2013)", 0},
		{"Invalid request: Your request exceeded model token limit: 262144", 262144},
		{"Prompt contains 9000 tokens, too large for model with 8192 maximum context length", 8192},
		{"prompt too long; exceeded max context length by 300 tokens", 0},
		{"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", 129024},
		{"Prompt 超长", 0},
	} {
		_, _, err := answer(t, 400, strings.NewReader(fmt.Sprintf(`{"error":{"message":%q}}`, tt.message)), nil)
		var e *llm.Error
		if !errors.As(err, &e) || e.Class != llm.Overflow || e.Window != tt.window {
			t.Errorf("%q: got %v with window %d, want %d", tt.message, err, e.Window, tt.window)
		}
	}
	for param, want := range map[string]llm.Class{
		"messages.[3].content": llm.Overflow, "messages[2].tool_calls[0].id": llm.Param,
	} {
		_, _, err := answer(t, 400, strings.NewReader(fmt.Sprintf(`{"error":{"code":"string_above_max_length","message":"string too long","param":%q}}`, param)), nil)
		if llm.ClassOf(err) != want {
			t.Errorf("%s: got %v, want %s", param, err, want)
		}
	}
}

func TestRetryAfterInAllForms(t *testing.T) {
	date := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	for _, tt := range []struct {
		header   http.Header
		min, max time.Duration
	}{
		{http.Header{}, 0, 0},
		{http.Header{"Retry-After": {"7"}}, 7 * time.Second, 7 * time.Second},
		{http.Header{"Retry-After": {"1.5"}}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		{http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"250"}}, 250 * time.Millisecond, 250 * time.Millisecond},
		{http.Header{"Retry-After": {date}}, 80 * time.Second, 91 * time.Second},
		{http.Header{"Retry-After": {"-3"}}, 0, 0},
		{http.Header{"Retry-After": {"NaN"}}, 0, 0},
		{http.Header{"Retry-After": {"1e300"}}, 7 * 24 * time.Hour, 7 * 24 * time.Hour},
		{http.Header{"X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {"1m2s"}, "X-Ratelimit-Remaining-Tokens": {"9"}, "X-Ratelimit-Reset-Tokens": {"9m"}}, 62 * time.Second, 62 * time.Second},
	} {
		if got := retryAfter(tt.header); got < tt.min || got > tt.max {
			t.Errorf("%v gave %s", tt.header, got)
		}
	}
}

// Twenty kinds of secrets in every place an error can quote.
func TestRedactHidesKeysOfAllKinds(t *testing.T) {
	for _, secret := range []string{
		"sk-proj-AbCdEf0123456789", "sk-or-v1-0123456789abcdef", "sk-kimi-abcdefgh", "sk-ant-api03-xyzxyz", "nvapi-AbCdEf012345",
		"xai-AbCdEf012345", "gsk_abcdef0123456", "hf_abcdef0123456", "ghp_abcdef0123456789", "AIzaSyA0123456789abcdefghijklmn",
		"Bearer abcdefghijkl", "Basic dXNlcjpwYXNz", "https://user:hunter22@host/v1", "api_key=abcdef123456", "apiKey: abcdef123456",
		"token=abcdef123456", `"password":"hunter2222"`, "0123456789abcdef0123456789abcdef.AbCdEfGhIjKl", "pk-abcdefghij", "secret=abcdef99",
	} {
		got := Redact("server said: "+secret+" is bad", nil)
		for _, part := range strings.FieldsFunc(secret, func(r rune) bool { return strings.ContainsRune(` :="/@`, r) }) {
			if len(part) >= 8 && strings.Contains(got, part) && part != "password" {
				t.Errorf("%q shows in %q", part, got)
			}
		}
	}
	if got := Redact("the odd key 4711-canary", []string{"4711-canary"}); strings.Contains(got, "4711") {
		t.Errorf("known value shows in %q", got)
	}
	if got := Redact(strings.Repeat("ä\x00\n", 1000), nil); len(got) > maxShown+4 || strings.ContainsAny(got, "\x00\n") {
		t.Errorf("not cut or cleaned: %q", got)
	}
}
