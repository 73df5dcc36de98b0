package eventlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy/internal/atomicfile/faultfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type event struct {
	Type string `json:"type"`
	N    int    `json:"n"`
	Text string `json:"text,omitempty"`
}

func fixed() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC) }

// write makes a log of n records and returns its path.
func write(t testing.TB, cfg Config, n int) string {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = filepath.Join(t.TempDir(), "log.jsonl")
	}
	l, _, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := l.Append(event{Type: "test", N: i, Text: "a <b> & \u2028 \"c\""}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return cfg.Path
}

// read returns the records of a log and the error it ended with.
func read(path string) ([]Record, error) {
	var all []Record
	for r, err := range Read(path) {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

func TestLineHasItsDocumentedForm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l, err := Create(Config{Path: path, Now: fixed})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{event{Type: "first", N: 1}, json.RawMessage(`{ }`), map[string]int{"a": 1}} {
		if _, err := l.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"seq":1,"ts":"2026-01-02T03:04:05.678901Z","type":"first","n":1,"sum":"` + vector1 + `"}
{"seq":2,"ts":"2026-01-02T03:04:05.678901Z","sum":"` + vector2 + `"}
{"seq":3,"ts":"2026-01-02T03:04:05.678901Z","a":1,"sum":"` + vector3 + `"}
`
	if string(got) != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The sums of docs/formats/events.md, computed by another implementation of CRC-32C.
const (
	vector1 = "f0b880c2"
	vector2 = "d825f831"
	vector3 = "a72d0ca1"
)

func TestReadReturnsWhatWasAppended(t *testing.T) {
	path := write(t, Config{Now: fixed}, 1000)
	all, err := read(path)
	if err != nil || len(all) != 1000 {
		t.Fatalf("%d records, error %v", len(all), err)
	}
	for i, r := range all {
		var e event
		if err := json.Unmarshal(r.Data, &e); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		if r.Seq != int64(i+1) || e.N != i || e.Text != "a <b> & \u2028 \"c\"" || !r.Time.Equal(fixed()) {
			t.Fatalf("record %d: %+v %+v", i, r, e)
		}
	}
}

func TestOpenContinues(t *testing.T) {
	path := write(t, Config{}, 3)
	write(t, Config{Path: path}, 2)
	all, err := read(path)
	if err != nil || len(all) != 5 || all[4].Seq != 5 {
		t.Fatalf("%d records, error %v", len(all), err)
	}
	if _, err := Create(Config{Path: path}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create over a log: %v", err)
	}
}

func TestAppendRefusesWhatIsNoObject(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l, _, err := Open(Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{nil, 1, "x", []int{}, func() {}, strings.Repeat("x", MaxRecord)} {
		if _, err := l.Append(v); err == nil {
			t.Errorf("append %T: no error", v)
		}
	}
	if seq, err := l.Append(event{}); seq != 1 || err != nil {
		t.Errorf("append after refusals: %d, %v", seq, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(event{}); !errors.Is(err, ErrClosed) {
		t.Errorf("append to a closed log: %v", err)
	}
}

func TestAppendFromManyGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l, _, err := Open(Config{Path: path, MaxBytes: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				if _, err := l.Append(event{N: i}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if all, err := read(path); err != nil || len(all) != 1600 {
		t.Fatalf("%d records, error %v", len(all), err)
	}
}

func TestRotation(t *testing.T) {
	cfg := Config{Path: filepath.Join(t.TempDir(), "log.jsonl"), MaxBytes: 500}
	write(t, cfg, 10)
	write(t, cfg, 10)
	parts, err := filepath.Glob(cfg.Path + ".*")
	if err != nil || len(parts) < 3 {
		t.Fatalf("parts %v, %v", parts, err)
	}
	if all, err := read(cfg.Path); err != nil || len(all) != 20 {
		t.Fatalf("%d records, error %v", len(all), err)
	}
	if err := os.Remove(parts[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := read(cfg.Path); !errors.Is(err, ErrDamaged) {
		t.Errorf("a missing part: %v", err)
	}
	if err := os.Remove(parts[0]); err != nil {
		t.Fatal(err)
	}
	if all, err := read(cfg.Path); err != nil || len(all) == 0 {
		t.Errorf("without the oldest parts: %d records, %v", len(all), err)
	}
}

func TestRotationStoppedBeforeTheNextFile(t *testing.T) {
	path := write(t, Config{}, 3)
	if err := os.Rename(path, rotatedName(path, 1)); err != nil {
		t.Fatal(err)
	}
	if all, err := read(path); err != nil || len(all) != 3 {
		t.Errorf("%d records, %v", len(all), err)
	}
	write(t, Config{Path: path}, 1)
	if all, err := read(path); err != nil || len(all) != 4 || all[3].Seq != 4 {
		t.Errorf("%d records, %v", len(all), err)
	}
}

// TestEveryFaultIsTold fails each call to the disk in turn. What Append acknowledged must be there afterwards.
func TestEveryFaultIsTold(t *testing.T) {
	faultfs.Each(t, func(fsys *faultfs.FS) error {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		acknowledged := map[string]bool{}
		var failed error
		note := func(text string, l *Log) {
			_, err := l.Append(event{Text: text})
			failed = errors.Join(failed, err)
			acknowledged[text] = err == nil
		}
		for life := range 2 {
			l, _, err := Open(Config{Path: path, FS: fsys, MaxBytes: 300})
			if failed = errors.Join(failed, err); err != nil {
				continue
			}
			for i := range 4 {
				note(fmt.Sprintf("%d-%d", life, i), l)
			}
			failed = errors.Join(failed, l.Sync())
			note(fmt.Sprintf("%d-last", life), l)
			failed = errors.Join(failed, l.Close())
		}
		there := map[string]bool{}
		for r, err := range Read(path) {
			if errors.Is(err, ErrTorn) || errors.Is(err, fs.ErrNotExist) {
				break
			}
			if err != nil {
				t.Fatalf("after %v: %v", failed, err)
			}
			var e event
			if err := json.Unmarshal(r.Data, &e); err != nil {
				t.Fatal(err)
			}
			there[e.Text] = true
		}
		for text, ok := range acknowledged {
			if ok && !there[text] {
				t.Fatalf("acknowledged record %s is lost after %v", text, failed)
			}
		}
		return failed
	})
}
