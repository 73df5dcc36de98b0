package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter is the wait that response headers ask for, 0 when they ask for none: retry-after-ms, Retry-After in
// seconds or as a date, or the reset of a rate limit that is used up (OpenAI's Go-like durations).
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	if after := strings.TrimSpace(h.Get("Retry-After")); after != "" {
		if s, err := strconv.ParseFloat(after, 64); err == nil {
			return seconds(s)
		}
		if at, err := http.ParseTime(after); err == nil {
			return max(time.Until(at), 0)
		}
	}
	var longest time.Duration
	for _, what := range []string{"Requests", "Tokens"} {
		if strings.TrimSpace(h.Get("X-Ratelimit-Remaining-"+what)) != "0" {
			continue
		}
		if d, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + what)); err == nil {
			longest = max(longest, d)
		}
	}
	if strings.TrimSpace(h.Get("X-Ratelimit-Remaining")) == "0" {
		// OpenRouter gives the moment in milliseconds since 1970.
		if ms, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil && ms > 1e12 {
			longest = max(longest, time.Until(time.UnixMilli(ms)))
		}
	}
	return longest
}

// seconds is a bounded conversion: nonsense becomes 0 and absurdly long becomes a week.
func seconds(s float64) time.Duration {
	const week = 7 * 24 * time.Hour
	switch {
	case !(s > 0):
		return 0
	case s > week.Seconds():
		return week
	default:
		return time.Duration(s * float64(time.Second))
	}
}

// requestID is the provider's own id of a generation.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Generation-Id", "X-Request-Id", "Request-Id"} {
		if id := h.Get(name); id != "" {
			return clip(id, 128)
		}
	}
	return ""
}
