package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/eventlog"
	"github.com/autonomy-team/autonomy/team"
)

func openLog(t *testing.T, path string) *teamLog {
	t.Helper()
	l, err := openTeamLog(path, time.Now, nil, func(what string, err error) { t.Logf("%s: %v", what, err) })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var errEnough = errors.New("enough")

// take follows a log from a number until it has n records.
func take(t *testing.T, l *teamLog, after int64, n int) (seqs []int64) {
	t.Helper()
	err := l.follow(t.Context(), after, func(e control.Event) error {
		if seqs = append(seqs, e.Seq); len(seqs) == n {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatalf("follow ended with %v after %v", err, seqs)
	}
	return seqs
}

func TestFollowersGetEveryEventOnceAndInOrder(t *testing.T) {
	l := openLog(t, filepath.Join(t.TempDir(), "events.jsonl"))
	defer l.Close()
	const total = 3 * recentEvents // so that early followers read the file and late ones memory
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			seqs := take(t, l, 0, total)
			for i, seq := range seqs {
				if seq != int64(i+1) {
					t.Errorf("record %d has number %d", i, seq)
					return
				}
			}
		})
	}
	for i := range total {
		l.Emit(team.Event{Kind: team.EventClaimed, Task: autonomy.TaskID(i)})
	}
	wg.Wait()
	if got := take(t, l, total-2, 2); got[0] != total-1 {
		t.Errorf("after %d came %v", total-2, got)
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	l := openLog(t, filepath.Join(t.TempDir(), "events.jsonl"))
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.follow(ctx, -1, func(control.Event) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("follow = %v", err)
	}
}

func TestDamagedTeamLogIsKeptAndReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	l := openLog(t, path)
	for range 3 {
		l.Emit(team.Event{Kind: team.EventSpawned, Actor: "alice"})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), "alice", "mally", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	told := ""
	l, err = openTeamLog(path, time.Now, nil, func(what string, _ error) { told = what })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	aside, _ := filepath.Glob(path + ".damaged-*")
	if len(aside) != 1 || !strings.Contains(told, aside[0]) {
		t.Errorf("put aside: %v; told %q", aside, told)
	}
	l.Emit(team.Event{Kind: team.EventSpawned, Actor: "bob"})
	if got := take(t, l, 0, 1); got[0] != 1 {
		t.Errorf("the new log begins at %d", got[0])
	}
}

func TestHistoryKnowsAnOrderlyEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if h := readHistory(path); !h.orderly {
		t.Error("no log yet counts as a crash")
	}
	l := openLog(t, path)
	l.Emit(team.Event{Kind: team.EventClaimed, Task: 1, Actor: "alice"})
	if readHistory(path).orderly {
		t.Error("a log without its last record counts as an orderly end")
	}
	l.Emit(team.Event{Kind: team.EventShutdown, Actor: "alice"})
	if readHistory(path).orderly {
		t.Error("a member's shutdown counts as the daemon's")
	}
	l.Emit(downEvent())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	h := readHistory(path)
	if !h.orderly || h.last[1] != team.EventClaimed {
		t.Errorf("history = %+v", h)
	}
}

// The files are the truth: what the log says otherwise is corrected, and nothing else is touched.
func TestCorrectionsFollowTheFiles(t *testing.T) {
	tests := []struct {
		name string
		said team.EventKind
		file board.Status
		want team.EventKind // "" = no correction
	}{
		{"killed between completion and event", team.EventClaimed, board.Completed, team.EventCompleted},
		{"power cut rolled a claim back", team.EventClaimed, board.Pending, team.EventReleased},
		{"a person took a completion back", team.EventCompleted, board.Pending, team.EventReleased},
		{"claimed and still so: reaped later", team.EventClaimed, board.InProgress, ""},
		{"completed as said", team.EventCompleted, board.Completed, ""},
		{"released as said", team.EventReleased, board.Pending, ""},
		{"failed as said", team.EventFailed, board.Failed, ""},
		{"cancelled by a person while claimed", team.EventClaimed, board.Cancelled, team.EventReleased},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := history{last: map[autonomy.TaskID]team.EventKind{7: tt.said, 8: tt.said}}
			got := corrections(h, map[autonomy.TaskID]board.Task{7: {ID: 7, Status: tt.file}})
			if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || got[0].Kind != tt.want || got[0].Task != 7) {
				t.Errorf("corrections = %+v, want %q", got, tt.want)
			}
		})
	}
}

func TestRemovedTeamLogIsBegunAnew(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"removed":  os.Remove,
		"replaced": saveAgain,
		"removed, with a full file of before": func(path string) error {
			return errors.Join(os.WriteFile(path+".000000000001", nil, 0o600), os.Remove(path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "events.jsonl")
			var told []string
			l, err := openTeamLog(path, time.Now, nil, func(what string, _ error) { told = append(told, what) })
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				l.Emit(team.Event{Kind: team.EventSpawned, Actor: "alice"})
			}
			l.Keep()
			if len(told) > 0 {
				t.Fatalf("told %q of a log at its place", told)
			}
			if err := lose(path); err != nil {
				t.Fatal(err)
			}
			l.Emit(team.Event{Kind: team.EventSpawned, Actor: "bob"})
			l.Keep()
			if len(told) != 1 || !strings.Contains(told[0], "removed or replaced") {
				t.Errorf("told %q", told)
			}
			if got := take(t, l, 0, 5); got[3] != 4 || got[4] != 5 {
				t.Errorf("followers got %v", got)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			var read []string
			for r, err := range eventlog.Read(path) {
				if err != nil {
					t.Fatal(err)
				}
				read = append(read, fmt.Sprint(r.Seq, " ", string(r.Data)))
			}
			if len(read) != 2 || !strings.HasPrefix(read[0], "4 ") || !strings.Contains(read[0], `"error"`) || !strings.Contains(read[1], "bob") {
				t.Errorf("the new file has %q", read)
			}
			again := openLog(t, path)
			defer again.Close()
			if again.seq != 5 {
				t.Errorf("the next daemon goes on after %d", again.seq)
			}
		})
	}
}

func TestTeamLogHoldsNoSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	mask := func(record []byte) []byte { return bytes.ReplaceAll(record, []byte("canary"), []byte("***")) }
	l, err := openTeamLog(path, time.Now, mask, func(what string, err error) { t.Errorf("%s: %v", what, err) })
	if err != nil {
		t.Fatal(err)
	}
	l.Emit(team.Event{Kind: team.EventError, Actor: "alice", Reason: "the server said canary"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || bytes.Contains(data, []byte("canary")) || !bytes.Contains(data, []byte("***")) {
		t.Errorf("%s, %v", data, err)
	}
}
