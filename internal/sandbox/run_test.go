package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/machine"
)

func TestRunTellsHowTheCommandEnded(t *testing.T) {
	for _, c := range []struct {
		name, script string
		exit         int
		signal, out  string
	}{
		{"success", "echo hello", 0, "", "hello\n"},
		{"status", "exit 7", 7, "", ""},
		{"unknown program", "no-such-program-here 2>/dev/null", 127, "", ""},
		{"signal", "kill -SEGV $$", 139, "SIGSEGV", ""},
		{"both streams in order", "echo a; echo b >&2; echo c", 0, "", "a\nb\nc\n"},
		{"no input", "cat; echo end", 0, "", "end\n"},
		{"closed stdio", "exec >&- 2>&-; true", 0, "", ""},
		{"own group", `test "$(ps -o pgid= -p $$ 2>/dev/null || echo $$)" -eq $$ && echo leader`, 0, "", "leader\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, out := run(t, script(t, c.script))
			if got.Exit != c.exit || got.Signal != c.signal || out != c.out {
				t.Errorf("got exit %d signal %q output %q, want %d %q %q", got.Exit, got.Signal, out, c.exit, c.signal, c.out)
			}
			if got.TimedOut || got.Cancelled || got.LeftBehind != 0 || got.Duration <= 0 {
				t.Errorf("unexpected ending: %+v", got)
			}
		})
	}
}

func TestRunStartsAProgramInItsFolder(t *testing.T) {
	order := Order{Argv: []string{"pwd"}, Dir: t.TempDir(), Env: Environ(os.Environ())}
	if _, out := run(t, order); strings.TrimSpace(out) != order.Dir {
		t.Errorf("ran in %q, want %q", out, order.Dir)
	}
}

func TestCommandGetsOnlyItsEnvironmentAndStdio(t *testing.T) {
	t.Setenv("SECRET_CANARY", "xyzzy")
	leak, err := os.Open(os.DevNull) // another descriptor of the parent
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	order := script(t, `env; for i in $(seq 3 9); do if { true >&$i; } 2>/dev/null; then echo open: $i; fi; done; tr '\0' '\n' < /proc/$PPID/environ; tr '\0' ' ' < /proc/$PPID/cmdline`)
	order.Env = []string{"PATH=" + os.Getenv("PATH"), "ONLY=this"}
	_, out := run(t, order)
	if strings.Contains(out, "xyzzy") || strings.Count(out, "open: $i") > 0 {
		t.Errorf("the parent's environment or the order shows:\n%s", out)
	}
	if !strings.Contains(out, "ONLY=this") || strings.Contains(out, "open: ") {
		t.Errorf("wrong environment or descriptors:\n%s", out)
	}
}

func TestNotStarted(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, c := range []struct {
		name  string
		order Order
		says  string
	}{
		{"nothing to run", Order{Dir: "/"}, "neither"},
		{"two things to run", Order{Dir: "/", Script: "a", Argv: []string{"b"}}, "both"},
		{"relative folder", Order{Dir: "x", Script: "a"}, "absolute"},
		{"missing folder", Order{Dir: missing, Script: "true"}, missing},
		{"missing program", Order{Dir: "/", Argv: []string{"no-such-program-here"}}, "no-such-program-here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(t.Context(), testConfig(), c.order, NewOutput(100, nil))
			if !errors.Is(err, ErrNotStarted) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want ErrNotStarted that says %q", err, c.says)
			}
		})
	}
}

