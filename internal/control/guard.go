package control

import (
	"net/http"
	"time"
)

// guard stands before every route.
type guard struct {
	cfg   HandlerConfig
	slots chan struct{}
}

// wrap makes an http.Handler of h. With personOnly, processes that the daemon's agents started are refused.
func (g *guard) wrap(h handler, personOnly bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.admit(r, personOnly); err != nil {
			fail(w, err)
			return
		}
		select {
		case g.slots <- struct{}{}:
			defer func() { <-g.slots }()
		default:
			fail(w, Errorf(CodeBusy, "more than %d calls at once", maxCalls))
			return
		}
		if err := h(w, r); err != nil {
			fail(w, asError(err))
		}
	})
}

func (g *guard) admit(r *http.Request, personOnly bool) *Error {
	peer, known := g.cfg.Peer(r.Context())
	switch {
	case !known || peer.UID != g.cfg.UID:
		return Errorf(CodeForbidden, "this daemon serves its own user only")
	case r.Host != host || r.Header.Get("Origin") != "":
		return Errorf(CodeForbidden, "this socket is not for browsers")
	case personOnly && g.cfg.Descendant(peer.PID):
		return &Error{
			Code: CodeForbidden, Message: "a command that an agent started may not do that",
			Hint: "a person has to do it from a terminal of their own",
		}
	}
	return nil
}

// fail writes an error answer.
func fail(w http.ResponseWriter, e *Error) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeWithin))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Code.status())
	_, _ = w.Write(encodeError(e))
}
