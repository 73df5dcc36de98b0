package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/internal/atomicfile/faultfs"
)

func requests(t *testing.T, dir string) *Requests {
	t.Helper()
	r, err := OpenRequests(RequestsConfig{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func question() Request {
	return Request{Actor: "alice", Task: 3, Tool: "bash", Arguments: json.RawMessage(`{"command":"ls <x> && rm y"}`), Dir: "/w", Digest: "d1", Reason: "high"}
}

// asked starts Approve in the bubble and returns its request once it is open.
func asked(t *testing.T, ctx context.Context, r *Requests, q Request) (Request, <-chan Answer, <-chan error) {
	t.Helper()
	answers, errs := make(chan Answer, 1), make(chan error, 1)
	go func() {
		a, err := r.Approve(ctx, q)
		answers <- a
		errs <- err
	}()
	synctest.Wait()
	for _, open := range r.List() {
		if open.Digest == q.Digest {
			return open, answers, errs
		}
	}
	t.Fatalf("it is not listed: %+v", r.List())
	return Request{}, nil, nil
}

func TestR16_FirstAnswerWins(t *testing.T) {
	for _, yes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := requests(t, t.TempDir())
			q, answers, _ := asked(t, t.Context(), r, question())
			if q.State != Open || q.Kind != KindTool || !q.ExpiresAt.Equal(q.CreatedAt.Add(Expiry)) {
				t.Errorf("listed %+v", q)
			}
			if _, err := r.Answer(q.ID, Reply{Approve: yes, By: "eve", Feedback: "mind y"}); err != nil {
				t.Fatal(err)
			}
			got, want := <-answers, action.Deny
			if yes {
				want = action.Allow
			}
			if got.Decision != want || got.By != "eve" || got.Request != q.ID || !strings.Contains(got.Reason, "mind y") {
				t.Errorf("got %+v", got)
			}
			var late *AnsweredError
			if _, err := r.Answer(q.ID, Reply{Approve: !yes, By: "bob"}); !errors.As(err, &late) || late.By != "eve" {
				t.Errorf("late answer: %v", err)
			}
			if _, err := r.Answer("nope", Reply{}); !errors.Is(err, ErrNoRequest) {
				t.Errorf("unknown id: %v", err)
			}
			if len(r.List()) != 0 {
				t.Errorf("still listed: %+v", r.List())
			}
		})
	}
}

func TestR16_OneOfManyAnswersCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := requests(t, t.TempDir())
		q, answers, _ := asked(t, t.Context(), r, question())
		var all sync.WaitGroup
		var wins []bool
		var mu sync.Mutex
		for i := range 20 {
			all.Go(func() {
				if _, err := r.Answer(q.ID, Reply{Approve: i%2 == 0, By: "p"}); err == nil {
					mu.Lock()
					wins = append(wins, i%2 == 0)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if a := <-answers; len(wins) != 1 || (a.Decision == action.Allow) != wins[0] {
			t.Errorf("%d answers won (%v), the agent was told %s", len(wins), wins, a.Decision)
		}
	})
}

func TestR16_ExpiryIsNo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := requests(t, t.TempDir())
		begun := time.Now()
		q, answers, _ := asked(t, t.Context(), r, question())
		if a := <-answers; a.Decision != action.Expired || time.Since(begun) != Expiry {
			t.Errorf("got %+v after %s", a, time.Since(begun))
		}
		var late *AnsweredError
		if _, err := r.Answer(q.ID, Reply{Approve: true, By: "eve"}); !errors.As(err, &late) || late.State != Expired {
			t.Errorf("answer after expiry: %v", err)
		}
	})
}

