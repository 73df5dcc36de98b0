package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/internal/config"
)

// TestMain lets the test binary stand in for the program: with the variable set it plays a daemon that reports ready,
// fails, or dies.
func TestMain(m *testing.M) {
	switch os.Getenv("CONTROL_TEST_ROLE") {
	case "ready":
		a := NewAnnouncer()
		if os.Getenv(readyVariable) != "" {
			os.Exit(9)
		}
		a.Ready(nil)
		os.Exit(0)
	case "refused":
		NewAnnouncer().Ready(Errorf(CodeRunning, "already running (pid 7)"))
		os.Exit(3)
	case "dies":
		os.Exit(2)
	}
	goleak.VerifyTestMain(m)
}

type fakeService struct {
	Service
	spawned SpawnRequest
	events  []Event
	answer  Answer
}

func (f *fakeService) Status(context.Context) (Status, error) {
	return Status{PID: 42, Tasks: map[string]int{"pending": 2}}, nil
}

func (f *fakeService) Spawn(_ context.Context, req SpawnRequest) (Member, error) {
	if req.Name == "bob" {
		return Member{}, &Error{Code: CodeConflict, Message: "bob is live", Hint: "stop it first"}
	}
	f.spawned = req
	return Member{Name: req.Name, State: "starting"}, nil
}

func (f *fakeService) Answer(_ context.Context, a Answer) (Approval, error) {
	f.answer = a
	return Approval{ID: a.ID, State: "approved"}, nil
}

func (f *fakeService) Stop(context.Context, StopRequest) error { return errors.New("disk full") }

func (f *fakeService) Send(context.Context, SendRequest) (SendReply, error) {
	return SendReply{IDs: []string{"m"}, Queued: true, Note: "queued; not running"}, nil
}

func (f *fakeService) Events(_ context.Context, after int64, yield func(Event) error) error {
	for _, e := range f.events {
		if e.Seq > after {
			if err := yield(e); err != nil {
				return err
			}
		}
	}
	return Errorf(CodeStopping, "the daemon is going down")
}

// workspace makes one whose path leaves room for a socket, however long the path of the temporary folder is.
func workspace(t *testing.T) config.Workspace {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "control")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	ws, err := config.At(root)
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

// world is a workspace with a served socket.
type world struct {
	ws      config.Workspace
	service *fakeService
	cfg     HandlerConfig
}

func serve(t *testing.T, change func(*HandlerConfig)) *world {
	t.Helper()
	ws := workspace(t)
	if err := os.MkdirAll(ws.Team(), 0o700); err != nil {
		t.Fatal(err)
	}
	w := &world{ws: ws, service: &fakeService{}}
	w.cfg = HandlerConfig{
		Service: w.service, Hello: Hello{Version: Version(), Protocol: Protocol, PID: 42}, UID: 1,
		Peer:       func(context.Context) (Peer, bool) { return Peer{PID: 5, UID: 1}, true },
		Descendant: func(int) bool { return false },
	}
	if change != nil {
		change(&w.cfg)
	}
	l, err := net.Listen("unix", ws.Socket())
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: NewHandler(w.cfg), ReadHeaderTimeout: time.Second}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close(); <-done })
	return w
}