func TestTroubleOfTheMachineIsToldFromTheOrders(t *testing.T) {
	missing := Order{Script: "true", Dir: filepath.Join(t.TempDir(), "missing")}
	if _, err := Run(t.Context(), testConfig(), missing, NewOutput(100, nil)); machine.InTrouble(err) {
		t.Errorf("a missing folder counts as trouble of the machine: %v", err)
	}
	t.Run("no launcher", func(t *testing.T) {
		_, err := Run(t.Context(), Config{Self: missing.Dir}, script(t, "true"), NewOutput(100, nil))
		if !errors.Is(err, ErrNotStarted) || !machine.InTrouble(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a launcher that says nothing", func(t *testing.T) {
		_, err := Run(t.Context(), Config{Self: "/bin/false"}, script(t, "true"), NewOutput(100, nil))
		if !errors.Is(err, ErrNotStarted) || !machine.InTrouble(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("told by the launcher", func(t *testing.T) {
		order := script(t, "true")
		order.Limits.OpenFiles = 3 // too few to fork by
		_, err := Run(t.Context(), testConfig(), order, NewOutput(100, nil))
		if !errors.Is(err, ErrNotStarted) || !machine.InTrouble(err) || !strings.Contains(err.Error(), "too many open files") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no descriptors", func(t *testing.T) {
		order := script(t, "true")
		leaveDescriptors(t, 2)
		_, err := Run(t.Context(), testConfig(), order, NewOutput(100, nil))
		if !errors.Is(err, ErrNotStarted) || !machine.InTrouble(err) || !errors.Is(err, syscall.EMFILE) {
			t.Errorf("got %v", err)
		}
	})
}

// leaveDescriptors lets this process open n more files until the test ends.
func leaveDescriptors(t *testing.T, n uint64) {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(f.Fd())
	f.Close()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: next + n, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) })
}

func TestDeadline(t *testing.T) {
	t.Run("the command may clean up", func(t *testing.T) {
		order := script(t, `trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.02; done`)
		order.Timeout = 300 * time.Millisecond
		got, out := run(t, order)
		if !got.TimedOut || got.Exit != 3 || !strings.HasSuffix(out, "bye\n") {
			t.Errorf("got %+v, %q", got, out)
		}
	})
	t.Run("ignoring the signal does not help", func(t *testing.T) {
		order := script(t, `trap '' TERM; while :; do sleep 0.02; done`)
		order.Timeout, order.Grace = 200*time.Millisecond, 100*time.Millisecond
		if got, _ := run(t, order); !got.TimedOut || got.Signal != "SIGKILL" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a stopped process ends too", func(t *testing.T) {
		order := script(t, `kill -STOP $$`)
		order.Timeout, order.Grace = 200*time.Millisecond, 5*time.Second
		if got, _ := run(t, order); !got.TimedOut || got.Signal != "SIGTERM" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestCancelStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &signalWriter{seen: make(chan struct{})}
	go func() {
		<-out.seen
		cancel()
	}()
	order := script(t, `echo up; sleep 100`)
	got, err := Run(ctx, testConfig(), order, out)
	if err != nil || !got.Cancelled || got.TimedOut || got.Signal != "SIGTERM" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := Run(ctx, testConfig(), order, out); !errors.Is(err, ErrNotStarted) {
		t.Errorf("with a cancelled context: %v, want ErrNotStarted", err)
	}
}

func TestProcessStopAndKill(t *testing.T) {
	for name, end := range map[string]func(*Process){"Stop": (*Process).Stop, "Kill": (*Process).Kill} {
		t.Run(name, func(t *testing.T) {
			p, err := Start(t.Context(), testConfig(), script(t, `sleep 100`), NewOutput(100, nil))
			if err != nil {
				t.Fatal(err)
			}
			end(p)
			end(p) // twice is once
			if got, err := p.Wait(t.Context()); err != nil || !got.Cancelled || got.Signal == "" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// signalWriter closes seen at the first byte.
type signalWriter struct{ seen chan struct{} }

func (w *signalWriter) Write(p []byte) (int, error) {
	select {
	case <-w.seen:
	default:
		close(w.seen)
	}
	return len(p), nil
}

func TestEnvironKeepsSecretsBack(t *testing.T) {
	got := Environ([]string{
		"PATH=/bin", "LC_ALL=C", "CI=true", "OPENAI_API_KEY=sk-1", "GITHUB_TOKEN=t", "DB_PASSWORD=p", "LD_PRELOAD=x",
		"GOPROXY=https://user:pw@proxy", "GIT_DIR=x", "broken",
	}, "EXTRA=1", "MY_SECRET=2", "PATH=/usr/bin")
	if want := []string{"CI=true", "EXTRA=1", "LC_ALL=C", "PATH=/usr/bin"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
