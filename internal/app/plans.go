package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/agent/tool"
)

// plans remembers which attempts may do more than read. A plan is bound to the claim under which it was approved; one
// that was approved outside of a task is bound to its run.
type plans struct {
	mu       sync.Mutex
	approved map[string]bool
}

func planKey(env tool.Env) string {
	return string(env.Actor) + " " + string(env.Claim) + " " + string(env.Run)
}

// boundTo is the part of env that an approval holds for.
func boundTo(env tool.Env) tool.Env {
	if env.Claim != "" {
		env.Run = ""
	}
	return env
}

func (p *plans) approve(env tool.Env) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.approved[planKey(boundTo(env))] = true
}

func (p *plans) has(env tool.Env) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.approved[planKey(boundTo(env))]
}

// planFirst is the policy of a member that may only read until its plan is approved.
type planFirst struct {
	gateway.Policy
	plans *plans
}

// Decide lets what only reads, and the tools of the team, through to the policy behind it.
func (p planFirst) Decide(a action.Action, env tool.Env) gateway.Verdict {
	if a.Risk == action.Low || p.plans.has(env) {
		return p.Policy.Decide(a, env)
	}
	return gateway.Verdict{Decision: action.Deny, Reason: "your plan is not approved yet: call submit_plan first"}
}

// submit asks a person or the lead for the approval of a plan and waits for the answer.
func (w *Workshop) submit(s *shift) func(ctx context.Context, env tool.Env, plan string) (string, error) {
	return func(ctx context.Context, env tool.Env, plan string) (string, error) {
		sum := sha256.Sum256([]byte(fmt.Sprint(env.Actor, "\x00", env.Task, "\x00", plan)))
		answer, err := asking{s}.Approve(ctx, gateway.Request{
			Kind: gateway.KindPlan, Actor: env.Actor, Role: env.Role, Task: env.Task, Run: env.Run, Plan: w.app.redact.String(plan),
			Reason: "a plan is asked for before anything is changed", Digest: hex.EncodeToString(sum[:]),
		})
		if err != nil {
			return "", err
		}
		if answer.Decision != action.Allow {
			return "The plan is not approved: " + answer.Reason, nil
		}
		w.plans.approve(env)
		return "The plan is " + answer.Reason + ". Go on.", nil
	}
}

// review answers a plan for the lead.
func (w *Workshop) review(_ context.Context, by autonomy.AgentName, request string, approve bool, feedback string) error {
	_, err := w.requests.Review(request, gateway.Reply{Approve: approve, By: string(by), Feedback: feedback})
	return err
}