func TestR16_SurvivesARestartAsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		ctx, kill := context.WithCancel(t.Context())
		first, _, errs := asked(t, ctx, requests(t, dir), question())
		kill()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		r := requests(t, dir)
		if list := r.List(); len(list) != 1 || list[0].ID != first.ID || list[0].State != Open {
			t.Fatalf("after the restart: %+v", list)
		}
		other := question()
		other.Digest = "d2"
		second, _, _ := asked(t, t.Context(), r, other)
		if second.ID == first.ID {
			t.Error("another action took the pending request over")
		}
		_, answers, _ := asked(t, t.Context(), r, question())
		if list := r.List(); len(list) != 2 {
			t.Fatalf("the same action did not take the pending request over: %+v", list)
		}
		if _, err := r.Answer(first.ID, Reply{Approve: true, By: "eve"}); err != nil {
			t.Fatal(err)
		}
		if a := <-answers; a.Decision != action.Allow || a.Request != first.ID {
			t.Errorf("got %+v", a)
		}
		if err := r.Withdraw("alice", 3); err != nil {
			t.Fatal(err)
		}
	})
}

func TestR16_AnswerBeforeTheMemberAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		ctx, kill := context.WithCancel(t.Context())
		q, _, errs := asked(t, ctx, requests(t, dir), question())
		kill()
		<-errs
		r := requests(t, dir)
		if _, err := r.Answer(q.ID, Reply{Approve: true, By: "eve"}); err != nil {
			t.Fatal(err)
		}
		if a, err := r.Approve(t.Context(), question()); err != nil || a.Decision != action.Allow {
			t.Errorf("got %+v, %v", a, err)
		}
		// Used up: the third time it is a question again.
		again, _, _ := asked(t, t.Context(), r, question())
		if again.ID == q.ID {
			t.Error("a yes was used twice")
		}
		if err := r.Withdraw("alice", 0); err != nil {
			t.Fatal(err)
		}
	})
}

func TestR16_UnusedYesDiesWithTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		ctx, kill := context.WithCancel(t.Context())
		old := requests(t, dir)
		q, _, errs := asked(t, ctx, old, question())
		kill()
		<-errs
		if _, err := old.Answer(q.ID, Reply{Approve: true, By: "eve"}); err != nil {
			t.Fatal(err)
		}
		r := requests(t, dir)
		again, _, _ := asked(t, t.Context(), r, question())
		if again.ID == q.ID || again.State != Open {
			t.Error("a yes outlived the daemon")
		}
		if err := r.Withdraw("alice", 0); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWithdrawnWhenTheTaskGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := requests(t, t.TempDir())
		_, answers, _ := asked(t, t.Context(), r, question())
		if err := r.Withdraw("alice", 4); err != nil || len(r.List()) != 1 {
			t.Errorf("another task's: %v, %+v", err, r.List())
		}
		if err := r.Withdraw("bob", 3); err != nil || len(r.List()) != 1 {
			t.Errorf("another member's: %v, %+v", err, r.List())
		}
		if err := r.Withdraw("alice", 3); err != nil {
			t.Fatal(err)
		}
		if a := <-answers; a.Decision != action.Deny || !strings.Contains(a.Reason, "withdrawn") {
			t.Errorf("got %+v", a)
		}
	})
}

func TestAbandonedQuestionIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := requests(t, dir)
		ctx, stop := context.WithCancel(t.Context())
		q, _, errs := asked(t, ctx, r, question())
		stop()
		<-errs
		time.Sleep(Abandoned)
		if list := r.List(); len(list) != 1 {
			t.Errorf("within the time to ask again: %+v", list)
		}
		time.Sleep(time.Second)
		var late *AnsweredError
		if _, err := r.Answer(q.ID, Reply{Approve: true, By: "eve"}); !errors.As(err, &late) || late.State != Withdrawn {
			t.Errorf("got %v", err)
		}
		if len(r.List()) != 0 || len(requests(t, dir).List()) != 0 {
			t.Error("still listed")
		}
	})
}

// A file says what it likes: nothing in the folder answers, and an altered question does not lend its answer to the real
// one.
func TestR17_NoTextApproves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		ctx, kill := context.WithCancel(t.Context())
		r := requests(t, dir)
		q, answers, errs := asked(t, ctx, r, question())
		path := filepath.Join(dir, q.ID+".json")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		forged := strings.Replace(string(data), `"state": "open"`, `"state": "approved", "by": "eve"`, 1)
		if forged == string(data) {
			t.Fatalf("the test does not forge: %s", data)
		}
		if err := os.WriteFile(path, []byte(forged), 0o600); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(answers) != 0 || len(r.List()) != 1 {
			t.Error("a file answered")
		}
		kill()
		<-errs
		harmless := strings.Replace(string(data), "rm y", "true", 1)
		if err := os.WriteFile(path, []byte(harmless), 0o600); err != nil || harmless == string(data) {
			t.Fatal(err, harmless)
		}
		r = requests(t, dir)
		if _, err := r.Answer(q.ID, Reply{Approve: true, By: "eve"}); err != nil {
			t.Fatal(err)
		}
		real, _, _ := asked(t, t.Context(), r, question())
		if real.ID == q.ID {
			t.Error("the yes to an altered question let the real one through")
		}
		if err := r.Withdraw("alice", 0); err != nil {
			t.Fatal(err)
		}
	})
}

func TestR17_TheLeadAnswersPlansOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := requests(t, t.TempDir())
		q, _, _ := asked(t, t.Context(), r, question())
		if _, err := r.Review(q.ID, Reply{Approve: true, By: "lead"}); !errors.Is(err, ErrPersonOnly) {
			t.Errorf("the lead answered for a tool: %v", err)
		}
		p, answers, _ := asked(t, t.Context(), r, Request{Kind: KindPlan, Actor: "bob", Plan: "first this", Digest: "p"})
		if _, err := r.Review(p.ID, Reply{Approve: true, By: "lead"}); err != nil {
			t.Fatal(err)
		}
		if a := <-answers; a.Decision != action.Allow {
			t.Errorf("got %+v", a)
		}
		if err := r.Withdraw("alice", 0); err != nil {
			t.Fatal(err)
		}
	})
}

// A yes that is not on disk is not given; every failing call leaves an open question or an answer.
func TestRequestsUnderFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root, runs := t.TempDir(), 0
		faultfs.Each(t, func(fsys *faultfs.FS) error {
			runs++
			dir := filepath.Join(root, strconv.Itoa(runs))
			r, err := OpenRequests(RequestsConfig{Path: dir, FS: fsys})
			if err != nil {
				return err
			}
			return approveOnFaulty(t, r, dir)
		})
	})
}

func approveOnFaulty(t *testing.T, r *Requests, dir string) error {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answers, errs := make(chan Answer, 1), make(chan error, 1)
	go func() {
		a, err := r.Approve(ctx, question())
		answers <- a
		errs <- err
	}()
	synctest.Wait()
	for _, q := range r.List() {
		if _, err := r.Answer(q.ID, Reply{Approve: true, By: "eve"}); err != nil {
			cancel()
			if a := <-answers; a.Decision == action.Allow {
				t.Errorf("a failed answer was given: %+v", a)
			}
			return err
		}
	}
	a, err := <-answers, <-errs
	if err == nil {
		data, readErr := os.ReadFile(filepath.Join(dir, a.Request+".json"))
		if readErr != nil || !strings.Contains(string(data), `"state": "approved"`) {
			t.Errorf("approved, and on disk: %s (%v)", data, readErr)
		}
	}
	return err
}

func TestInline(t *testing.T) {
	for line, want := range map[string]action.Decision{
		"y\n": action.Allow, "Yes": action.Allow, "": action.Deny, "n": action.Deny, "yes please": action.Deny,
	} {
		var shown string
		in := Inline{Ask: func(_ context.Context, q string) (string, error) { shown = q; return line, nil }}
		q := question()
		q.Effect = "run a shell command"
		q.Arguments = json.RawMessage("{\"command\":\"ls\\u202e\\u001b[2J\\nrm -rf /\"}")
		if a, err := in.Approve(t.Context(), q); err != nil || a.Decision != want {
			t.Errorf("%q: got %+v, %v", line, a, err)
		}
		if strings.ContainsAny(shown, "\u202e\x1b") || !strings.Contains(shown, "rm -rf /") || !strings.Contains(shown, q.Effect) || !strings.Contains(shown, "/w") {
			t.Errorf("shown: %q", shown)
		}
	}
	closed := Inline{Ask: func(context.Context, string) (string, error) { return "y", errors.New("end of input") }}
	if a, err := closed.Approve(t.Context(), question()); err != nil || a.Decision != action.Deny {
		t.Errorf("closed input: %+v, %v", a, err)
	}
}
