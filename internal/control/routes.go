package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// host is the only value of the Host header that is served: a browser that was tricked into talking to the socket
// through some proxy would send another.
const host = "autonomy"

const (
	maxRequest  = 1 << 20
	maxCalls    = 64               // calls served at once, streams included
	writeWithin = 10 * time.Second // for one item of a stream to be taken by the reader
)

// Peer is the process at the other end of a connection.
type Peer struct {
	PID int // 0 when the system doesn't say
	UID int
}

// HandlerConfig is what a Handler needs. All fields are required.
type HandlerConfig struct {
	Service Service
	Hello   Hello
	// Peer tells who made a request; the daemon puts it into the connection's context.
	Peer func(context.Context) (Peer, bool)
	// UID is the only user that is served.
	UID int
	// Descendant reports whether a process was started, at whatever remove, by this daemon. Such a peer is an agent's
	// command: it may look and send, never approve, stop or spawn.
	Descendant func(pid int) bool
}

type nameRequest struct {
	Name string `json:"name"`
}

// NewHandler is the route table. It checks peer, host, origin, size and number of calls before the service sees them.
func NewHandler(cfg HandlerConfig) http.Handler {
	s := cfg.Service
	mux := http.NewServeMux()
	guard := &guard{cfg: cfg, slots: make(chan struct{}, maxCalls)}
	open := func(pattern string, h handler) { mux.Handle(pattern, guard.wrap(h, false)) }
	person := func(pattern string, h handler) { mux.Handle(pattern, guard.wrap(h, true)) }

	open("GET /v1/hello", ask(func(context.Context) (Hello, error) { return cfg.Hello, nil }))
	open("GET /v1/status", ask(s.Status))
	open("GET /v1/team", ask(s.Team))
	open("GET /v1/approvals", ask(s.Approvals))
	open("POST /v1/send", tell(s.Send))
	open("GET /v1/events", func(w http.ResponseWriter, r *http.Request) error {
		after, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
		if err != nil {
			return Errorf(CodeInvalid, "events: after wants a number")
		}
		return serveStream(w, func(yield func(any) error) error {
			return s.Events(r.Context(), after, func(e Event) error { return yield(e) })
		})
	})
	person("POST /v1/spawn", tell(s.Spawn))
	person("POST /v1/stop", do(s.Stop))
	person("POST /v1/rm", do(func(ctx context.Context, req nameRequest) error { return s.Remove(ctx, req.Name) }))
	person("POST /v1/down", do(s.Down))
	person("POST /v1/approve", answer(s, true))
	person("POST /v1/deny", answer(s, false))
	person("POST /v1/interrupt", do(s.Interrupt))
	person("POST /v1/compact", do(s.Compact))
	person("POST /v1/line", func(w http.ResponseWriter, r *http.Request) error {
		req, err := decode[LineRequest](r)
		if err != nil {
			return err
		}
		return serveStream(w, func(yield func(any) error) error {
			return s.Line(r.Context(), req, func(e LineEvent) error { return yield(e) })
		})
	})
	open("/", func(_ http.ResponseWriter, r *http.Request) error {
		return Errorf(CodeNotFound, "no such call: %s %s", r.Method, r.URL.Path)
	})
	return mux
}

type handler func(w http.ResponseWriter, r *http.Request) error

func answer(s Service, approve bool) handler {
	return tell(func(ctx context.Context, a Answer) (Approval, error) {
		a.Approve = approve
		return s.Answer(ctx, a)
	})
}

// ask serves a question without arguments.
func ask[Out any](f func(context.Context) (Out, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		out, err := f(r.Context())
		if err != nil {
			return err
		}
		return reply(w, out)
	}
}

// tell serves a request with an answer.
func tell[In, Out any](f func(context.Context, In) (Out, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		in, err := decode[In](r)
		if err != nil {
			return err
		}
		out, err := f(r.Context(), in)
		if err != nil {
			return err
		}
		return reply(w, out)
	}
}

// do serves a request without an answer.
func do[In any](f func(context.Context, In) error) handler {
	return tell(func(ctx context.Context, in In) (struct{}, error) { return struct{}{}, f(ctx, in) })
}

func decode[In any](r *http.Request) (in In, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxRequest))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return in, Errorf(CodeTooLarge, "the request is larger than %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return in, Errorf(CodeInvalid, "read the request: %v", err)
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return in, Errorf(CodeInvalid, "the request is not what %s wants: %v", r.URL.Path, err)
	}
	return in, nil
}

func reply(w http.ResponseWriter, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(append(data, '\n'))
	return err
}

// serveStream sends one server-sent event per item, each flushed, and an "error" event when the source fails. Once the
// stream has begun there is no other way to tell, so it then returns nil.
func serveStream(w http.ResponseWriter, source func(yield func(any) error) error) error {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if err := out.Flush(); err != nil {
		return err
	}
	send := func(prefix string, item any) error {
		data, err := json.Marshal(item)
		if err != nil {
			return fmt.Errorf("write an event: %w", err)
		}
		if err := out.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%sdata: %s\n\n", prefix, data); err != nil {
			return err
		}
		return out.Flush()
	}
	err := source(func(item any) error { return send("", item) })
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	_ = send("event: error\n", asError(err)) // the reader may be gone, which is why the source failed
	return nil
}

func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}
