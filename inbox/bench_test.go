package inbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/inbox"
)

var benchLine = []byte(`{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","type":"message","from":"bob","to":"alice","content":"benchmark"}` + "\n")

// bareAppend is the reference for a send: append and sync, nothing else.
func bareAppend(b *testing.B) *os.File {
	b.Helper()
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	return f
}

func appendSync(f *os.File, lines int) error {
	var text []byte
	for range lines {
		text = append(text, benchLine...)
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// BenchmarkSend acknowledges one message at a time; x/bare is the ratio to the bare append in the same run.
func BenchmarkSend(b *testing.B) {
	d, bare := open(b, inbox.Config{MaxMessages: 1 << 40, MaxBytes: 1 << 50}), bareAppend(b)
	var sends, appends time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := d.Send(context.Background(), inbox.Message{To: "alice", From: "bob", Content: "benchmark"}); err != nil {
			b.Fatal(err)
		}
		sends += time.Since(begin)
		b.StopTimer()
		begin = time.Now()
		if err := appendSync(bare, 1); err != nil {
			b.Fatal(err)
		}
		appends += time.Since(begin)
		b.StartTimer()
	}
	b.ReportMetric(sends.Seconds()/appends.Seconds(), "x/bare")
}

// BenchmarkSend64 has 64 senders; of-bare is its rate as a part of that of 64 senders who share bare group commits.
func BenchmarkSend64(b *testing.B) {
	const senders, each = 64, 50
	d, bare := open(b, inbox.Config{MaxMessages: 1 << 40, MaxBytes: 1 << 50}), bareAppend(b)
	var ours, theirs time.Duration
	for b.Loop() {
		begin := time.Now()
		crowd(senders, each, func() error {
			_, err := d.Send(context.Background(), inbox.Message{To: "alice", From: "bob", Content: "benchmark"})
			return err
		}, b)
		ours += time.Since(begin)
		b.StopTimer()
		group := &bareGroup{file: bare}
		group.ready.L = &group.mu
		begin = time.Now()
		crowd(senders, each, group.commit, b)
		theirs += time.Since(begin)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N*senders*each)/ours.Seconds(), "messages/s")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "of-bare")
}

func crowd(senders, each int, do func() error, b *testing.B) {
	b.Helper()
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for range each {
				if err := do(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// bareGroup is the textbook group commit: who comes while a sync runs joins the next.
type bareGroup struct {
	file    *os.File
	mu      sync.Mutex
	ready   sync.Cond
	waiting int
	round   int
	done    int
	busy    bool
}

func (g *bareGroup) commit() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting++
	mine := g.round
	for g.done <= mine {
		if g.busy {
			g.ready.Wait()
			continue
		}
		g.busy = true
		n := g.waiting
		g.waiting = 0
		g.round++
		g.mu.Unlock()
		err := appendSync(g.file, n)
		g.mu.Lock()
		g.busy = false
		g.done = g.round
		g.ready.Broadcast()
		if err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkAppendToRead is the way of a line that is on disk into the reader's hands, the Ack included apart.
func BenchmarkAppendToRead(b *testing.B) {
	for _, old := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("old=%d", old), func(b *testing.B) {
			d := open(b, inbox.Config{})
			var text []byte
			for i := range old {
				text = fmt.Appendf(text, `{"id":"m%d","content":"old"}`+"\n", i)
			}
			drop(b, d, "alice", string(text))
			for {
				batch := receive(b, d, "alice")
				if err := d.Ack(context.Background(), "alice", batch.Cursor); err != nil {
					b.Fatal(err)
				}
				if !batch.More {
					break
				}
			}
			for n := 0; b.Loop(); n++ {
				drop(b, d, "alice", fmt.Sprintf(`{"id":"n%d","content":"new"}`+"\n", n))
				batch := receive(b, d, "alice")
				if len(batch.Messages) != 1 {
					b.Fatalf("%d messages", len(batch.Messages))
				}
				b.StopTimer()
				if err := d.Ack(context.Background(), "alice", batch.Cursor); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
