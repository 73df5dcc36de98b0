package file

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/autonomy-team/autonomy/agent/tool"
)

func TestNoDescriptorsIsNoResult(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a"})
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
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: next, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) })
	for name, args := range map[string]string{"read_file": `{"path":"a.txt"}`, "write_file": `{"path":"b.txt","content":"b"}`} {
		r, err := b.tools[name].Call(t.Context(), tool.Call{Arguments: []byte(args), Env: b.env()})
		if !errors.Is(err, syscall.EMFILE) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
