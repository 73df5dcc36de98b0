package team_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/agent/tool/team"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
)

// desk records what the tools ask for.
type desk struct {
	draft   board.Draft
	patch   board.Patch
	sent    inbox.Message
	note    string
	claimed autonomy.TaskID
	fail    error
	spawned []string
	stopped []autonomy.AgentName
	unread  int
}

func (d *desk) List() []board.Entry {
	return []board.Entry{
		{ID: 1, Task: board.Task{ID: 1, Subject: "one", Status: board.Completed, Owner: "bob"}},
		{ID: 2, Task: board.Task{ID: 2, Subject: "two", Status: board.InProgress, Owner: "alice"}},
		{
			ID: 3, Task: board.Task{ID: 3, Subject: "three", Status: board.Pending},
			Readiness: board.Readiness{Reason: "waiting on 2"}, Blockers: []autonomy.TaskID{2},
		},
		{ID: 4, Task: board.Task{ID: 4, Subject: "four", Status: board.Pending}, Readiness: board.Readiness{Ready: true}},
		{ID: 5, Task: board.Task{ID: 5, Subject: "five", Status: board.Failed}, Readiness: board.Readiness{Reason: "failed: step"}},
	}
}

func (d *desk) Get(id autonomy.TaskID) (board.Entry, error) {
	for _, e := range d.List() {
		if e.ID == id {
			return e, nil
		}
	}
	return board.Entry{}, &board.NotFoundError{ID: id}
}

func (d *desk) Create(_ context.Context, draft board.Draft) (board.Task, error) {
	d.draft = draft
	return board.Task{ID: 6, Subject: draft.Subject}, d.fail
}

func (d *desk) Edit(_ context.Context, id autonomy.TaskID, patch board.Patch) (board.Task, error) {
	d.patch = patch
	return board.Task{ID: id, Subject: "edited"}, d.fail
}

func (d *desk) Spawn(_ context.Context, by, name autonomy.AgentName, role autonomy.Role, prompt string) error {
	d.spawned = append(d.spawned, strings.Join([]string{string(by), string(name), string(role), prompt}, "/"))
	return d.fail
}

func (d *desk) Members() []team.Member {
	return []team.Member{{Name: "alice", Role: "coder", State: "working", Task: 2}, {Name: "bob", Role: "tester", State: "shutdown"}}
}

func (d *desk) Stop(_ context.Context, name autonomy.AgentName) error {
	d.stopped = append(d.stopped, name)
	return d.fail
}