func dial(t *testing.T, w *world) *Client {
	t.Helper()
	c, err := Dial(t.Context(), w.ws)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCallsTravelWhole(t *testing.T) {
	w := serve(t, nil)
	c := dial(t, w)
	s, err := c.Status(t.Context())
	if err != nil || s.PID != 42 || s.Tasks["pending"] != 2 {
		t.Errorf("Status = %+v, %v", s, err)
	}
	m, err := c.Spawn(t.Context(), SpawnRequest{Name: "alice", Role: "coder", Toolsets: []string{"file"}})
	if err != nil || m.State != "starting" || w.service.spawned.Toolsets[0] != "file" {
		t.Errorf("Spawn = %+v, %v; served %+v", m, err, w.service.spawned)
	}
	r, err := c.Send(t.Context(), SendRequest{To: "alice", Content: "hi"})
	if err != nil || !r.Queued || r.Note != "queued; not running" {
		t.Errorf("Send = %+v, %v", r, err)
	}
}

func TestErrorsKeepCodeAndHint(t *testing.T) {
	c := dial(t, serve(t, nil))
	_, err := c.Spawn(t.Context(), SpawnRequest{Name: "bob"})
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeConflict || e.Hint != "stop it first" || e.Message != "bob is live" {
		t.Errorf("Spawn(bob) = %#v, want conflict with its hint", err)
	}
	if err := c.Stop(t.Context(), StopRequest{}); !errors.As(err, &e) || e.Code != CodeInternal || e.Message != "disk full" {
		t.Errorf("Stop = %#v, want internal", err)
	}
}

// A body can't turn a denial into an approval: the route decides.
func TestRouteDecidesTheAnswer(t *testing.T) {
	w := serve(t, nil)
	c := dial(t, w)
	if err := c.call(t.Context(), http.MethodPost, "/deny", Answer{ID: "r", Approve: true}, nil); err != nil {
		t.Fatal(err)
	}
	if w.service.answer.Approve {
		t.Error("deny was served as an approval")
	}
}

func TestEventsStreamFromSeqAndEndWithTheError(t *testing.T) {
	w := serve(t, nil)
	w.service.events = []Event{{Seq: 1, Type: "spawned"}, {Seq: 2, Type: "claimed", Task: 3}, {Seq: 3, Type: "completed"}}
	var got []int64
	err := dial(t, w).Events(t.Context(), 1, func(e Event) error { got = append(got, e.Seq); return nil })
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeStopping {
		t.Errorf("Events ended with %v, want the service's error", err)
	}
	if len(got) != 2 || got[0] != 2 || got[1] != 3 {
		t.Errorf("Events after 1 = %v, want 2 and 3", got)
	}
}

func TestDialWithoutDaemon(t *testing.T) {
	ws := workspace(t)
	if _, err := Dial(t.Context(), ws); !errors.Is(err, ErrNotRunning) {
		t.Errorf("no folder: %v, want ErrNotRunning", err)
	}
	if err := os.Mkdir(ws.Team(), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", ws.Socket())
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if _, err := Dial(t.Context(), ws); !errors.Is(err, ErrNotRunning) {
		t.Errorf("socket of a dead daemon: %v, want ErrNotRunning", err)
	}
}

func TestVersionsAreCompared(t *testing.T) {
	w := serve(t, func(c *HandlerConfig) { c.Hello.Version = "v0.0.1" })
	c, err := Dial(t.Context(), w.ws)
	var v *VersionError
	if !errors.As(err, &v) || v.Daemon != "v0.0.1" || v.Client != Version() {
		t.Fatalf("Dial = %v, want *VersionError with both", err)
	}
	defer c.Close()
	if _, err := c.Status(t.Context()); err != nil {
		t.Errorf("the client beside a *VersionError can't be used: %v", err)
	}
}

func TestGuardRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*HandlerConfig)
		host   string
		origin string
		path   string
		want   int
	}{
		{"own user", nil, host, "", "/v1/status", 200},
		{"another user", func(c *HandlerConfig) { c.UID = 2 }, host, "", "/v1/status", 403},
		{"unknown peer", func(c *HandlerConfig) {
			c.Peer = func(context.Context) (Peer, bool) { return Peer{}, false }
		}, host, "", "/v1/status", 403},
		{"other host", nil, "localhost", "", "/v1/status", 403},
		{"browser", nil, host, "http://evil.example", "/v1/status", 403},
		{"agent's command looks", func(c *HandlerConfig) {
			c.Descendant = func(pid int) bool { return pid == 5 }
		}, host, "", "/v1/status", 200},
		{"unknown route", nil, host, "", "/v1/nothing", 404},
		{"other protocol", nil, host, "", "/v2/status", 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &Client{socket: serve(t, tt.change).ws.Socket()}
			status, _ := raw(t, c, http.MethodGet, tt.path, tt.host, tt.origin, nil)
			if status != tt.want {
				t.Errorf("status %d, want %d", status, tt.want)
			}
		})
	}
}

