package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// parentEnv makes the test binary a parent that starts the script in the variable's value and waits to be killed.
const parentEnv = "SANDBOX_TEST_PARENT"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__sandbox" {
		syscall.Exit(Main(context.Background())) // os.Exit waits a second under the race detector
	}
	if script := os.Getenv(parentEnv); script != "" {
		os.Exit(beParent(script))
	}
	goleak.VerifyTestMain(m)
}

// beParent runs the script and says on standard output when it has started. The test kills it at some moment.
func beParent(script string) int {
	order := Order{
		Script: script, Dir: "/", Env: append(Environ(os.Environ()), "MARK="+os.Getenv("MARK")),
		ExecLock: os.Getenv("EXEC_LOCK"),
	}
	p, err := Start(context.Background(), testConfig(), order, os.Stderr)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("started")
	<-p.Done()
	return 0
}

func testConfig() Config {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Config{Self: self}
}

func script(t *testing.T, text string) Order {
	t.Helper()
	// A locale that is not installed makes bash talk.
	return Order{Script: text, Dir: t.TempDir(), Env: Environ(os.Environ(), "LC_ALL=C")}
}

// run runs the order and returns what it wrote.
func run(t *testing.T, order Order) (Outcome, string) {
	t.Helper()
	out := NewOutput(50_000, nil)
	outcome, err := Run(t.Context(), testConfig(), order, out)
	if err != nil {
		t.Fatalf("run %q: %v", order.Script, err)
	}
	text, _ := out.String()
	return outcome, text
}

// alive lists the processes whose environment holds the mark. Dead ones that wait for their parent have none.
func alive(t *testing.T, mark string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(paths) == 0 {
		t.Skip("no /proc here: cannot see who is alive")
	}
	var found []string
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(env), "MARK="+mark+"\x00") {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, filepath.Base(filepath.Dir(path))+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// eventually polls a condition of the operating system that no signal announces.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 s: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
