package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/autonomy-team/autonomy/internal/config"
)

const (
	dialTimeout   = 2 * time.Second
	callTimeout   = 30 * time.Second // of a call that is not a stream
	maxReply      = 16 << 20
	maxStreamLine = 4 << 20
)

// Client talks to the daemon of one workspace. It is safe for concurrent use and holds no connection between calls
// longer than a few seconds.
type Client struct {
	socket  string
	http    *http.Client
	Version string // of the daemon
}

// Dial finds the daemon of a workspace and compares versions. The error is ErrNotRunning when there is none, and a
// *VersionError, together with a usable client, when it is of another version: a caller that only wants to stop it
// may go on.
func Dial(ctx context.Context, ws config.Workspace) (*Client, error) {
	socket, err := locate(ws)
	if err != nil {
		return nil, err
	}
	c := &Client{socket: socket}
	c.http = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			d := net.Dialer{Timeout: dialTimeout}
			return d.DialContext(ctx, "unix", socket)
		},
		IdleConnTimeout:   5 * time.Second,
		DisableKeepAlives: false,
	}}
	var hello Hello
	if err := c.call(ctx, http.MethodGet, "/hello", nil, &hello); err != nil {
		if died(err) {
			err = ErrNotRunning
		}
		return nil, err
	}
	c.Version = hello.Version
	if hello.Version != Version() {
		return c, &VersionError{Daemon: hello.Version, Client: Version()}
	}
	return c, nil
}

// Hello is what a daemon says first.
type Hello struct {
	Version  string `json:"version"`
	Protocol string `json:"protocol"`
	PID      int    `json:"pid"`
	Instance string `json:"instance"`
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status asks for the whole picture.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	return s, c.call(ctx, http.MethodGet, "/status", nil, &s)
}

// Team asks for the roster with live states.
func (c *Client) Team(ctx context.Context) (t Team, err error) {
	return t, c.call(ctx, http.MethodGet, "/team", nil, &t)
}

// Spawn starts a teammate and returns its first state.
func (c *Client) Spawn(ctx context.Context, req SpawnRequest) (m Member, err error) {
	return m, c.call(ctx, http.MethodPost, "/spawn", req, &m)
}

// Stop ends a member; it returns when the member's goroutine and processes are gone.
func (c *Client) Stop(ctx context.Context, req StopRequest) error {
	return c.call(ctx, http.MethodPost, "/stop", req, nil)
}

// Remove takes a member that does not run off the roster.
func (c *Client) Remove(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodPost, "/rm", nameRequest{Name: name}, nil)
}

// Send sends mail; it is on disk when Send returns.
func (c *Client) Send(ctx context.Context, req SendRequest) (r SendReply, err error) {
	return r, c.call(ctx, http.MethodPost, "/send", req, &r)
}

// Down asks the daemon to end and waits until it has, or the context ends.
func (c *Client) Down(ctx context.Context, req Down) error {
	if err := c.call(ctx, http.MethodPost, "/down", req, nil); err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Lstat(c.socket); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the daemon to end: %w", ctx.Err())
		}
	}
}

// Approvals lists the open requests, oldest first.
func (c *Client) Approvals(ctx context.Context) (a []Approval, err error) {
	return a, c.call(ctx, http.MethodGet, "/approvals", nil, &a)
}

// Answer approves or denies a request.
func (c *Client) Answer(ctx context.Context, answer Answer) (a Approval, err error) {
	path := "/deny"
	if answer.Approve {
		path = "/approve"
	}
	return a, c.call(ctx, http.MethodPost, path, answer, &a)
}

// Interrupt cancels a member's model call in flight.
func (c *Client) Interrupt(ctx context.Context, req Interrupt) error {
	return c.call(ctx, http.MethodPost, "/interrupt", req, nil)
}

// Compact asks a member to compact its conversation.
func (c *Client) Compact(ctx context.Context, req Compact) error {
	return c.call(ctx, http.MethodPost, "/compact", req, nil)
}

// Events yields the records of the team log after seq, oldest first, then waits for more, until the context ends or
// yield returns an error. A negative seq means "only what comes from now on".
func (c *Client) Events(ctx context.Context, after int64, yield func(Event) error) error {
	path := "/events?after=" + url.QueryEscape(strconv.FormatInt(after, 10))
	return stream(ctx, c, http.MethodGet, path, nil, yield)
}

// Line gives the lead one line and yields what happens; the last item is the report.
func (c *Client) Line(ctx context.Context, req LineRequest, yield func(LineEvent) error) error {
	return stream(ctx, c, http.MethodPost, "/line", req, yield)
}

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, max(callTimeout, timeoutOf(path)))
	defer cancel()
	res, err := c.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("understand the daemon's answer to %s: %w", path, err)
	}
	return nil
}

// timeoutOf gives a stop the member's grace on top.
func timeoutOf(path string) time.Duration {
	if path == "/stop" {
		return 90 * time.Second
	}
	return 0
}

// send makes one request; its result is always a success with an open body.
func (c *Client) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("write the request %s: %w", path, err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+host+"/"+Protocol+path, body)
	if err != nil {
		return nil, fmt.Errorf("build the request %s: %w", path, err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		if isAbsent(err) {
			return nil, ErrNotRunning
		}
		return nil, fmt.Errorf("ask the daemon: %w", err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	return nil, readError(res)
}

// isAbsent reports whether nobody listens: no socket, or one that a dead daemon left.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOTDIR)
}

// died reports whether the other end vanished before it said hello: a daemon that is being killed.
func died(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}

func readError(res *http.Response) error {
	var e Error
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil || json.Unmarshal(body, &e) != nil || e.Message == "" {
		return Errorf(CodeVersion, "the daemon answered %s", res.Status)
	}
	return &e
}

// stream reads one JSON value per "data:" line of an event stream.
func stream[T any](ctx context.Context, c *Client, method, path string, in any, yield func(T) error) error {
	res, err := c.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(make([]byte, 0, 64<<10), maxStreamLine)
	failed := false
	for lines.Scan() {
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch {
		case string(field) == "event" && string(value) == "error":
			failed = true
		case string(field) != "data":
		case failed:
			var e Error
			if err := json.Unmarshal(value, &e); err != nil {
				return fmt.Errorf("understand the daemon's error: %w", err)
			}
			return &e
		default:
			var item T
			if err := json.Unmarshal(value, &item); err != nil {
				return fmt.Errorf("understand the daemon's stream: %w", err)
			}
			if err := yield(item); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the daemon's stream: %w", err)
	}
	return ctx.Err()
}
