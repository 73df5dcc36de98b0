package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/redact"
)

// ErrNotAdmitted is returned by Execute when the admission is not one of this gateway for this very action, or was used.
var ErrNotAdmitted = errors.New("action was not admitted")

// token is the leave to run one action once. Only Admit makes one, and it lives nowhere else than in its Admission: an
// approval that is not used is gone with it.
type token struct {
	gateway *Gateway
	digest  string
	used    atomic.Bool
}

// Admit decides whether an action may run, and asks a person where the policy says so; then it waits for the answer. The
// action is assessed anew, whatever its second block says. An error means that the question could not be put or that ctx
// ended; every decision, also a no, is an Admission.
func (g *Gateway) Admit(ctx context.Context, a action.Action) (action.Admission, error) {
	a, found := g.assess(a)
	verdict := g.decide(a, found)
	adm := action.Admission{Decision: verdict.Decision, Reason: verdict.Reason, By: "policy"}
	if verdict.Decision == action.Ask {
		answer, waited, err := g.ask(ctx, a, found, verdict)
		if err != nil {
			return action.Admission{}, fmt.Errorf("ask for approval of %s: %w", a.Tool, err)
		}
		adm = action.Admission{
			Decision: answer.Decision, Reason: answer.Reason, By: answer.By, Request: answer.Request,
			Asked: true, Waited: waited,
		}
	}
	switch adm.Decision {
	case action.Allow:
		adm.Token = &token{gateway: g, digest: g.digest(a)}
	case action.Deny, action.Refuse, action.Expired:
	default:
		// An Approver or Policy that answers anything else has not said yes.
		adm.Decision, adm.Reason = action.Deny, fmt.Sprintf("no decision (%s)", adm.Decision)
	}
	return adm, nil
}

func (g *Gateway) ask(ctx context.Context, a action.Action, found tool.Assessment, v Verdict) (Answer, time.Duration, error) {
	shown, _ := redact.JSON(orEmpty(a.Arguments), g.redact)
	reason := v.Reason
	if found.Reason != "" {
		reason += " (" + found.Reason + ")"
	}
	begun := time.Now()
	answer, err := g.approver.Approve(ctx, Request{
		Kind: KindTool, Actor: g.env.Actor, Role: g.env.Role, Task: g.env.Task, Run: g.env.Run,
		Tool: a.Tool, Arguments: shown, Dir: g.env.Dir, Purpose: g.redact(a.Purpose), Effect: g.redact(a.Effect),
		Risk: a.Risk, Reason: reason, Digest: g.digest(a),
	})
	return answer, time.Since(begun), err
}

// digest binds an approval to what would run: tool, canonical arguments, folder by path and identity, level, who and for
// which task. The claim is left out: the same member asking the same for the same task after a restart asks the same.
func (g *Gateway) digest(a action.Action) string {
	args, err := action.Canonical(a.Arguments)
	if err != nil {
		args = a.Arguments
	}
	bound, _ := json.Marshal([]any{ // strings and numbers always encode
		a.Tool, string(args), g.env.Dir, identity(g.env.Dir), a.Risk, a.Timeout, g.env.Actor, g.env.Task, a.Direct && g.env.Person,
	})
	sum := sha256.Sum256(bound)
	return hex.EncodeToString(sum[:])
}

// identity is device and inode of a folder, so that another folder put in its place is another one.
func identity(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return "missing"
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
	}
	return "unknown"
}

// redeem uses an admission up. Whatever comes after it, the action can't run a second time by it.
func (g *Gateway) redeem(a action.Action, adm action.Admission) error {
	t, ok := adm.Token.(*token)
	switch {
	case !ok || t == nil || t.gateway != g || adm.Decision != action.Allow:
		return ErrNotAdmitted
	case t.digest != g.digest(a):
		return fmt.Errorf("%w: it is not the action that was decided about", ErrNotAdmitted)
	case !t.used.CompareAndSwap(false, true):
		return fmt.Errorf("%w: the admission was used before", ErrNotAdmitted)
	}
	return nil
}
