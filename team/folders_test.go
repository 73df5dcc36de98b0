package team_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/team"
)

var (
	_ team.Board  = (*board.Dir)(nil)
	_ team.Mail   = (*inbox.Dir)(nil)
	_ team.Roster = (*team.RosterFile)(nil)
)

// TestTeamOnFolders works a real board with real mailboxes: each task once, whoever takes it, and one that a person takes
// away in the middle goes on only when its attempt has stopped.
func TestTeamOnFolders(t *testing.T) {
	const tasks, members = 60, 8
	root := t.TempDir()
	path := filepath.Join(root, "tasks")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	store, err := board.Open(board.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	mail, err := inbox.Open(inbox.Config{Path: filepath.Join(root, "inbox")})
	if err != nil {
		t.Fatal(err)
	}
	crew := &soloists{working: map[autonomy.TaskID]bool{}, started: make(chan struct{})}
	sup, err := team.New(team.Config{
		Instance: "i1", Board: store, Mail: mail, Worker: crew, Transcripts: &memory{}, Events: &eventLog{},
		Roster: team.NewRosterFile(filepath.Join(root, "config.json")), Poll: 20 * time.Millisecond,
		IdleTimeout: 200 * time.Millisecond, ExitWhenIdle: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, 1, `{"subject":"long","priority":9}`)
	for i := 2; i <= tasks; i++ {
		blocker := ""
		if i > 10 {
			blocker = fmt.Sprintf(`,"blockedBy":[%d]`, i-8)
		}
		write(t, path, i, `{"subject":"short"`+blocker+`}`)
	}
	for i := range members {
		if _, err := sup.Spawn(t.Context(), team.Spec{Name: autonomy.AgentName(fmt.Sprintf("m%d", i)), Model: "m"}, false); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		<-crew.started
		src, err := os.ReadFile(filepath.Join(path, "task_1.json"))
		if err != nil {
			t.Error(err)
		}
		owned := regexp.MustCompile(`"owner": ?"` + string(crew.first()) + `"`)
		if !owned.Match(src) {
			t.Errorf("task 1 is nobody's: %s", src)
		}
		write(t, path, 1, owned.ReplaceAllString(string(src), `"owner":""`))
		sup.BoardHint("task_1.json")
	}()
	err = sup.Serve(ctx)
	if !is[*team.IdleError](err) || strings.Contains(err.Error(), "unfinished") {
		t.Errorf("serve: %v", err)
	}
	for _, clash := range crew.clashes {
		t.Error(clash)
	}
	if n := crew.done; n != tasks {
		t.Errorf("%d attempts were achieved for %d tasks", n, tasks)
	}
}

// soloists note when two work on one task. The first attempt of task 1 goes on until it is cancelled.
type soloists struct {
	mu      sync.Mutex
	working map[autonomy.TaskID]bool
	clashes []string
	done    int
	owner   autonomy.AgentName
	started chan struct{}
}

func (s *soloists) first() autonomy.AgentName {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owner
}

func (s *soloists) Work(ctx context.Context, job team.Job) agent.Report {
	id := job.Task.ID
	s.mu.Lock()
	if s.working[id] {
		s.clashes = append(s.clashes, fmt.Sprintf("two attempts of task %d at once", id))
	}
	s.working[id] = true
	long := id == 1 && s.owner == ""
	if long {
		s.owner = job.Member.Name
		close(s.started)
	}
	s.mu.Unlock()
	if long {
		<-ctx.Done()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.working[id] = false
	if long {
		return agent.Report{Termination: agent.Cancelled}
	}
	s.done++
	return agent.Report{Termination: agent.Achieved, Summary: "done"}
}

// write replaces a task file as an editor does.
func write(t *testing.T, path string, id int, src string) {
	temporary := filepath.Join(path, ".edit")
	err := os.WriteFile(temporary, []byte(src), 0o644)
	if err == nil {
		err = os.Rename(temporary, filepath.Join(path, fmt.Sprintf("task_%d.json", id)))
	}
	if err != nil {
		t.Error(err)
	}
}
