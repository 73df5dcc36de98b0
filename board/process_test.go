package board_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
)

// play is the part of a child process: it says that it is ready, waits until standard input ends, and acts on the board
// in the folder that it is given. What it has done it prints, one id a line.
func play(role string) error {
	action, rest, _ := strings.Cut(role, ":")
	name, path, _ := strings.Cut(rest, ":")
	d, err := board.Open(board.Config{Path: path})
	if err != nil {
		return err
	}
	if err := d.Settle(background); err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	switch action {
	case "claim-all":
		return claimAll(d, name, 8)
	case "claim-one":
		return claimOne(d, name)
	case "create":
		return createMany(d, 25)
	}
	return fmt.Errorf("unknown role %s", role)
}

// claimAll lets n members of one process claim and complete until nothing is left.
func claimAll(d *board.Dir, name string, n int) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		who := member(fmt.Sprintf("%s-%d", name, i))
		who.Instance = autonomy.InstanceID(name)
		wg.Go(func() {
			for {
				task, err := d.ClaimNext(background, who)
				if errors.Is(err, board.ErrNothing) {
					return
				}
				if err == nil {
					mu.Lock()
					fmt.Println(task.ID)
					mu.Unlock()
					_, err = d.Finish(background, task.Ref(), board.Complete{Result: board.Result{Summary: string(who.Name)}})
				}
				if err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func claimOne(d *board.Dir, name string) error {
	who := member(name)
	who.Instance = autonomy.InstanceID(name)
	var claimed *board.ClaimedError
	switch task, err := d.Claim(background, 1, who); {
	case err == nil:
		fmt.Println(task.ID)
	case !errors.As(err, &claimed) || claimed.Owner == "" || claimed.Owner == who.Name:
		return fmt.Errorf("%s lost with %w", name, err)
	}
	return nil
}

func createMany(d *board.Dir, n int) error {
	for i := range n {
		task, err := d.Create(background, board.Draft{Subject: fmt.Sprint("task ", i)})
		if err != nil {
			return err
		}
		fmt.Println(task.ID)
	}
	return nil
}

// race starts the processes, releases them together, and returns the lines that each printed.
func race(t testing.TB, path, action string, n int) [][]string {
	t.Helper()
	lines, _ := raceTimed(t, path, action, n)
	return lines
}

// raceTimed also returns the time from the release to the end of the last.
func raceTimed(t testing.TB, path, action string, n int) ([][]string, time.Duration) {
	t.Helper()
	gate, release, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	type child struct {
		cmd *exec.Cmd
		out *bufio.Reader
		err strings.Builder
	}
	children := make([]*child, n)
	for i := range children {
		c := &child{cmd: exec.CommandContext(t.Context(), os.Args[0])}
		c.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s:p%d:%s", roleVariable, action, i, path))
		c.cmd.Stdin, c.cmd.Stderr = gate, &c.err
		out, err := c.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		c.out = bufio.NewReader(out)
		if err := c.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children[i] = c
	}
	for _, c := range children {
		if line, err := c.out.ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("child: %q %v %s", line, err, c.err.String())
		}
	}
	start := time.Now()
	release.Close()
	lines := make([][]string, n)
	for i, c := range children {
		rest, err := io.ReadAll(c.out)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.cmd.Wait(); err != nil {
			t.Fatalf("child %d: %v\n%s", i, err, c.err.String())
		}
		lines[i] = strings.Fields(string(rest))
	}
	return lines, time.Since(start)
}

func TestR01_OneWinner_Goroutines(t *testing.T) {
	f := newFixture(t)
	f.drop(1, `{"subject": "s"}`)
	f.refresh()
	var wg sync.WaitGroup
	results := make([]error, 50)
	for i := range results {
		wg.Go(func() { _, results[i] = f.Claim(t.Context(), 1, member(fmt.Sprint("m", i))) })
	}
	wg.Wait()
	owner := autonomy.AgentName("")
	for i, err := range results {
		if err == nil {
			if owner != "" {
				t.Fatalf("two winners: %s and m%d", owner, i)
			}
			owner = autonomy.AgentName(fmt.Sprint("m", i))
		}
	}
	for i, err := range results {
		var claimed *board.ClaimedError
		if err != nil && (!errors.As(err, &claimed) || claimed.Owner != owner) {
			t.Errorf("m%d lost to %s with: %v", i, owner, err)
		}
	}
	if e := f.entry(1); e.Task.Owner != owner || e.Task.Attempt != 1 {
		t.Errorf("winner %q, file %+v", owner, e.Task)
	}
}

func TestR01_OneWinner_Processes(t *testing.T) {
	for range 5 {
		f := newFixture(t)
		f.drop(1, `{"subject": "s"}`)
		winners := 0
		for _, lines := range race(t, f.path, "claim-one", 4) {
			winners += len(lines)
		}
		if winners != 1 {
			t.Fatalf("%d winners", winners)
		}
	}
}

// TestEachTaskIsClaimedOnce races 8 processes of 8 members each for 1,000 tasks.
func TestEachTaskIsClaimedOnce(t *testing.T) {
	tasks := 1000
	if testing.Short() {
		tasks = 200
	}
	f := newFixture(t)
	for id := 1; id <= tasks; id++ {
		f.drop(autonomy.TaskID(id), fmt.Sprintf(`{"subject": "task %d"}`, id))
	}
	seen := map[string]int{}
	for _, lines := range race(t, f.path, "claim-all", 8) {
		for _, id := range lines {
			seen[id]++
		}
	}
	if len(seen) != tasks {
		t.Errorf("%d of %d tasks were claimed", len(seen), tasks)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("task %s was claimed %d times", id, n)
		}
	}
	f.refresh()
	for _, e := range f.List() {
		if e.Task.Status != board.Completed || e.Task.Attempt != 1 {
			t.Errorf("task %d: %s after %d attempts (%v)", e.ID, e.Task.Status, e.Task.Attempt, e.Err)
		}
	}
	leftovers, err := filepath.Glob(filepath.Join(f.path, ".*.tmp"))
	if err != nil || len(leftovers) != 0 {
		t.Errorf("temporaries are left: %v %v", leftovers, err)
	}
}

func TestR21_IDsAreNeverReused_Processes(t *testing.T) {
	f := newFixture(t)
	f.write(".highwater", "not a number\n")
	f.drop(40, `{broken`)
	f.write("task_0050.json", `{}`)
	seen := map[string]bool{}
	for _, lines := range race(t, f.path, "create", 4) {
		for _, id := range lines {
			if seen[id] {
				t.Errorf("id %s was issued twice", id)
			}
			seen[id] = true
		}
	}
	if len(seen) != 100 || !seen["51"] || !seen["150"] {
		t.Errorf("%d ids, not 51 to 150", len(seen))
	}
	if mark, err := os.ReadFile(filepath.Join(f.path, ".highwater")); err != nil || string(mark) != "150\n" {
		t.Errorf("mark %q %v", mark, err)
	}
}
