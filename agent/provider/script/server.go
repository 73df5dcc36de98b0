package script

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// maxBody bounds a request body.
const maxBody = 64 << 20

// Server plays a script over loopback HTTP: POST /v1/chat/completions (stream or JSON) and GET /v1/models. A request
// that no entry answers gets status 500 with a message that says so, and the header x-should-retry: false.
type Server struct {
	player *player
	http   *http.Server
	url    string
	served chan error
	busy   sync.WaitGroup // chat requests being answered

	mu       sync.Mutex
	requests []Recorded
	arrived  chan struct{} // closed and replaced at every arrival
}

// Recorded is one chat request as it arrived.
type Recorded struct {
	Header http.Header
	Body   []byte
	// Request is the body in our own words; fields that llm.Request does not have are in Body.
	Request llm.Request
}

// NewServer listens on a free loopback port until Close.
func NewServer(s Script) (*Server, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("play script: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("play script: %w", err)
	}
	srv := &Server{
		player: newPlayer(s), url: "http://" + listener.Addr().String() + "/v1", served: make(chan error, 1),
		arrived: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", srv.chat)
	mux.HandleFunc("GET /v1/models", srv.models)
	srv.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { srv.served <- srv.http.Serve(listener) }()
	return srv, nil
}

// URL is the base URL, /v1 included.
func (s *Server) URL() string { return s.url }

// Close ends the server and waits for it. Closing the connections ends the contexts of held answers.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.served
	s.busy.Wait()
}

// Release lets the answers held under name go.
func (s *Server) Release(name string) { s.player.release(name) }

// Remaining is how many uses are left of the entries that do not answer always.
func (s *Server) Remaining() int { return s.player.remaining() }

// Requests are the chat requests so far, in order of arrival.
func (s *Server) Requests() []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Recorded(nil), s.requests...)
}

// Count is the number of chat requests so far.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// Wait returns once n chat requests have arrived, or with the context's error.
func (s *Server) Wait(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		count, arrived := len(s.requests), s.arrived
		s.mu.Unlock()
		if count >= n {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return fmt.Errorf("wait for request %d, have %d: %w", n, count, ctx.Err())
		}
	}
}

// chat answers one completion request. It runs on a goroutine of the HTTP server, for which Close waits.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	s.busy.Add(1)
	defer s.busy.Done()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeError(w, http.StatusBadRequest, "script: read request: "+err.Error())
		return
	}
	req, stream, err := decode(body)
	s.record(Recorded{Header: r.Header.Clone(), Body: body, Request: req})
	if err != nil {
		writeError(w, http.StatusBadRequest, "script: "+err.Error())
		return
	}
	entry, err := s.player.pick(req)
	if err != nil {
		w.Header().Set("X-Should-Retry", "false")
		writeError(w, http.StatusInternalServerError, err.Error())
		return
	}
	if s.player.wait(r.Context(), entry) != nil {
		return
	}
	switch {
	case entry.Error != nil:
		sendFailure(w, *entry.Error)
	case stream:
		s.sendStream(w, *entry.Reply, len(body))
	default:
		s.sendJSON(w, *entry.Reply, len(body))
	}
}

// record keeps a request and wakes everyone in Wait.
func (s *Server) record(r Recorded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// models lists the one model, with its window in the form of vLLM.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.player.script.Model, "object": "model", "owned_by": "script", "max_model_len": s.player.script.Window,
	}}})
}

// sendFailure sends a scripted failure as it stands.
func sendFailure(w http.ResponseWriter, f Failure) {
	if f.Drop {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
		return
	}
	for k, v := range f.Headers {
		w.Header().Set(k, v)
	}
	if f.Body == "" {
		writeError(w, f.status(), f.Message)
		return
	}
	w.WriteHeader(f.status())
	_, _ = io.WriteString(w, f.Body)
}

// writeError sends an error in the form of the OpenAI API.
func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message}})
}

// writeJSON sends v; a client that went away is no concern of ours.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
