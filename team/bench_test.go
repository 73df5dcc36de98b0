package team_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/team"
)

// crowd serves a team of idle members over a store until stop.
func crowd(b *testing.B, store team.Board, n int, log team.Events, work func(context.Context, team.Job) agent.Report) (sup *team.Supervisor, stop func()) {
	b.Helper()
	m := &memory{}
	sup, err := team.New(team.Config{
		Instance: "i1", Board: store, Mail: newMail(), Worker: &fakeWorker{do: work}, Transcripts: m, Roster: m,
		Events: log, MaxTeammates: n, IdleTimeout: time.Hour, Poll: time.Hour,
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		spec := team.Spec{Name: autonomy.AgentName(fmt.Sprintf("m%d", i)), Role: "coder", Model: "m"}
		if _, err := sup.Spawn(b.Context(), spec, true); err != nil {
			b.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	done := make(chan error, 1)
	go func() { done <- sup.Serve(ctx) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		idle := 0
		for _, st := range sup.Members() {
			if st.Phase == team.Idle {
				idle++
			}
		}
		if idle == n {
			return sup, stop
		}
		if time.Now().After(deadline) {
			b.Fatalf("%d of %d members idle", idle, n)
		}
	}
}

// rested announces when a member has done its work; nil announces nothing.
type rested chan struct{}

func (r rested) Emit(ev team.Event) {
	if r != nil && ev.Kind == team.EventState && ev.From == team.Working {
		r <- struct{}{}
	}
}

// BenchmarkIdleMembers reports the memory of 1,000 idle members, stacks included.
func BenchmarkIdleMembers(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, stop := crowd(b, newBoard(), 1000, rested(nil), achieve)
		runtime.GC()
		runtime.ReadMemStats(&after)
		used := after.HeapInuse + after.StackInuse - before.HeapInuse - before.StackInuse
		b.ReportMetric(float64(used)/1000, "B/member")
		stop()
	}
}

// BenchmarkDropToClaim measures from the hint about a dropped file to the job in the hands of a member, on a real folder.
func BenchmarkDropToClaim(b *testing.B) {
	for _, size := range []struct{ members, others int }{{1, 0}, {8, 0}, {512, 0}, {8, 10_000}, {512, 10_000}} {
		b.Run(fmt.Sprintf("members=%d/others=%d", size.members, size.others), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), ".tasks")
			if err := os.MkdirAll(path, 0o755); err != nil {
				b.Fatal(err)
			}
			for i := range size.others {
				drop(b, path, i+1, `{"subject":"done","status":"completed"}`)
			}
			store, err := board.Open(board.Config{Path: path, Watched: func() bool { return true }})
			if err != nil {
				b.Fatal(err)
			}
			got := make(chan time.Time)
			done := make(rested, 1)
			sup, stop := crowd(b, store, size.members, done, func(ctx context.Context, job team.Job) agent.Report {
				got <- time.Now()
				return achieve(ctx, job)
			})
			defer stop()
			next := size.others
			var waited, bare time.Duration
			for b.Loop() {
				next++
				name := drop(b, path, next, `{"subject":"do it"}`)
				began := time.Now()
				sup.BoardHint(name)
				waited += (<-got).Sub(began)
				<-done
				bare += bareClaim(b, path)
			}
			b.ReportMetric(float64(waited.Nanoseconds())/float64(b.N), "ns/claim")
			b.ReportMetric(float64(waited)/float64(bare), "x-bare")
		})
	}
}

// bareClaim is the reference: what a claim cannot do without, the write, sync and rename of the task's file.
func bareClaim(b *testing.B, path string) time.Duration {
	began := time.Now()
	temporary := filepath.Join(path, ".bare.tmp")
	f, err := os.Create(temporary)
	if err == nil {
		_, err = f.WriteString(`{"subject":"do it","status":"in_progress","owner":"m0","claim":{"id":"x","by":"m0"}}`)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(temporary, filepath.Join(path, ".bare"))
	}
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// drop makes a task file appear whole.
func drop(b *testing.B, path string, id int, src string) string {
	b.Helper()
	name := fmt.Sprintf("task_%d.json", id)
	temporary := filepath.Join(path, ".drop")
	err := os.WriteFile(temporary, []byte(src), 0o644)
	if err == nil {
		err = os.Rename(temporary, filepath.Join(path, name))
	}
	if err != nil {
		b.Fatal(err)
	}
	return name
}
