package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// reply is one answer of a fake network.
type reply struct {
	status int
	header map[string]string
	body   string
	err    error
	after  time.Duration // until the headers come
	stalls bool          // after the body nothing comes, not even its end
}

// stalled is a body that never ends by itself.
type stalled struct {
	io.Reader
	ctx context.Context //nolint:containedctx // of its request
}

func (s stalled) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); err == nil {
		return n, nil
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// network answers chat requests from a list, the last one for ever, and everything else with 404. It needs no sockets,
// so it works inside a bubble.
type network struct {
	mu      sync.Mutex
	replies []reply
	at      []time.Time
	bodies  []string
	flying  int
	most    int
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		return &http.Response{StatusCode: 404, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("no"))}, nil
	}
	body, _ := io.ReadAll(r.Body)
	n.mu.Lock()
	next := n.replies[0]
	if len(n.replies) > 1 {
		n.replies = n.replies[1:]
	}
	n.at = append(n.at, time.Now())
	n.bodies = append(n.bodies, string(body))
	n.flying++
	n.most = max(n.most, n.flying)
	n.mu.Unlock()
	if next.after > 0 {
		select {
		case <-time.After(next.after):
		case <-r.Context().Done():
			next.err = r.Context().Err()
		}
	}
	n.mu.Lock()
	n.flying--
	n.mu.Unlock()
	if next.err != nil {
		return nil, next.err
	}
	header := http.Header{}
	for k, v := range next.header {
		header.Set(k, v)
	}
	var answer io.Reader = strings.NewReader(next.body)
	if next.stalls {
		answer = stalled{answer, r.Context()}
	}
	return &http.Response{StatusCode: next.status, Header: header, Body: io.NopCloser(answer)}, nil
}

// seconds are the moments of the requests since start.
func (n *network) seconds(start time.Time) []int {
	var out []int
	for _, at := range n.at {
		out = append(out, int(at.Sub(start).Seconds()))
	}
	return out
}

func good(text string) reply {
	return reply{status: 200, body: `data: {"choices":[{"delta":{"content":"` + text + `"},"finish_reason":"stop"}]}` + "\n\n"}
}

func bad(status int, message string) reply {
	return reply{status: status, body: `{"error":{"message":"` + message + `"}}`}
}

// over makes a client of a row over a fake network; jitter is at its highest, so waits are exact.
func over(t *testing.T, id string, n *network, change ...func(*Config)) *Client {
	t.Helper()
	return dial(t, id, "https://models.test/v1", append([]func(*Config){func(c *Config) {
		c.HTTP = n
		c.Jitter = func() float64 { return 1 }
	}}, change...)...)
}

