package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/config"
)

// crowd is a model server that counts the requests it has at once.
type crowd struct {
	status     int
	body       string
	retryAfter string
	expected   int // requests at once, which the first ones wait for

	full chan struct{} // closed by met
	met  func()

	mu               sync.Mutex
	count, now, most int
	askers           map[string]bool
}

const claimed = `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"complete_task","arguments":"{\"summary\":\"ok\"}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n"

// judged answers the judge, who is asked where a task has no verify.
const judged = `data: {"choices":[{"delta":{"content":"{\"verdict\":\"achieved\",\"reason\":\"fine\"}"},"finish_reason":"stop"}]}` + "\n\n"

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	asked, _ := io.ReadAll(r.Body) // what is missing is not found below
	c.mu.Lock()
	c.count++
	c.now++
	c.most = max(c.most, c.now)
	if c.most >= c.expected {
		c.met()
	}
	for _, name := range strings.Split("alice bob carol dave", " ") {
		if strings.Contains(string(asked), "You are '"+name+"'") {
			c.askers[name] = true
		}
	}
	c.mu.Unlock()
	select { // so that requests that may meet do meet
	case <-c.full:
	case <-r.Context().Done():
	}
	<-time.After(30 * time.Millisecond) // and one too many shows
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	if c.retryAfter != "" {
		w.Header().Set("Retry-After", c.retryAfter)
	}
	w.WriteHeader(c.status)
	body := c.body
	if body == claimed && !strings.Contains(string(asked), `"complete_task"`) {
		body = judged
	}
	_, _ = io.WriteString(w, body)
}

func (c *crowd) requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// serve starts the server and gives its base URL.
func (c *crowd) serve(t *testing.T) string {
	t.Helper()
	c.askers, c.full = map[string]bool{}, make(chan struct{})
	c.met = sync.OnceFunc(func() { close(c.full) })
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// crowded starts four members, each with a task, on one key of a server; row and more are the person's settings.
func crowded(t *testing.T, c *crowd, row string, more ...string) (*site, *process) {
	t.Helper()
	url := c.serve(t)
	for _, name := range []string{"AUTONOMY_PROVIDER", "AUTONOMY_MODEL", "AUTONOMY_BASE_URL"} {
		t.Setenv(name, "")
	}
	s := newSite(t)
	text := fmt.Sprintf("provider: custom\nmodel: scripted\nproviders:\n  custom: {base_url: '%s'%s}\n%s\n", url, row, strings.Join(more, "\n"))
	if err := os.WriteFile(config.UserConfig(s.user), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for id := 1; id <= 4; id++ {
		s.drop(id, map[string]any{"description": "Say that it is done.", "verify": "true"})
	}
	return s, s.start(testOptions{
		Spawn: coders("alice", "bob", "carol", "dave"), Mode: "full", Poll: 100 * time.Millisecond, Idle: 2 * time.Second, ExitWhenIdle: true,
	})
}

// The limits of a key are the whole team's: with one request at once, four members take turns.
func TestFourMembersShareTheLimitsOfTheirKey(t *testing.T) {
	for name, tt := range map[string]struct {
		settings string
		most     int
	}{
		"one at once": {", max_in_flight: 1", 1},
		"two at once": {", max_in_flight: 2", 2},
	} {
		t.Run(name, func(t *testing.T) {
			c := &crowd{status: 200, body: claimed, expected: tt.most}
			s, p := crowded(t, c, tt.settings)
			if code := p.exit(40 * time.Second); code != ExitOK {
				t.Errorf("exit status %d, want 0", code)
			}
			for id := 1; id <= 4; id++ {
				if got := s.read(id); got.Status != "completed" {
					t.Errorf("task %d = %+v", id, got)
				}
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.most != tt.most || c.count != 4 {
				t.Errorf("%d requests, at most %d at once; want 4 and %d", c.count, c.most, tt.most)
			}
		})
	}
}

// A spent account costs four members one request each at most, costs their tasks nothing, and is told to the lead once.
func TestR09_SpentAccountRestsTheTeam(t *testing.T) {
	c := &crowd{status: 429, body: `{"error":{"message":"slow down"}}`, retryAfter: "3600"}
	s, _ := crowded(t, c, "")
	client := s.dial()
	eventually(t, "all rest", 30*time.Second, func() bool {
		team, err := client.Team(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		resting := 0
		for _, m := range team.Members {
			if m.State == "backoff" {
				if until := time.Until(m.Until); until < 50*time.Minute || until > 61*time.Minute || !strings.Contains(m.Reason, "custom") {
					t.Fatalf("%s rests for %s: %s", m.Name, until, m.Reason)
				}
				resting++
			}
		}
		return resting == 4
	})
	c.mu.Lock()
	if c.count > 4 || c.count != len(c.askers) {
		t.Errorf("%d requests by %d members", c.count, len(c.askers))
	}
	c.mu.Unlock()
	for id := 1; id <= 4; id++ {
		if got := s.read(id); got.Status != "pending" || got.Owner != "" || got.Failure != nil && got.Failure.Count > 0 {
			t.Errorf("task %d = %+v, want it released uncounted", id, got)
		}
	}
	s.wantLeadToldOnce()
}

// A model that stands in takes over at once, and the first one is left alone until its cool-down is over.
func TestFallbackTakesOver(t *testing.T) {
	second := &crowd{status: 200, body: claimed}
	url := second.serve(t)
	first := &crowd{status: 402, body: `{"error":{"message":"Insufficient Balance"}}`}
	s, p := crowded(t, first, ", max_in_flight: 1}\n  ollama: {base_url: '"+url+"'", "fallback: [ollama/qwen3]")
	if code := p.exit(40 * time.Second); code != ExitOK {
		t.Errorf("exit status %d, want 0", code)
	}
	for id := 1; id <= 4; id++ {
		if got := s.read(id); got.Status != "completed" || got.Failure != nil {
			t.Errorf("task %d = %+v", id, got)
		}
	}
	// Members have one client together, so that what one has learned spares the others.
	if a, b := first.requests(), second.requests(); a < 1 || a > 4 || b != 4 {
		t.Errorf("%d requests at the first and %d at the second", a, b)
	}
}