// SECURITY: what an agent's command runs may not approve, stop or spawn.
func TestR17_AgentsCommandsHaveNoAuthority(t *testing.T) {
	w := serve(t, func(c *HandlerConfig) { c.Descendant = func(int) bool { return true } })
	c := &Client{socket: w.ws.Socket()}
	for _, path := range []string{"approve", "deny", "stop", "spawn", "rm", "down", "line", "interrupt", "compact"} {
		if status, body := raw(t, c, http.MethodPost, "/v1/"+path, host, "", []byte(`{}`)); status != 403 {
			t.Errorf("%s: %d %s, want 403", path, status, body)
		}
	}
}

func TestRequestsAreBounded(t *testing.T) {
	c := &Client{socket: serve(t, nil).ws.Socket()}
	big := append([]byte(`{"name":"`), bytes.Repeat([]byte("x"), maxRequest)...)
	status, body := raw(t, c, http.MethodPost, "/v1/spawn", host, "", append(big, `"}`...))
	if status != http.StatusRequestEntityTooLarge || !strings.Contains(body, string(CodeTooLarge)) {
		t.Errorf("large request: %d %.80s", status, body)
	}
	if status, _ := raw(t, c, http.MethodPost, "/v1/spawn", host, "", []byte(`{"name":`)); status != 400 {
		t.Errorf("cut request: %d, want 400", status)
	}
}

// raw makes one request past the Client's own choices.
func raw(t *testing.T, c *Client, method, path, hostHeader, origin string, body []byte) (int, string) {
	t.Helper()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", c.socket)
	}}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://x"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = hostHeader
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, buf.String()
}

func TestAddressOfALongPath(t *testing.T) {
	short := config.Workspace{Root: "/w"}
	if path, elsewhere := Address(short, "/run/user/1/autonomy"); elsewhere || path != short.Socket() {
		t.Errorf("short path: %s, %v", path, elsewhere)
	}
	long := config.Workspace{Root: "/" + strings.Repeat("d/", 60)}
	path, elsewhere := Address(long, "/run/user/1/autonomy")
	if !elsewhere || len(path) > maxSocketPath || filepath.Dir(path) != "/run/user/1/autonomy" {
		t.Errorf("long path: %s, %v", path, elsewhere)
	}
}

func TestStartReportsHowItWent(t *testing.T) {
	tests := []struct {
		role string
		want func(pid int, err error) bool
	}{
		{"ready", func(pid int, err error) bool { return err == nil && pid > 0 }},
		{"refused", func(_ int, err error) bool {
			var e *Error
			return errors.As(err, &e) && e.Code == CodeRunning && e.Message == "already running (pid 7)"
		}},
		{"dies", func(_ int, err error) bool {
			var e *Error
			return errors.As(err, &e) && strings.Contains(e.Message, "exit status 2") && strings.Contains(e.Hint, "daemon.log")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.role, func(t *testing.T) {
			ws, err := config.At(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("CONTROL_TEST_ROLE", tt.role)
			if pid, err := Start(t.Context(), ws, StartOptions{}); !tt.want(pid, err) {
				t.Errorf("Start = %d, %v", pid, err)
			}
		})
	}
}

// The wire names are a contract: faces in other languages read them.
func TestWireNames(t *testing.T) {
	data, err := json.Marshal(Member{Name: "a", State: "idle", IdleLeftMS: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"name":"a"`, `"state":"idle"`, `"idle_left_ms":5`, `"unread":0`} {
		if !bytes.Contains(data, []byte(key)) {
			t.Errorf("%s lacks %s", data, key)
		}
	}
}
