package gateway

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
)

// notes is an Approver that keeps the digest of what it was asked and says no.
type notes struct{ digest string }

func (n *notes) Approve(_ context.Context, r Request) (Answer, error) {
	n.digest = r.Digest
	return Answer{Decision: action.Deny, By: "user"}, nil
}

// Whatever differs in what would run, where, how long, for whom or for which task is another question. The run and the
// order of the arguments are none of it.
func TestApprovalIsBoundToExactlyThis(t *testing.T) {
	base := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	ask := func(change func(*Config, *action.Action)) string {
		n := &notes{}
		a := act("writer", `{"text":"a","purpose":"p"}`)
		w, other := writer(), writer()
		other.name = "other"
		g := open(t, func(c *Config) {
			c.Policy, c.Approver, c.Env.Workspace = Modes(ModeAsk, false), n, base
			change(c, &a)
		}, w, other)
		if _, err := g.Admit(t.Context(), a); err != nil || n.digest == "" {
			t.Fatalf("asked %q, %v", n.digest, err)
		}
		return n.digest
	}
	same := func(*Config, *action.Action) {}
	was := ask(same)
	for name, change := range map[string]func(*Config, *action.Action){
		"run":   func(c *Config, _ *action.Action) { c.Env.Run = "other" },
		"order": func(_ *Config, a *action.Action) { a.Arguments = []byte(`{ "purpose": "p", "text": "a" }`) },
	} {
		if ask(change) != was {
			t.Errorf("another %s is another question", name)
		}
	}
	for name, change := range map[string]func(*Config, *action.Action){
		"tool":      func(_ *Config, a *action.Action) { a.Tool = "other" },
		"arguments": func(_ *Config, a *action.Action) { a.Arguments = []byte(`{"text":"b","purpose":"p"}`) },
		"timeout":   func(_ *Config, a *action.Action) { a.Timeout = time.Second },
		"level":     func(_ *Config, a *action.Action) { a.Risk = action.High },
		"member":    func(c *Config, _ *action.Action) { c.Env.Actor = "bob" },
		"task":      func(c *Config, _ *action.Action) { c.Env.Task = 4 },
		"directory": func(c *Config, _ *action.Action) { c.Env.Dir = os.TempDir() },
		"origin":    func(c *Config, a *action.Action) { c.Env.Person, a.Direct = true, true },
	} {
		if ask(change) == was {
			t.Errorf("another %s is the same question", name)
		}
	}
	// Another folder under the same name. The old one stays, or the new one might get its number.
	if err := os.Rename(base, base+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	if ask(same) == was {
		t.Error("another folder under the same name is the same question")
	}
}

func TestQuestionsWaitTenMinutes(t *testing.T) {
	if Expiry != 10*time.Minute {
		t.Errorf("Expiry is %s", Expiry)
	}
}