func TestR09_ModelErrorsAreBoundedAndLoud(t *testing.T) {
	const cutBody = `data: {"choices":[{"delta":{"content":"half"}}]}` + "\n\n"
	for _, tt := range []struct {
		name  string
		reply reply
		class llm.Class
		at    string // seconds of the requests
	}{
		{"500 storm", bad(500, "boom"), llm.Server, "[0 1 3 7 15]"},
		{"429 without Retry-After", bad(429, "slow"), llm.Rate, "[0 1 3 7 15]"},
		{"429 with Retry-After", reply{status: 429, header: map[string]string{"Retry-After": "30"}, body: "{}"}, llm.Rate, "[0 30 60 90 120]"},
		{"429 with too long a wait", reply{status: 429, header: map[string]string{"Retry-After": "90"}, body: "{}"}, llm.Quota, "[0]"},
		{"waits end after five minutes", reply{status: 503, header: map[string]string{"Retry-After": "59"}, body: "{}"}, llm.Server, "[0 59 118 177 236]"},
		{"spent account", bad(429, "insufficient_quota"), llm.Quota, "[0]"},
		{"bad key", bad(401, "bad key"), llm.Auth, "[0]"},
		{"cut stream", reply{status: 200, body: cutBody}, llm.Cut, "[0 1 3 7 15]"},
		{"web page", reply{status: 200, body: "<html>"}, llm.Protocol, "[0]"},
		{"web page of a gateway", reply{status: 502, body: "<html>Bad Gateway</html>"}, llm.Server, "[0 1 3 7 15]"},
		{"no headers", reply{status: 200, after: time.Hour}, llm.Transport, "[0 121 243 367 495]"},
		{"no first byte", reply{status: 200, stalls: true}, llm.Transport, "[0 121 243 367 495]"},
		{"silence in the middle", reply{status: 200, body: cutBody, stalls: true}, llm.Transport, "[0 121 243 367 495]"},
		{"silence after keep-alives", reply{status: 200, body: ": hi\n\n", stalls: true}, llm.Transport, "[0 121 243 367 495]"},
		{"reset", reply{err: errors.New("connection reset by peer")}, llm.Transport, "[0 1 3 7 15]"},
		{"moderation", bad(403, "moderation: flagged"), llm.Content, "[0]"},
		{"no model", bad(404, "model not found"), llm.NoModel, "[0]"},
		{"overflow", bad(400, "prompt is too long"), llm.Overflow, "[0]"},
		{"server says not to retry", reply{status: 500, header: map[string]string{"X-Should-Retry": "false"}, body: "{}"}, llm.Server, "[0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{replies: []reply{tt.reply}}
				req := ask1("hi")
				tries := 0
				finals := 0
				req.OnTry = func(try llm.Try) {
					tries++
					if try.N != tries || try.Class != tt.class {
						t.Errorf("try %+v", try)
					}
					if try.Final {
						finals++
					}
				}
				start := time.Now()
				_, err := over(t, "openai-api", n).Complete(t.Context(), req)
				var e *llm.Error
				if !errors.As(err, &e) || e.Class != tt.class || e.Tries != len(n.at) {
					t.Errorf("got %v", err)
				}
				if got := fmt.Sprint(n.seconds(start)); got != tt.at {
					t.Errorf("requests at %s, want %s", got, tt.at)
				}
				if tries != len(n.at) || finals != 1 {
					t.Errorf("%d tries told, %d final, %d requests", tries, finals, len(n.at))
				}
			})
		})
	}
}

func TestRetryTakesBackWhatWasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{replies: []reply{
			{status: 200, body: `data: {"choices":[{"delta":{"content":"half"}}]}` + "\n\n"}, good("whole"),
		}}
		var shown strings.Builder
		req := ask1("hi")
		req.OnDelta = func(d llm.Delta) {
			if d.Kind == llm.DeltaRestart {
				shown.WriteString("|")
			}
			shown.WriteString(d.Text)
		}
		resp, err := over(t, "openai-api", n).Complete(t.Context(), req)
		if err != nil || resp.Message.Content != "whole" || resp.Tries != 2 || shown.String() != "half|whole" {
			t.Errorf("got %+v, %v, shown %q", resp, err, shown.String())
		}
		if n.bodies[0] != n.bodies[1] {
			t.Error("the retry is another request")
		}
	})
}

func TestRefusedFieldIsChangedOnceAndRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{replies: []reply{
			bad(400, "Unsupported parameter: max_completion_tokens"), bad(400, "temperature is not supported"), good("a"), good("b"),
		}}
		temperature := 0.5
		req := ask1("hi")
		req.MaxTokens = 100
		req.Temperature = &temperature
		var changed []string
		req.OnTry = func(try llm.Try) { changed = append(changed, try.Changed) }
		limiters := &Limiters{}
		c := over(t, "openai-api", n, func(c *Config) {
			c.Limiters = limiters
			c.Endpoint.Quirks.Sampling = SamplingWished
		})
		for range 2 {
			if _, err := c.Complete(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		if fmt.Sprint(changed) != "[max_completion_tokens → max_tokens temperature]" {
			t.Errorf("changed %q", changed)
		}
		for i, want := range []string{`"max_completion_tokens":100`, `"temperature":0.5`, `"max_tokens":100`, `"max_tokens":100`} {
			if !strings.Contains(n.bodies[i], want) {
				t.Errorf("request %d lacks %s: %s", i, want, n.bodies[i])
			}
		}
		if strings.Contains(n.bodies[3], "temperature") || len(n.bodies) != 4 {
			t.Error("what was refused was not remembered")
		}
	})
}

func TestParamChangesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{replies: []reply{bad(400, "bad field: max_completion_tokens max_tokens tool_choice parallel_tool_calls stream_options")}}
		req := ask1("hi")
		req.MaxTokens = 9
		_, err := over(t, "openai-api", n).Complete(t.Context(), req)
		if llm.ClassOf(err) != llm.Param || len(n.at) != 1+maxChanges {
			t.Errorf("got %v after %d requests", err, len(n.at))
		}
	})
}

