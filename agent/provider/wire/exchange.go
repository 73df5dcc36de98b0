// Package wire makes any server that calls itself OpenAI-compatible look like one that is. Its Transport stands between
// an OpenAI client and the network: it edits the request, reads whatever comes back as hostile input, and hands the
// client one canonical stream. What that stream cannot hold travels in the Exchange that rides in the context, and a
// failure is an *llm.Error, returned by RoundTrip before the body or by Body.Read later.
package wire

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// Exchange is one request and its answer. The caller fills the first part before the request and reads Result after the
// stream has ended with io.EOF; it serves one request only.
type Exchange struct {
	Provider string
	// Model is the true model name; the client above is given a neutral one.
	Model string
	// Set are top-level body fields to set; a nil value removes the field.
	Set map[string]json.RawMessage
	// Messages and ToolList take the place of the request's messages and tools, which the client above need not have
	// encoded once more: JSON arrays, the first of what EncodeMessage gives. nil leaves what the client made.
	Messages, ToolList json.RawMessage
	Header             http.Header
	Tools              []llm.Tool
	// Used are the call ids of earlier turns.
	Used map[string]bool
	// IDLimit is the longest call id the provider takes back, in bytes; 0 means any.
	IDLimit int
	// TextCalls allows calls that are written as text.
	TextCalls bool
	Limits    Limits
	// Secrets are values that must not appear in any error.
	Secrets []string

	Result Result
}

// Limits bound one request in time; 0 means no limit.
type Limits struct {
	// First is the wait for the first byte of the answer's body.
	First time.Duration
	// Idle is the longest silence after that; keep-alives count as sound.
	Idle time.Duration
	// Total bounds the whole request.
	Total time.Duration
}

// Result is what the canonical stream cannot hold.
type Result struct {
	// Text is the answer without thinking and without calls. Restated says that it does not begin with what the stream
	// showed, which happens when a tag arrives late.
	Text     string
	Restated bool
	Thinking []llm.Thinking
	Calls    []llm.ToolCall
	Finish   llm.StopReason
	Usage    llm.Usage
	// UsageSeen says that the server reported usage.
	UsageSeen bool
	// Extra are message-level fields that must return unchanged.
	Extra     map[string]json.RawMessage
	Notes     []string
	Model     string
	RequestID string
	Header    http.Header
}

type exchangeKey struct{}

// With puts an exchange into a context for the Transport.
func With(ctx context.Context, x *Exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// from is the exchange in a context, nil when there is none.
func from(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// err is an error of this exchange, redacted and cut.
func (x *Exchange) err(class llm.Class, message string) *llm.Error {
	return &llm.Error{Class: class, Provider: x.Provider, Model: x.Model, Message: Redact(message, x.Secrets)}
}
