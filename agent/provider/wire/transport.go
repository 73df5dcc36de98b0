package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// maxErrorBody is how much of an error answer is read.
const maxErrorBody = 1 << 20

// Transport is the http.RoundTripper in front of an OpenAI client. Each request's context must carry an Exchange.
// RoundTrip returns an *llm.Error for every failure; the body of a good answer is a canonical stream whose Read returns
// an *llm.Error when the answer turns out bad.
type Transport struct {
	// Base sends the request; it must not follow redirects (no RoundTripper does).
	Base http.RoundTripper
}

// RoundTrip edits and sends one request.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := from(req.Context())
	if x == nil {
		return nil, errors.New("request without an exchange in its context")
	}
	ctx, dog := watch(req.Context(), x)
	sent, err := x.edit(req.Clone(ctx))
	if err != nil {
		dog.stop()
		return nil, err
	}
	resp, err := t.Base.RoundTrip(sent)
	if err != nil {
		err = x.transportError(ctx, req.Context(), err)
		dog.stop()
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		err = x.refused(ctx, req.Context(), resp, dog)
		dog.stop()
		return nil, err
	}
	body := &canonical{x: x, src: resp.Body, ctx: ctx, outer: req.Context(), dog: dog}
	body.asm = newAssembler(x, resp, &body.out)
	answer := *resp
	answer.Header = http.Header{"Content-Type": {"text/event-stream"}}
	answer.Body = body
	answer.ContentLength = -1
	return &answer, nil
}

// refused reads the answer of a request that failed and classifies it.
func (x *Exchange) refused(ctx, outer context.Context, resp *http.Response, dog *watchdog) *llm.Error {
	defer resp.Body.Close()
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return x.redirected(resp)
	}
	data, err := io.ReadAll(io.LimitReader(&heardReader{resp.Body, dog}, maxErrorBody))
	if err != nil && outer.Err() != nil {
		return x.transportError(ctx, outer, err)
	}
	return x.classify(resp.StatusCode, resp.Header, readFault(data))
}

// heardReader tells the watchdog of every byte.
type heardReader struct {
	r   io.Reader
	dog *watchdog
}

func (h *heardReader) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if n > 0 {
		h.dog.heard()
	}
	return n, err
}

// canonical is the body handed to the client above: it reads the server's answer as needed and gives canonical lines.
// It is read and closed by one goroutine.
type canonical struct {
	x          *Exchange
	src        io.ReadCloser
	ctx, outer context.Context //nolint:containedctx // a body outlives the call that made it
	dog        *watchdog
	asm        *assembler
	out        bytes.Buffer
	events     *events
	finishing  bool // the finish has been seen; only usage is waited for
	ended      bool // the canonical stream is complete
	failed     error
	closed     bool
}

// Read gives the next canonical bytes.
func (c *canonical) Read(p []byte) (int, error) {
	for c.out.Len() == 0 {
		switch {
		case c.failed != nil:
			return 0, c.failed
		case c.ended:
			return 0, io.EOF
		}
		if err := c.step(); err != nil {
			c.failed = err
		}
	}
	return c.out.Read(p)
}

// step reads one event, or ends the answer.
func (c *canonical) step() error {
	if c.events == nil {
		if err := c.sniff(); err != nil {
			return err
		}
	}
	e, err := c.events.next()
	if err == nil {
		return c.event(e)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	} else if !errors.Is(err, errTooLarge) {
		err = c.x.readError(c.ctx, c.outer, err)
	}
	return c.end(err)
}

// event hands one event to the assembler. The end mark ends the answer at once, without waiting for the connection to
// close, which some servers never do.
func (c *canonical) event(e event) error {
	if err := c.asm.take(e, false); err != nil {
		return err
	}
	if c.asm.done {
		return c.end(nil)
	}
	if c.asm.finish != "" && !c.finishing {
		c.finishing = true
		c.dog.finishing()
	}
	return nil
}

// end settles the answer, or says why it is not complete. Trouble after the finish does not matter any more, unless the
// caller itself gave up.
func (c *canonical) end(readErr error) error {
	if c.outer.Err() != nil {
		return c.x.cancelled(c.outer)
	}
	if !c.asm.complete() {
		return c.asm.cut(readErr)
	}
	c.ended = true
	return c.asm.settle()
}

// sniff decides by the first byte that is no space what the answer is, whatever its Content-Type says.
func (c *canonical) sniff() error {
	r := bufio.NewReaderSize(&heardReader{c.src, c.dog}, 32<<10)
	if bom, err := r.Peek(3); err == nil && string(bom) == "\ufeff" {
		_, _ = r.Discard(3)
	}
	c.events = newEvents(r)
	for range maxErrorBody {
		b, err := r.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return c.asm.cut(nil)
			}
			return c.asm.cut(c.x.readError(c.ctx, c.outer, err))
		}
		switch b {
		case ' ', '\t', '\r', '\n':
			continue
		}
		_ = r.UnreadByte()
		switch b {
		case '{', '[':
			return c.readBody(r)
		case '<':
			return c.x.classify(c.asm.status, c.asm.header, fault{html: true})
		}
		return nil
	}
	return c.x.err(llm.Protocol, "the answer is nothing but white space")
}

// Close stops the request.
func (c *canonical) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	err := c.src.Close()
	c.dog.stop()
	return err
}
