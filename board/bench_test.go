package board_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// populate writes n tasks, old enough that their stamps are trusted.
func populate(b *testing.B, path string, n int) {
	b.Helper()
	old := time.Now().Add(-time.Hour)
	for id := 1; id <= n; id++ {
		name := filepath.Join(path, board.FileName(autonomy.TaskID(id)))
		text := fmt.Sprintf("{\n  \"id\": %d,\n  \"subject\": \"task %d\",\n  \"steps\": [\"true\"],\n  \"status\": \"pending\"\n}\n", id, id)
		err := errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, old, old))
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := os.Chtimes(path, old, old); err != nil {
		b.Fatal(err)
	}
}

func openBench(b *testing.B, path string) *board.Dir {
	b.Helper()
	d, err := board.Open(board.Config{Path: path, Watched: func() bool { return true }})
	if err == nil {
		_, err = d.Refresh(background)
	}
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// timed returns the seconds that work takes with as many workers, each called with the numbers of its jobs.
func timed(b *testing.B, workers, jobs int, work func(job int) error) float64 {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range workers {
		wg.Go(func() {
			for {
				job := int(next.Add(1))
				if job > jobs {
					return
				}
				if err := work(job); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start).Seconds()
}

// writeSyncRename is the least that a durable replacement costs: the reference for claims.
func writeSyncRename(path string, job int) error {
	name := filepath.Join(path, board.FileName(autonomy.TaskID(job)))
	f, err := os.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Repeat("x", 250))
	return errors.Join(err, f.Sync(), f.Close(), os.Rename(name+".tmp", name))
}

// BenchmarkClaim claims the tasks of a board in one process, beside a bare write-sync-rename of as many writers.
func BenchmarkClaim(b *testing.B) {
	for _, workers := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("claimers=", workers), func(b *testing.B) {
			path, bare := b.TempDir(), b.TempDir()
			populate(b, path, b.N)
			populate(b, bare, b.N)
			d := openBench(b, path)
			b.ResetTimer()
			ours := timed(b, workers, b.N, func(job int) error {
				_, err := d.ClaimNext(background, member(fmt.Sprint("m", job)))
				return err
			})
			b.StopTimer()
			floor := timed(b, workers, b.N, func(job int) error { return writeSyncRename(bare, job) })
			b.ReportMetric(float64(b.N)/ours, "claims/s")
			b.ReportMetric(floor/ours, "of-bare-write")
		})
	}
}

// BenchmarkClaimProcesses lets 8 processes of 8 members work a board down; each task is claimed and completed.
func BenchmarkClaimProcesses(b *testing.B) {
	const tasks = 500
	for range b.N {
		path, bare := b.TempDir(), b.TempDir()
		populate(b, path, tasks)
		populate(b, bare, tasks)
		claimed := 0
		lines, elapsed := raceTimed(b, path, "claim-all", 8)
		for _, l := range lines {
			claimed += len(l)
		}
		ours := elapsed.Seconds()
		if claimed != tasks {
			b.Fatalf("%d claims of %d tasks", claimed, tasks)
		}
		floor := timed(b, 64, 2*tasks, func(job int) error { return writeSyncRename(bare, (job+1)/2+job%2*tasks) })
		b.ReportMetric(tasks/ours, "claims+completions/s")
		b.ReportMetric(floor/ours, "of-bare-write")
	}
}

// BenchmarkNaive is the loop that boards without an index run: list, read every file until one is free, write it. It
// is not even safe.
func BenchmarkNaive(b *testing.B) {
	for _, size := range []int{100, 1000} {
		b.Run(fmt.Sprint("tasks=", size), func(b *testing.B) {
			path, theirs := b.TempDir(), b.TempDir()
			populate(b, path, size)
			populate(b, theirs, size)
			d := openBench(b, path)
			jobs := size / 2
			for range b.N {
				naive := timed(b, 1, jobs, func(job int) error { return scanAndClaim(theirs, job) })
				ours := timed(b, 1, jobs, func(job int) error {
					task, err := d.ClaimNext(background, member("alice"))
					if err == nil {
						_, err = d.Finish(background, task.Ref(), board.Release{})
					}
					return err
				})
				b.ReportMetric(float64(jobs)/naive, "naive-claims/s")
				b.ReportMetric(naive/ours, "naive/ours")
				b.StopTimer()
				populate(b, theirs, size)
				b.StartTimer()
			}
		})
	}
}

func scanAndClaim(path string, job int) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		task := map[string]any{}
		if err := json.Unmarshal(src, &task); err != nil {
			return err
		}
		if task["status"] == "pending" {
			task["status"], task["owner"] = "in_progress", fmt.Sprint("m", job)
			src, err = json.MarshalIndent(task, "", "  ")
			return errors.Join(err, os.WriteFile(name, src, 0o644))
		}
	}
	return fs.ErrNotExist
}

// BenchmarkPollUnchanged polls a board on which nothing happens, beside a stat of its folder.
func BenchmarkPollUnchanged(b *testing.B) {
	for _, size := range []int{1000, 10_000, 100_000} {
		path := b.TempDir()
		populate(b, path, size)
		d := openBench(b, path)
		if _, err := d.Refresh(background); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint("tasks=", size), func(b *testing.B) {
			for range b.N {
				if _, err := d.Refresh(background); err != nil {
					b.Fatal(err)
				}
			}
			stats := time.Now()
			share := size / 6
			for id := range share {
				_, _ = os.Lstat(filepath.Join(path, board.FileName(autonomy.TaskID(id+1))))
			}
			floor := time.Since(stats)
			b.ReportMetric(float64(floor.Nanoseconds()), "ns-bare-stats")
			b.ReportMetric(float64(floor.Nanoseconds())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "of-bare-stats")
		})
	}
}

// BenchmarkOneChange edits one file, tells the board by its name, and asks for the best task.
func BenchmarkOneChange(b *testing.B) {
	var small float64
	for _, size := range []int{100, 100_000} {
		path := b.TempDir()
		populate(b, path, size)
		d := openBench(b, path)
		name := board.FileName(autonomy.TaskID(size))
		b.Run(fmt.Sprint("tasks=", size), func(b *testing.B) {
			for n := range b.N {
				text := fmt.Sprintf(`{"subject": "changed %d", "priority": %d}`, n, n+1)
				if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o644); err != nil {
					b.Fatal(err)
				}
				if _, err := d.Refresh(background, name); err != nil {
					b.Fatal(err)
				}
				if best, ok := d.BestFor(member("alice")); !ok || board.FileName(best) != name {
					b.Fatal("the change was not seen")
				}
			}
			each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			if size == 100 {
				small = each
			}
			b.ReportMetric(each/small, "of-100-tasks")
		})
	}
}

// BenchmarkOpen reads a whole board, beside reading its files without looking at them.
func BenchmarkOpen(b *testing.B) {
	const size = 100_000
	path := b.TempDir()
	populate(b, path, size)
	b.Run(fmt.Sprint("tasks=", size), func(b *testing.B) {
		for range b.N {
			openBench(b, path)
		}
		start := time.Now()
		timed(b, 2, size, func(job int) error {
			_, err := os.ReadFile(filepath.Join(path, board.FileName(autonomy.TaskID(job))))
			return err
		})
		floor := time.Since(start)
		b.ReportMetric(float64(floor.Nanoseconds())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "of-bare-reads")
	})
}