func (d *desk) registry(t *testing.T, asLead bool) *tool.Registry {
	t.Helper()
	cfg := team.Config{
		Board: d,
		Claim: func(_ context.Context, _ autonomy.AgentName, id autonomy.TaskID) (board.Task, error) {
			d.claimed = id
			return board.Task{ID: 4, Subject: "four"}, d.fail
		},
		Send: func(_ context.Context, m inbox.Message) (string, error) {
			d.sent = m
			return d.note, d.fail
		},
		Unread:  func(context.Context, autonomy.AgentName) (int, error) { return d.unread, nil },
		Submit:  func(_ context.Context, _ tool.Env, plan string) (string, error) { return "asked: " + plan, nil },
		Compact: func(context.Context, autonomy.AgentName, string) error { return nil },
		Review:  func(context.Context, autonomy.AgentName, string, bool, string) error { return nil },
	}
	if asLead {
		cfg.Crew = d
	}
	tools, err := team.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tool.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// call validates and runs a call as the gateway does.
func call(t *testing.T, r *tool.Registry, env tool.Env, name, args string) (tool.Result, error) {
	t.Helper()
	if err := r.Validate(name, json.RawMessage(args)); err != nil {
		return tool.Result{}, err
	}
	found, _ := r.Get(name)
	if a := found.(tool.Assessor).Assess(json.RawMessage(args), env); a.Risk != action.Low {
		t.Errorf("%s is %s", name, a.Risk)
	}
	return found.Call(t.Context(), tool.Call{Arguments: json.RawMessage(args), Env: env})
}

func TestToolsetIsThatOfTheManual(t *testing.T) {
	d := &desk{}
	member := []string{
		"idle", "claim_task", "complete_task", "create_task", "update_task", "list_tasks", "get_task", "send_message",
		"read_inbox", "submit_plan", "compact",
	}
	if got := d.registry(t, false).Names(); !slices.Equal(got, member) {
		t.Errorf("a member has %v", got)
	}
	lead := append(slices.Clone(member), "spawn_teammate", "list_teammates", "stop_teammate", "review_plan")
	if got := d.registry(t, true).Names(); !slices.Equal(got, lead) {
		t.Errorf("the lead has %v", got)
	}
	for _, set := range tool.Catalog(d.registry(t, true), nil) {
		if set.Name == "team" && !slices.Equal(set.Tools, lead) {
			t.Errorf("the catalogue has %v", set.Tools)
		}
	}
	if _, err := team.New(team.Config{}); err == nil {
		t.Error("tools without a board")
	}
}

func TestResults(t *testing.T) {
	alice := tool.Env{Actor: "alice", Task: 2}
	tests := []struct {
		name, tool, args string
		env              tool.Env
		desk             desk
		want             string
		isError, ends    bool
	}{
		{"idle", "idle", `{}`, alice, desk{}, "idle", false, true},
		{"idle of the lead", "idle", `{}`, tool.Env{Actor: "lead"}, desk{}, "error: the lead does not idle; end your answer with text", true, false},
		{"complete", "complete_task", `{"summary":"did it"}`, alice, desk{}, "task #2: completion stated, to be checked", false, true},
		{"complete without a task", "complete_task", `{}`, tool.Env{Actor: "alice"}, desk{}, "error: no task is being worked in this run; a task that you claimed starts when the run ends", true, false},
		{"claim", "claim_task", `{"id":4}`, alice, desk{}, "Task #4 is yours: four\nIt starts as soon as this run ends.", false, false},
		{"claim of a holder", "claim_task", `{}`, alice, desk{fail: &board.HoldsError{Name: "alice", ID: 2}}, "error: alice already holds task 2; finish it with complete_task or leave it with idle", true, false},
		{"claim lost", "claim_task", `{}`, alice, desk{fail: &board.ClaimedError{ID: 4, Owner: "bob"}}, "error: task 4 is already claimed by bob; list_tasks shows what is ready", true, false},
		{"list", "list_tasks", `{}`, alice, desk{}, "[x] #1: one @bob\n[>] #2: two @alice\n[ ] #3: three (waiting on 2)\n[ ] #4: four\n[!] #5: five (failed: step)", false, false},
		{"list by status", "list_tasks", `{"status":"failed"}`, alice, desk{}, "[!] #5: five (failed: step)", false, false},
		{"list of none", "list_tasks", `{"status":"cancelled"}`, alice, desk{}, "No tasks.", false, false},
		{"get", "get_task", `{"id":3}`, alice, desk{}, "[ ] #3: three (waiting on 2)\nstatus: pending\nblocked by: 2", false, false},
		{"get of none", "get_task", `{"id":9}`, alice, desk{}, "error: no task 9 on the board", true, false},
		{"sent", "send_message", `{"to":"bob","content":"hi"}`, alice, desk{}, "sent to bob", false, false},
		{"queued", "send_message", `{"to":"bob","content":"hi"}`, alice, desk{note: "queued; not running"}, "queued; not running", false, false},
		{"unknown receiver", "send_message", `{"to":"eve","content":"hi"}`, alice, desk{fail: errors.New("nobody is called eve")}, "error: nobody is called eve", true, false},
		{"no mail", "read_inbox", `{}`, alice, desk{}, "No unread mail.", false, false},
		{"mail", "read_inbox", `{}`, alice, desk{unread: 2}, "2 unread; they follow in the next message.", false, false},
		{"members", "list_teammates", `{}`, alice, desk{}, "alice (coder): working #2\nbob (tester): shutdown", false, false},
		{"stop the lead", "stop_teammate", `{"name":"lead"}`, tool.Env{Actor: "lead"}, desk{}, "error: no member can stop the lead", true, false},
		{"stop", "stop_teammate", `{"name":"bob"}`, tool.Env{Actor: "lead"}, desk{}, "bob has stopped", false, false},
		{"spawn", "spawn_teammate", `{"name":"eve","role":"coder"}`, tool.Env{Actor: "lead"}, desk{}, "Spawned 'eve' (role: coder)", false, false},
		{"plan", "submit_plan", `{"plan":"p"}`, alice, desk{}, "asked: p", false, false},
		{"review", "review_plan", `{"request":"r","approve":false}`, alice, desk{}, "rejected", false, false},
		{"compact", "compact", `{}`, alice, desk{}, "the conversation is compacted before your next turn", false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := call(t, test.desk.registry(t, true), test.env, test.tool, test.args)
			if err != nil {
				t.Fatal(err)
			}
			want := tool.Result{Content: test.want, IsError: test.isError, EndTurn: test.ends}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestWritesAreStampedAndBounded(t *testing.T) {
	d := &desk{}
	r := d.registry(t, true)
	alice := tool.Env{Actor: "alice"}
	if _, err := call(t, r, alice, "create_task", `{"subject":"s","blocked_by":[1,2],"role":"coder","priority":3}`); err != nil {
		t.Fatal(err)
	}
	want := board.Draft{Subject: "s", BlockedBy: []autonomy.TaskID{1, 2}, Role: "coder", Priority: 3, CreatedBy: "alice"}
	if !reflect.DeepEqual(d.draft, want) {
		t.Errorf("draft %+v, want %+v", d.draft, want)
	}
	if _, err := call(t, r, alice, "send_message", `{"to":"all","content":"c","interrupt":true}`); err != nil {
		t.Fatal(err)
	}
	if m := (inbox.Message{Kind: inbox.KindBroadcast, From: "alice", To: "all", Content: "c", Interrupt: true}); d.sent != m {
		t.Errorf("sent %+v, want %+v", d.sent, m)
	}
	if _, err := call(t, r, alice, "update_task", `{"id":3,"priority":0,"blocked_by":[],"metadata":{"a":1}}`); err != nil {
		t.Fatal(err)
	}
	if p := d.patch; p.Subject != nil || p.Priority == nil || *p.Priority != 0 || p.BlockedBy == nil || string(p.Metadata) != `{"a":1}` {
		t.Errorf("patch %+v", p)
	}
	refused := map[string]string{
		"update_task":  `{"id":3,"status":"completed"}`,
		"create_task":  `{"subject":"s","createdBy":"user"}`,
		"send_message": `{"to":"bob","content":"c","from":"user"}`,
		"claim_task":   `{"id":"4"}`,
		"idle":         `{"_force":true}`,
	}
	for name, args := range refused {
		if _, err := call(t, r, alice, name, args); !errors.Is(err, tool.ErrArguments) {
			t.Errorf("%s %s: %v", name, args, err)
		}
	}
}
