package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

func post(t *testing.T, ctx context.Context, x *Exchange, base http.RoundTripper, url, body string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(With(ctx, x), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&Transport{Base: base}).RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	return string(out), err
}

func TestEditMakesTheRequestThatServersWant(t *testing.T) {
	x := &Exchange{
		Model: "true/model", Header: http.Header{"User-Agent": {"autonomy/1"}},
		Set: fields{"temperature": json.RawMessage("0"), "stream_options": nil, "zeta": json.RawMessage(`{"b":1,"a":[]}`)},
	}
	in := `{"model":"model","stream":true,"stream_options":{},"odd":1,"messages":[{"role":"user","content":"hi"},
		{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"","function":{"name":"idle"}}]},{"role":"tool","name":"idle","tool_call_id":"a"}]}`
	var got []string
	base := roundTrip(func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, string(body))
		if r.Header.Get("Accept-Encoding") != "identity" || r.Header.Get("User-Agent") != "autonomy/1" || r.ContentLength != int64(len(body)) {
			t.Errorf("headers %v", r.Header)
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(content("x") + doneLine))}, nil
	})
	for range 2 {
		if _, err := post(t, t.Context(), x, base, "http://127.0.0.1/", in); err != nil {
			t.Fatal(err)
		}
	}
	x.Messages, x.ToolList = json.RawMessage(`[{"content":"as it is"}]`), json.RawMessage(`[1]`)
	if _, err := post(t, t.Context(), x, base, "http://127.0.0.1/", in); err != nil {
		t.Fatal(err)
	}
	ready := `{"messages":[{"content":"as it is"}],"model":"true/model","odd":1,"stream":true,"temperature":0,"tools":[1],"zeta":{"b":1,"a":[]}}`
	if got[2] != ready {
		t.Errorf("sent %s\nwant %s", got[2], ready)
	}
	want := `{"messages":[{"content":"hi","role":"user"},` +
		`{"content":"","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"idle"},"id":"a","type":"function"}]},` +
		`{"content":"","role":"tool","tool_call_id":"a"}],"model":"true/model","odd":1,"stream":true,"temperature":0,"zeta":{"b":1,"a":[]}}`
	if got[0] != want {
		t.Errorf("sent %s\nwant %s", got[0], want)
	}
	if got[0] != got[1] {
		t.Error("the same request gave other bytes")
	}
}

func TestEncodeMessageSetsWhatTheClientCannotHold(t *testing.T) {
	got := EncodeMessage(json.RawMessage(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"idle","arguments":""}}]}`),
		fields{"reasoning_content": quote("hm")}, map[string]fields{"a": {"extra_content": json.RawMessage(`{"g":1}`)}})
	want := `{"content":"","reasoning_content":"hm","role":"assistant",` +
		`"tool_calls":[{"extra_content":{"g":1},"function":{"arguments":"{}","name":"idle"},"id":"a","type":"function"}]}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestRedirectsAreRefused(t *testing.T) {
	reached := false
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer target.Close()
	srv := httptest.NewServer(http.RedirectHandler(target.URL+"/other", http.StatusFound))
	defer srv.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	_, err := post(t, t.Context(), &Exchange{}, base, srv.URL, `{"messages":[]}`)
	if llm.ClassOf(err) != llm.Protocol || !strings.Contains(err.Error(), "/other") || reached {
		t.Errorf("got %v, reached %v", err, reached)
	}
}

// stall is a body that gives its pieces at intervals and then is silent until the request ends.
type stall struct {
	ctx    context.Context
	gap    time.Duration
	pieces []string
}

func (s *stall) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		<-s.ctx.Done()
		return 0, context.Cause(s.ctx)
	}
	select {
	case <-time.After(s.gap):
	case <-s.ctx.Done():
		return 0, context.Cause(s.ctx)
	}
	n := copy(p, s.pieces[0])
	s.pieces = s.pieces[1:]
	return n, nil
}

func (s *stall) Close() error { return nil }

func stalling(gap time.Duration, pieces ...string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: &stall{r.Context(), gap, pieces}}, nil
	})
}

func TestLimits(t *testing.T) {
	limits := Limits{First: 60 * time.Second, Idle: 30 * time.Second, Total: 200 * time.Second}
	alive := make([]string, 50)
	for i := range alive {
		alive[i] = ": alive\n\n"
	}
	for _, tt := range []struct {
		name   string
		base   http.RoundTripper
		class  llm.Class
		took   time.Duration
		saying string
	}{
		{"no first byte", stalling(0), llm.Transport, 60 * time.Second, "no answer within 1m0s"},
		{"no headers", roundTrip(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }), llm.Transport, 60 * time.Second, "no answer"},
		{"silence", stalling(10*time.Second, content("a"), content("b")), llm.Transport, 50 * time.Second, "silence for 30s"},
		{"keep-alives count, the total ends it", stalling(20*time.Second, alive...), llm.Transport, 200 * time.Second, "no complete answer within 3m20s"},
		{"a late first byte is allowed more time", stalling(45*time.Second, content("a")+doneLine), "", 45 * time.Second, ""},
		{"after the finish only usage is waited for", stalling(10*time.Second, content("a"), finishLine("stop")), "", 25 * time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := post(t, t.Context(), &Exchange{Limits: limits}, tt.base, "http://127.0.0.1/", `{"messages":[]}`)
				if llm.ClassOf(err) != tt.class || err != nil && !strings.Contains(err.Error(), tt.saying) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

func TestCallersEndIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, pieces := range [][]string{{content("a")}, {content("a"), finishLine("stop")}} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, err := post(t, ctx, &Exchange{}, stalling(2*time.Second, pieces...), "http://127.0.0.1/", `{"messages":[]}`)
			if llm.ClassOf(err) != llm.Cancelled || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			cancel()
		}
	})
}

func TestBrokenConnections(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			_, _ = io.WriteString(w, content("half"))
			http.NewResponseController(w).Flush()
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}))
	defer srv.Close()
	base := &http.Transport{DisableKeepAlives: true}
	for path, want := range map[string]llm.Class{"/half": llm.Cut, "/none": llm.Transport} {
		_, err := post(t, t.Context(), &Exchange{}, base, srv.URL+path, `{"messages":[]}`)
		if llm.ClassOf(err) != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	_, err := post(t, t.Context(), &Exchange{}, base, "http://127.0.0.1:1/", `{"messages":[]}`)
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != llm.Transport || !strings.Contains(e.Hint, "running") {
		t.Errorf("refused: %v", err)
	}
}

func TestExpensiveInputsAreReadInTime(t *testing.T) {
	for name, body := range map[string]string{
		"quoted marks":    content(strings.Repeat("`</think>` ", 50_000)) + doneLine,
		"open brackets":   calls(`{"id":"a","function":{"name":"bash","arguments":"`+strings.Repeat(`[{`, 50_000)+`"}}`) + doneLine,
		"commas":          calls(`{"id":"a","function":{"name":"bash","arguments":"{`+strings.Repeat(` ,`, 50_000)+`"}}`) + doneLine,
		"many data lines": strings.Repeat("data: {\ndata: {}\n", 20_000),
		"closing tags":    calls(`{"id":"a","function":{"name":"bash","arguments":"`+strings.Repeat(`</a>`, 50_000)+`x"}}`) + doneLine,
		"white space":     strings.Repeat(content(" "), 30_000) + doneLine,
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, _, _ = answer(t, 200, strings.NewReader(body), nil)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}
