package provider

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// The budget of one request at one endpoint.
const (
	maxTries   = 5
	maxWaiting = 5 * time.Minute
	maxWait    = time.Minute // a longer wait is not slept through; it becomes the class quota
	maxChanges = 3           // request fields dropped or renamed
)

// nudge is what a model that twice said nothing is told, once.
const nudge = "Your last answer was empty. Answer with text or call a tool."

// attempt is one request at one endpoint with all its tries. It belongs to the goroutine of Complete.
type attempt struct {
	client *Client
	link   link
	req    llm.Request

	tries   int           // requests sent
	retries int           // of these, repeats of the same request, which count against maxTries
	waited  time.Duration // slept and held at the gate; waiting for a slot is work of others and does not count
	changes int
	empties int
	refused bool // a connection was refused before
	strict  bool // turns with calls go as text
	nudge   string
	shown   bool // a delta was shown and is not yet void
}

// at runs a request at one link until it succeeds or its budget is used up.
func (c *Client) at(ctx context.Context, l *link, req llm.Request) (llm.Response, *llm.Error) {
	ready, err := l.ready(ctx, req.Model)
	if err != nil {
		return llm.Response{}, err
	}
	a := &attempt{client: c, link: ready, req: req}
	for {
		resp, next, err := a.once(ctx)
		if err == nil {
			resp.Tries = a.tries
			return resp, nil
		}
		err.Tries = a.tries
		a.tell(err, next)
		if !next.again {
			return llm.Response{}, err
		}
		if err := sleep(ctx, next.wait); err != nil {
			return llm.Response{}, a.link.cancelled(err, a.tries)
		}
		a.waited += next.wait
	}
}

// next says what follows a failed try.
type next struct {
	again   bool
	wait    time.Duration
	changed string
}

// once sends one request when the limiter lets it, and decides what follows.
func (a *attempt) once(ctx context.Context) (llm.Response, next, *llm.Error) {
	pass, waitErr := a.link.lane.acquire(ctx)
	var spent *spentError
	switch {
	case errors.As(waitErr, &spent):
		return llm.Response{}, next{}, &llm.Error{
			Class: llm.Quota, Provider: a.link.endpoint.Provider.ID, Model: a.link.endpoint.Model, Message: waitErr.Error(),
			RetryAfter: spent.after, Hint: tryAgain(spent.after), Err: waitErr,
		}
	case errors.Is(waitErr, errHeld):
		return llm.Response{}, next{}, &llm.Error{
			Class: llm.Rate, Provider: a.link.endpoint.Provider.ID, Model: a.link.endpoint.Model, Message: waitErr.Error(), Err: waitErr,
		}
	case waitErr != nil:
		return llm.Response{}, next{}, a.link.cancelled(waitErr, a.tries)
	}
	a.waited += pass.held
	a.tries++
	resp, err := a.send(ctx, a.link.plan(a.req, a.strict, a.nudge))
	if err == nil {
		pass.done(false, true, 0)
		return resp, next{}, nil
	}
	limited := err.Class == llm.Rate
	n := a.decide(err)
	wait := n.wait
	if limited && !n.again {
		wait = err.RetryAfter
	}
	pass.done(limited, err.Class != llm.Cancelled, wait)
	return llm.Response{}, n, err
}

// decide applies the class of an error. It may change the class: a rate error with too long a wait is a quota.
func (a *attempt) decide(err *llm.Error) next {
	if err.RetryAfter > maxWait && err.Class.Transient() {
		err.Class = llm.Quota
	}
	switch {
	case err.Class == llm.Quota && err.RetryAfter > 0:
		err.Hint = tryAgain(err.RetryAfter)
	case err.Class == llm.Auth:
		err.Hint = fmt.Sprintf("check the key from %s", keySource(a.link.endpoint))
	case err.Class == llm.Overflow:
		a.link.lane.models.narrow(a.link.endpoint.Model, err.Window)
	case err.Class == llm.Param && !err.Final:
		return a.change(err)
	case err.Class == llm.Empty && !err.Final:
		return a.empty()
	case err.Class.Transient() && !err.Final:
		return a.repeat(err)
	}
	return next{}
}

func tryAgain(after time.Duration) string {
	return fmt.Sprintf("try again in %s", after.Round(time.Second))
}

// keySource names where the key came from; the key itself is never part of a message.
func keySource(e Endpoint) string {
	if e.KeyFrom == "" {
		return "nowhere"
	}
	return e.KeyFrom
}

// change drops or renames the field that was refused, or sends the history in a plainer form.
func (a *attempt) change(err *llm.Error) next {
	if err.Param == "" || a.changes >= maxChanges {
		return next{}
	}
	a.changes++
	if err.Param == "messages" {
		again := !a.strict
		a.strict = true
		return next{again: again, changed: "messages"}
	}
	e := a.link.endpoint
	changed, ok := a.link.lane.models.refuse(e.Model, err.Param, e.Quirks.LimitField)
	return next{again: ok, changed: changed}
}

// empty repeats the request once, then with a nudge, then gives up.
func (a *attempt) empty() next {
	a.empties++
	if a.empties == 2 {
		a.nudge = nudge
	}
	return next{again: a.empties <= 2}
}

// repeat is exponential with full jitter, never shorter than the server asked, within the budget.
func (a *attempt) repeat(err *llm.Error) next {
	a.retries++
	if errors.Is(err.Err, syscall.ECONNREFUSED) && a.link.endpoint.Loopback() {
		if a.refused {
			return next{}
		}
		a.refused = true
	}
	if a.retries >= maxTries {
		return next{}
	}
	ceiling := min(time.Second<<(a.retries-1), maxWait)
	wait := max(time.Duration(a.client.jitter()*float64(ceiling)), err.RetryAfter)
	if a.waited+wait > maxWaiting {
		return next{}
	}
	return next{again: true, wait: wait}
}

// tell reports the failed try, and takes back what was shown of it.
func (a *attempt) tell(err *llm.Error, n next) {
	if a.shown && a.req.OnDelta != nil {
		a.req.OnDelta(llm.Delta{Kind: llm.DeltaRestart})
		a.shown = false
	}
	if a.req.OnTry != nil {
		a.req.OnTry(llm.Try{
			N: a.tries, Provider: err.Provider, Model: err.Model, Class: err.Class, Status: err.Status, Message: err.Message,
			Wait: n.wait, Final: !n.again, Changed: n.changed,
		})
	}
}

// show passes a delta on and remembers that there is something to take back if the try fails.
func (a *attempt) show(kind llm.DeltaKind, text string) {
	if text == "" || a.req.OnDelta == nil {
		return
	}
	a.shown = true
	a.req.OnDelta(llm.Delta{Kind: kind, Text: text})
}

// sleep waits for d or the context, whichever ends first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cancelled is the error for a caller that gave up; err is its context's error and can be found with errors.Is.
func (l *link) cancelled(err error, tries int) *llm.Error {
	return &llm.Error{
		Class: llm.Cancelled, Provider: l.endpoint.Provider.ID, Model: l.endpoint.Model, Message: err.Error(), Tries: tries, Err: err,
	}
}
