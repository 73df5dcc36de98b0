package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/llm"
)

// offer is a Proposer of fixed paths at the first position.
type offer []action.Path

func (o offer) Propose(_ context.Context, s agent.State) ([]action.Path, error) {
	if s.Position > 0 {
		return nil, nil
	}
	return o, nil
}

func recipeOf(tool string, successes int) action.Path {
	return action.Path{Source: action.FromRecipe, Evidence: successes, Actions: []action.Action{
		{Call: "recipe-1", Tool: tool, Arguments: json.RawMessage(`{}`), Purpose: "again"},
	}}
}

func TestFourPathsAndARecipe(t *testing.T) {
	b := newBench(
		says("one", call("1", "write", `{"purpose":"p"}`)), says("two", call("1", "write", `{"n":2}`)),
		says("three", call("1", "bash", `{}`)), says("four", call("1", "break", `{}`)), says("done"), says("done"), says("done"), says("done"),
	)
	b.cfg.Proposers = []agent.Proposer{offer{recipeOf("patch", 2)}}
	b.hands.tools["patch"] = wrote("patched")
	b.hands.deny["patch"] = true
	b.hands.risky["break"] = action.High
	b.run(t, agent.Goal{Subject: "s", Proposals: 4})
	b.want(t, agent.Achieved, "")
	ranking := find[agent.CandidatesRanked](b.log)[0].Paths
	var kept []string
	for _, p := range ranking {
		if p.Dropped == "" {
			kept = append(kept, fmt.Sprintf("%s %s %.2f", p.Source, p.Actions[0].Tool, p.Score.Total))
		}
	}
	if got := strings.Join(kept, ", "); got != "action_skill patch -0.04, model write -0.10, model write -0.20" || len(ranking) != 5 {
		t.Errorf("kept %s of %d", got, len(ranking))
	}
	if got := strings.Join(b.hands.calls, " "); got != "write" {
		t.Errorf("executed %s", got)
	}
	d := find[agent.ApprovalDecision](b.log)
	if len(d) != 2 || d[0].Decision != action.Deny || d[0].Reason == "" || d[1].Decision != action.Allow {
		t.Errorf("decisions %+v", d)
	}
}

func TestChosenRecipeSupersedesTheReply(t *testing.T) {
	b := newBench(says("I would", call("1", "bash", `{}`), call("2", "read", `{}`)), says("done"))
	b.cfg.Proposers = []agent.Proposer{offer{recipeOf("write", 9)}}
	b.cfg.Transcript, _ = agent.NewTranscript(alice, nil)
	b.run(t, agent.Goal{Subject: "s", Text: "go"})
	b.want(t, agent.Achieved, "")
	if got := strings.Join(b.hands.calls, " "); got != "write" {
		t.Errorf("executed %s", got)
	}
	checkConversation(t, b.cfg.Transcript)
	var tellings []string
	for _, m := range b.model.requests[1].Messages[4:] {
		tellings = append(tellings, string(m.Role)+": "+m.Content)
	}
	want := "assistant: I would|tool: not run: superseded|tool: not run: superseded|user: Already done: write, ok\n<output>\nwritten\n</output>"
	if got := strings.Join(tellings, "|"); got != want {
		t.Errorf("the model reads\n%s, want\n%s", got, want)
	}
}

// squeezer compacts whenever the conversation has ten messages, and when it is forced to.
type squeezer struct{ forced int }

func (s *squeezer) Compact(ctx context.Context, t *agent.Transcript, model llm.Client, force bool) (bool, error) {
	if force {
		s.forced++
	}
	if len(t.Messages()) < 10 && !force {
		return false, nil
	}
	reply, err := model.Complete(ctx, llm.Request{Purpose: llm.PurposeSummary, Messages: t.Messages()})
	if err != nil {
		return false, err
	}
	return true, t.Compact("<identity>summary</identity> "+reply.Message.Content, 3)
}

func TestR12_OneIdentityInEveryRequest(t *testing.T) {
	var list []replyFunc
	for i := range 200 {
		list = append(list, says(fmt.Sprint("turn ", i), call(fmt.Sprint("c", i), "write", `{}`)))
	}
	b := newBench(list...)
	turns := 0
	b.cfg.Model = clientFunc(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if req.Purpose == llm.PurposeTurn {
			if turns++; turns == 12 {
				return errs(llm.Overflow)(req)
			}
		}
		return b.model.Complete(ctx, req)
	})
	box := &squeezer{}
	b.cfg.Compactor = box
	b.cfg.Transcript, _ = agent.NewTranscript(alice, nil)
	b.run(t, agent.Goal{Kind: agent.KindTask, Subject: "s", Text: "go"})
	b.want(t, agent.MaxStepsReached, "")
	for i, req := range b.model.requests {
		if n := said(req, "<identity>"); n != 1 {
			t.Fatalf("request %d has %d identity blocks", i, n)
		}
		if got := req.Messages[1].Content; got != "<identity>You are 'alice', role: coder, team: t. Continue your work.</identity>" {
			t.Fatalf("request %d: %s", i, got)
		}
	}
	compactions, identities := len(find[agent.Compacted](b.log)), len(find[agent.IdentityInjected](b.log))
	if compactions < 5 || identities != compactions+1 || box.forced != 1 {
		t.Errorf("%d compactions, %d forced, %d identities", compactions, box.forced, identities)
	}
}

// library chooses skills by the state.
type library struct {
	asked int
	err   error
}

func (l *library) Select(_, state string) ([]agent.Skill, error) {
	l.asked++
	list := []agent.Skill{{Name: "plan", Body: "make a plan"}}
	if strings.Contains(state, "bug") {
		list = append(list, agent.Skill{Name: "debug", Body: "find the bug"})
	}
	return list, l.err
}

func TestSkillsEnterOnce(t *testing.T) {
	b := newBench(says("a bug", call("1", "write", `{}`)), says("a bug", call("2", "write", `{}`)), says("done"))
	books := &library{}
	b.cfg.Skills = books
	b.run(t, agent.Goal{Subject: "s"})
	b.want(t, agent.Achieved, "")
	last := b.model.requests[2]
	if said(last, "make a plan") != 1 || said(last, "find the bug") != 1 || books.asked != 2 {
		t.Errorf("asked %d times; the conversation is %+v", books.asked, last.Messages)
	}
	if got := find[agent.SkillsSelected](b.log); len(got) != 3 || strings.Join(got[2].Names, " ") != "plan debug" {
		t.Errorf("selected %+v", got)
	}
}

func TestBrokenLibraryCostsOnlySkills(t *testing.T) {
	b := newBench(says("done"))
	b.cfg.Skills = &library{err: errors.New("unreadable")}
	b.run(t, agent.Goal{Subject: "s"})
	b.want(t, agent.Achieved, "")
	if f := find[agent.Fault](b.log); len(f) != 1 || f[0].Kind != agent.FaultSkills {
		t.Errorf("faults %+v", f)
	}
}

func TestTriesAreRecorded(t *testing.T) {
	b := newBench(func(req llm.Request) (llm.Response, error) {
		req.OnTry(llm.Try{N: 1, Class: llm.Rate, Status: 429})
		return says("done")(req)
	})
	b.run(t, agent.Goal{Subject: "s"})
	b.want(t, agent.Achieved, "")
	if got := find[agent.ModelCall](b.log); len(got) != 2 || got[0].Final || got[0].Class != llm.Rate || !got[1].Final {
		t.Errorf("calls %+v", got)
	}
}
