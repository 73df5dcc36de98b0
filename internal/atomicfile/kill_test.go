package atomicfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// writerVariable makes the test binary replace the file it names, again and again, until it is killed.
const writerVariable = "ATOMICFILE_TEST_WRITER"

func TestMain(m *testing.M) {
	path := os.Getenv(writerVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	fmt.Println("begun")
	for i := 0; ; i++ {
		if err := atomicfile.Replace(atomicfile.OS(), path, content(i), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// content is one letter many times: a file of two letters, or of another length, is torn.
func content(i int) []byte {
	return bytes.Repeat([]byte{byte('a' + i%26)}, 20_000)
}

func isWhole(data []byte) bool {
	return len(data) == 20_000 && bytes.Count(data, data[:1]) == len(data)
}

func TestReadersNeverSeeATornFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				data, _, err := atomicfile.ReadFile(atomicfile.OS(), path, 0)
				if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !isWhole(data) {
					t.Errorf("read %d bytes, %v", len(data), err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 300 {
		if err := atomicfile.Replace(atomicfile.OS(), path, content(i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
}

func TestKilledWriterLeavesAWholeFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, content(0), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerVariable+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		<-time.After(rand.N(10 * time.Millisecond)) // the moment of the kill is what varies
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if data, err := os.ReadFile(path); err != nil || !isWhole(data) {
			t.Fatalf("after a kill: %d bytes, %v", len(data), err)
		}
	}
	if err := atomicfile.Sweep(atomicfile.OS(), dir, time.Hour, time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	only(t, dir, "f")
}
