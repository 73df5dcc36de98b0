package doctor

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary be the second process that tries a lock.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "try-lock" {
		got, err := TryLock(context.Background(), os.Args[2])
		switch {
		case err != nil:
			os.Exit(2)
		case !got:
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func run(t *testing.T, c Check) Row {
	t.Helper()
	return c.row(t.Context(), false)
}

// expect checks the parts of a row, and the rule that whatever is not ok says how to put it right.
func expect(t *testing.T, r Row, state State, seen string) {
	t.Helper()
	if r.State != state || !contains(r.Seen, seen) {
		t.Errorf("%s: %s %q, want %s with %q", r.Name, r.State, r.Seen, state, seen)
	}
	if (r.Fix == "") != (r.State == OK) {
		t.Errorf("%s: %s with fix %q", r.Name, r.State, r.Fix)
	}
}