func TestComplaintAboutOrderIsAnsweredOnceInPlainText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{replies: []reply{bad(400, "messages with role 'tool' must be a response to a preceding message with 'tool_calls'")}}
		req := ask1("hi")
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "bash", Arguments: json.RawMessage(`{"command":"ls"}`)}}},
			llm.Message{Role: llm.ToolRole, CallID: "a", Content: "files"})
		_, err := over(t, "openai-api", n).Complete(t.Context(), req)
		if llm.ClassOf(err) != llm.Param || len(n.bodies) != 2 {
			t.Fatalf("got %v after %d requests", err, len(n.bodies))
		}
		if !strings.Contains(n.bodies[0], `"tool_calls":[`) || strings.Contains(n.bodies[1], `"tool_calls":[`) || !strings.Contains(n.bodies[1], "files") {
			t.Errorf("sent %s\nthen %s", n.bodies[0], n.bodies[1])
		}
	})
}

func TestEmptyAnswerIsRepeatedNudgedAndGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		empty := reply{status: 200, body: `data: {"choices":[{"delta":{"reasoning_content":"hm"},"finish_reason":"stop"}]}` + "\n\n"}
		n := &network{replies: []reply{empty}}
		_, err := over(t, "openai-api", n).Complete(t.Context(), ask1("hi"))
		if llm.ClassOf(err) != llm.Empty || len(n.bodies) != 3 {
			t.Fatalf("got %v after %d requests", err, len(n.bodies))
		}
		if n.bodies[0] != n.bodies[1] || !strings.Contains(n.bodies[2], nudge) {
			t.Error("want the same request again, then the nudge")
		}
		n = &network{replies: []reply{{status: 200, body: `data: {"choices":[{"delta":{},"finish_reason":"length"}]}` + "\n\n"}}}
		if _, err := over(t, "openai-api", n).Complete(t.Context(), ask1("hi")); llm.ClassOf(err) != llm.Empty || len(n.at) != 1 {
			t.Errorf("nothing at the limit: %v after %d requests", err, len(n.at))
		}
	})
}

func TestCancelEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{replies: []reply{{status: 429, header: map[string]string{"Retry-After": "50"}, body: "{}"}}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		_, err := over(t, "openai-api", n).Complete(ctx, ask1("hi"))
		if llm.ClassOf(err) != llm.Cancelled || time.Since(start) != 10*time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestRefusedOnLoopbackIsTriedTwice(t *testing.T) {
	e, err := Resolve(Settings{Provider: "ollama", Model: "m", BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Endpoint: e, Jitter: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Complete(t.Context(), ask1("hi"))
	var known *llm.Error
	if !errors.As(err, &known) || known.Class != llm.Transport || known.Tries != 2 || !strings.Contains(known.Hint, "running") {
		t.Errorf("got %v", err)
	}
}

func TestFallbackWithCoolDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &network{replies: []reply{bad(402, "Insufficient Balance")}}
		second := &network{replies: []reply{good("from the second")}}
		var other Endpoint
		c := over(t, "openai-api", first, func(c *Config) {
			other = c.Endpoint
			other.Model = "second"
			other.BaseURL = "https://second.test/v1"
			c.Fallbacks = []Endpoint{other}
			c.HTTP = byHost{"models.test": first, "second.test": second}
		})
		for range 2 {
			resp, err := c.Complete(t.Context(), ask1("hi"))
			if err != nil || resp.Model != "second" {
				t.Fatalf("got %+v, %v", resp, err)
			}
		}
		if len(first.at) != 1 || len(second.at) != 2 {
			t.Errorf("%d and %d requests; the first should rest", len(first.at), len(second.at))
		}
		time.Sleep(defaultCoolDown)
		if _, err := c.Complete(t.Context(), ask1("hi")); err != nil || len(first.at) != 2 {
			t.Errorf("after the cool-down: %v, %d requests", err, len(first.at))
		}
		second.replies = []reply{bad(401, "no")}
		if _, err := c.Complete(t.Context(), ask1("hi")); llm.ClassOf(err) != llm.Auth {
			t.Errorf("got %v", err)
		}
	})
}

// byHost is a network of several hosts.
type byHost map[string]*network

func (b byHost) RoundTrip(r *http.Request) (*http.Response, error) { return b[r.URL.Host].RoundTrip(r) }
