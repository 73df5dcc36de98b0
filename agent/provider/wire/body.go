package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// readBody reads an answer that is JSON: one completion, or several values in a row, which are taken as chunks.
func (c *canonical) readBody(r *bufio.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxTurn+1))
	switch {
	case err != nil:
		return c.asm.cut(c.x.readError(c.ctx, c.outer, err))
	case len(data) > maxTurn:
		return c.asm.cut(errTooLarge)
	}
	rest := data
	for n := 0; first(rest) != 0; n++ {
		value, after, ok := leadingJSON(string(rest))
		if !ok {
			if n == 0 && first(data) == '{' {
				return c.x.err(llm.Cut, "the JSON answer is cut or broken")
			}
			c.asm.junk = data
			return c.asm.cut(nil)
		}
		if err := c.asm.take(event{data: value}, true); err != nil {
			return err
		}
		rest = []byte(after)
		if n > 0 && len(data) > maxErrorBody {
			break // one value is the rule; many in a large body are not worth their copies
		}
	}
	return c.end(nil)
}

// cancelled is the error of a request whose caller gave up.
func (x *Exchange) cancelled(ctx context.Context) *llm.Error {
	e := x.err(llm.Cancelled, ctx.Err().Error())
	e.Err = ctx.Err()
	return e
}

// readError turns an error of reading into the reason for it: the caller's end, a limit of ours, or the error itself.
func (x *Exchange) readError(ctx, outer context.Context, err error) error {
	if outer.Err() != nil {
		return x.cancelled(outer)
	}
	var limit *llm.Error
	if errors.As(context.Cause(ctx), &limit) {
		return limit
	}
	return err
}

// transportError classifies a request that got no answer.
func (x *Exchange) transportError(ctx, outer context.Context, err error) *llm.Error {
	var known *llm.Error
	if errors.As(x.readError(ctx, outer, err), &known) {
		return known
	}
	e := x.err(llm.Transport, err.Error())
	e.Err = err
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &dns):
		e.Final = dns.IsNotFound
		e.Hint = "check the host of the base URL and the name server"
	case errors.As(err, &cert), errors.As(err, &authority):
		e.Final = true
		e.Hint = "the server's certificate is not trusted here"
	case errors.As(err, &record):
		e.Final = true
		e.Hint = "the server does not speak TLS; is it http:// instead of https://?"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Hint = "is the server running?"
	}
	return e
}

// parseBody is the request as a map, so that unknown fields pass untouched.
func parseBody(data []byte) (fields, []fields, error) {
	body := object(data)
	if body == nil {
		return nil, nil, errors.New("the request body is no JSON object")
	}
	var messages []fields
	if err := json.Unmarshal(body["messages"], &messages); err != nil {
		return nil, nil, errors.New("the request has no messages")
	}
	return body, messages, nil
}

// TransportError classifies the failure of a request that was not sent through a Transport.
func TransportError(ctx context.Context, x *Exchange, err error) *llm.Error {
	return x.transportError(ctx, ctx, err)
}

// StatusError classifies an answer that was not read through a Transport: one with a bad status, or a web page.
func StatusError(x *Exchange, resp *http.Response, body []byte) *llm.Error {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return x.redirected(resp)
	}
	return x.classify(resp.StatusCode, resp.Header, readFault(body[:min(len(body), maxErrorBody)]))
}

// redirected refuses a redirect: following it would turn a POST into a GET and could carry the key elsewhere.
func (x *Exchange) redirected(resp *http.Response) *llm.Error {
	e := x.err(llm.Protocol, "the server redirects to "+resp.Header.Get("Location"))
	e.Status = resp.StatusCode
	e.Hint = checkURL
	return e
}
