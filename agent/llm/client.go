package llm

import (
	"context"
	"time"
)

// Client completes one request. Implementations are safe for concurrent use, retry by themselves within their budget,
// and return an *Error for every failure, cancellation included (class Cancelled).
type Client interface {
	Complete(ctx context.Context, req Request) (Response, error)
}

// Sizer is what a Client may offer besides, for a caller that has to decide when to compact.
type Sizer interface {
	// Window is the context window in tokens as far as it is known now; 0 means not yet known.
	Window() int
	// Estimate is the expected number of prompt tokens of a request, calibrated by the usage seen so far.
	Estimate(req Request) int
}

// What a request is for, as seen in logs and events.
const (
	PurposeTurn    = "turn"
	PurposeJudge   = "judge"
	PurposeSummary = "summary"
)

// Request asks for one completion. The zero value of every field but Messages is a usable default.
type Request struct {
	// Model overrides the client's own model.
	Model    string
	Messages []Message
	Tools    []Tool
	// MaxTokens limits the completion in tokens; 0 leaves it to the server.
	MaxTokens int
	// Temperature is sent where the provider takes one; nil leaves it to the provider's row.
	Temperature *float64
	// Effort is the thinking wish: "" (the model's default), "none", "low", "medium" or "high".
	Effort string
	// Purpose is one of the Purpose constants; "" means PurposeTurn.
	Purpose string
	// OnDelta gets text and thinking as they arrive, on the goroutine that called Complete. It must not block long.
	OnDelta func(Delta)
	// OnTry is told of every try that failed and of the wait before the next, on the goroutine that called Complete.
	OnTry func(Try)
}

// DeltaKind says what a Delta carries.
type DeltaKind string

// The kinds of delta. Restart means that the try was abandoned: what was shown since the beginning of the request is
// void and the answer starts again.
const (
	DeltaText     DeltaKind = "text"
	DeltaThinking DeltaKind = "thinking"
	DeltaRestart  DeltaKind = "restart"
)

// Delta is a piece of an answer that is still arriving.
type Delta struct {
	Kind DeltaKind
	Text string
}

// Try is one failed attempt inside Complete.
type Try struct {
	// N counts from 1.
	N        int
	Provider string
	Model    string
	Class    Class
	Status   int
	// Message is short and redacted.
	Message string
	// Wait is the pause before the next try; 0 with Final set means there is none.
	Wait  time.Duration
	Final bool
	// Changed says which request field was dropped or renamed for the next try, for example "temperature".
	Changed string
}

// StopReason says why the model stopped.
type StopReason string

// The stop reasons. Whether there are calls to run is decided by Message.Calls, never by the reason. After StopLength
// every call carries a Problem; the text was cut and may be continued.
const (
	StopEnd    StopReason = "end"
	StopCalls  StopReason = "calls"
	StopLength StopReason = "length"
)

// Response is one completed answer; its Message is never empty.
type Response struct {
	Message  Message
	Stop     StopReason
	Usage    Usage
	Provider string
	// Model is the model that answered, which may be a fallback.
	Model   string
	Latency time.Duration
	// Tries is how many requests this answer took, the successful one included.
	Tries int
	// Window is the context window in tokens as known after this answer; 0 means unknown.
	Window int
	// Notes are for the model: the caller puts them into a user message after the results of this turn.
	Notes []string
	// Warnings are for people: a prompt that was cut silently, a key over plain HTTP.
	Warnings []string
	// RequestID is the provider's own id of the generation, for support.
	RequestID string
}
