package faultfs

import (
	"syscall"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// maxCalls ends the loop of an operation that never gets by without meeting the fault.
const maxCalls = 10_000

// T is what Each needs of a *testing.T.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Each runs an operation with call 1 failing, then with call 2, until a run meets no fault: first with single faults,
// then with all calls failing from that one on; each with EIO, and with ENOSPC after a short write. Every run must begin
// with a fresh state over the real disk, check by itself what has to hold in spite of the fault (fsys.Faults says
// whether there was one), and return the error of the operation. A run without a fault must return nil.
func Each(t T, run func(fsys *FS) error) {
	t.Helper()
	for _, plan := range []Plan{
		{Err: syscall.EIO},
		{Err: syscall.EIO, On: true},
		{Err: syscall.ENOSPC, Short: true},
		{Err: syscall.ENOSPC, Short: true, On: true},
	} {
		for plan.Call = 1; ; plan.Call++ {
			fsys := New(atomicfile.OS(), plan)
			err := run(fsys)
			if fsys.Faults() == 0 {
				if err != nil {
					t.Fatalf("%d calls without a fault: %v", fsys.Calls(), err)
				}
				break
			}
			if plan.Call == maxCalls {
				t.Fatalf("still meets a fault at call %d", plan.Call)
			}
		}
	}
}
