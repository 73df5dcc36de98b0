package filelock_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/internal/filelock"
)

// roleVariable makes the test binary play another process instead of running tests.
const roleVariable = "FILELOCK_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := play(role, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(role string, args []string) error {
	ctx := context.Background()
	switch role {
	case "count": // PATH COUNTER ROUNDS
		rounds, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		l := filelock.Open(filelock.Config{Path: args[0], Wait: time.Minute})
		for range rounds {
			if err := increment(ctx, l, args[1]); err != nil {
				return err
			}
		}
		return nil
	case "hold": // PATH INFO, until standard input ends
		h, err := filelock.Hold(ctx, args[0], []byte(args[1]), 0)
		if err != nil {
			return err
		}
		fmt.Println("held")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		return h.Release()
	case "share": // PATH, until standard input ends
		_, release, err := filelock.OpenShared(ctx, args[0])
		if err != nil {
			return err
		}
		fmt.Println("held")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		return release()
	}
	return fmt.Errorf("unknown role %q", role)
}

// increment adds one to the number in a file, which loses counts unless the lock excludes.
func increment(ctx context.Context, l *filelock.Lock, counter string) error {
	unlock, err := l.Acquire(ctx)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(counter)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return err
	}
	if err := os.WriteFile(counter, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
		return err
	}
	return unlock()
}

// process starts another process in a role. It is killed, if it still runs, when the test ends.
func process(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// holder starts a process that holds a lock, and returns once it does. kill ends it the hard way.
func holder(t *testing.T, role string, args ...string) (kill func()) {
	t.Helper()
	cmd := process(t, role, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = stdin.Close()
	}
	t.Cleanup(kill)
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("holder said %q, %v", line, err)
	}
	return kill
}
