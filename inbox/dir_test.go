package inbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/inbox/inboxtest"
	"github.com/autonomy-team/autonomy/internal/atomicfile/faultfs"
)

func open(t testing.TB, cfg inbox.Config) *inbox.Dir {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = filepath.Join(t.TempDir(), "inbox")
	}
	d, err := inbox.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// drop writes a mailbox file by hand.
func drop(t testing.TB, d *inbox.Dir, name autonomy.AgentName, text string) {
	t.Helper()
	path := d.Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func receive(t testing.TB, d *inbox.Dir, name autonomy.AgentName) inbox.Batch {
	t.Helper()
	batch, err := d.Receive(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func texts(batch inbox.Batch) string {
	var all []string
	for _, m := range batch.Messages {
		all = append(all, m.Content)
	}
	return strings.Join(all, ",")
}

func TestConformance(t *testing.T) {
	inboxtest.Run(t, func(t *testing.T) func() inboxtest.Box {
		path := filepath.Join(t.TempDir(), "team", "inbox")
		return func() inboxtest.Box { return open(t, inbox.Config{Path: path}) }
	})
}

func TestR04_NamesTouchNoFile(t *testing.T) {
	root := t.TempDir()
	d := open(t, inbox.Config{Path: filepath.Join(root, "inbox")})
	for _, name := range []autonomy.AgentName{"../x", "Alice", "all", "supervisor"} {
		var bad *inbox.NameError
		if _, err := d.Send(t.Context(), inbox.Message{To: name, Content: "x"}); !errors.As(err, &bad) || bad.Reason == "" {
			t.Errorf("send to %q: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("files were made: %v, %v", entries, err)
	}
}

func TestUnfinishedLineWaits(t *testing.T) {
	d := open(t, inbox.Config{})
	drop(t, d, "alice", `{"content":"one"}`+"\n"+`{"content":`)
	if got := texts(receive(t, d, "alice")); got != "one" {
		t.Fatalf("received %q", got)
	}
	if err := d.Ack(t.Context(), "alice", receive(t, d, "alice").Cursor); err != nil {
		t.Fatal(err)
	}
	if waits, err := d.Waiting("alice"); waits || err != nil {
		t.Errorf("waiting: %v, %v", waits, err)
	}
	drop(t, d, "alice", `"two"}`+"\n")
	if waits, err := d.Waiting("alice"); !waits || err != nil {
		t.Errorf("waiting: %v, %v", waits, err)
	}
	if got := texts(receive(t, d, "alice")); got != "two" {
		t.Errorf("received %q", got)
	}
}

func TestSendCompletesALineThatHasNoEnd(t *testing.T) {
	d := open(t, inbox.Config{})
	drop(t, d, "alice", `{"content":"by hand"}`)
	if _, err := d.Send(t.Context(), inbox.Message{To: "alice", Content: "sent"}); err != nil {
		t.Fatal(err)
	}
	if got := texts(receive(t, d, "alice")); got != "by hand,sent" {
		t.Errorf("received %q", got)
	}
}

func TestBadLinesAreCopiedOnceAndSteppedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inbox")
	var notices []inbox.Notice
	cfg := inbox.Config{Path: path, Report: func(n inbox.Notice) { notices = append(notices, n) }}
	d := open(t, cfg)
	long := `{"content":"` + strings.Repeat("x", inbox.MaxLine) + `"}`
	drop(t, d, "alice", "not json\n"+`{"content":"a"}`+"\n[1]\n"+long+"\n\n  \r\n"+`{"content":"b"}`+"\r\n"+`{"type":"x","content":""}`+"\n")
	for range 2 {
		batch := receive(t, d, "alice")
		if texts(batch) != "a,b" || len(batch.Rejected) != 4 {
			t.Fatalf("received %q and %d rejected", texts(batch), len(batch.Rejected))
		}
		d = open(t, cfg) // restarted
	}
	if len(notices) != 8 {
		t.Errorf("%d notices, want 4 at each reading", len(notices))
	}
	kept, err := os.ReadFile(filepath.Join(path, "alice.rejected.jsonl"))
	if err != nil || strings.Count(string(kept), "\n") != 4 || !strings.Contains(string(kept), `"line":"not json"`) {
		t.Errorf("kept %.300s, %v", kept, err)
	}
}

func TestOnlyBadLinesMoveThePositionByThemselves(t *testing.T) {
	d := open(t, inbox.Config{})
	drop(t, d, "alice", "bad\n\n")
	if batch := receive(t, d, "alice"); len(batch.Rejected) != 1 || len(batch.Messages) != 0 {
		t.Fatalf("received %+v", batch)
	}
	if waits, err := d.Waiting("alice"); waits || err != nil {
		t.Errorf("waiting: %v, %v", waits, err)
	}
	if batch := receive(t, d, "alice"); len(batch.Rejected) != 0 {
		t.Errorf("rejected again: %+v", batch)
	}
}

func TestCursorThatDoesNotMatchReadsFromTheStart(t *testing.T) {
	line := func(n int) string { return fmt.Sprintf(`{"id":"m%d","content":"%d"}`+"\n", n, n) }
	tests := []struct {
		name  string
		after func(text string) string // nil = the cursor file is damaged
		want  string
		why   string
	}{
		{"grown", func(s string) string { return s + line(3) }, "3", ""},
		{"edited in place", func(s string) string { return strings.Replace(s, `"m2"`, `"n2"`, 1) + line(3) }, "2,3", "edited"},
		{"shortened", func(string) string { return line(7) }, "7", "shorter"},
		{"cursor damaged", nil, "1,2", "damaged"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var why string
			d := open(t, inbox.Config{Report: func(n inbox.Notice) { why += n.Text }})
			drop(t, d, "alice", line(1)+line(2))
			if err := d.Ack(t.Context(), "alice", receive(t, d, "alice").Cursor); err != nil {
				t.Fatal(err)
			}
			file, text := d.Path("alice"), "{"
			if test.after == nil {
				file = strings.TrimSuffix(file, "jsonl") + "cursor"
			} else {
				text = test.after(line(1) + line(2))
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := texts(receive(t, d, "alice")); got != test.want {
				t.Errorf("received %q, want %q", got, test.want)
			}
			if !strings.Contains(why, test.why) || test.why == "" && why != "" {
				t.Errorf("notice %q, want %q", why, test.why)
			}
		})
	}
}

func TestReplacedFileIsReadFromTheStart(t *testing.T) {
	d := open(t, inbox.Config{})
	drop(t, d, "alice", `{"content":"old"}`+"\n")
	if err := d.Ack(t.Context(), "alice", receive(t, d, "alice").Cursor); err != nil {
		t.Fatal(err)
	}
	next := d.Path("alice") + ".new"
	if err := os.WriteFile(next, []byte(`{"content":"new"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, d.Path("alice")); err != nil {
		t.Fatal(err)
	}
	if waits, err := d.Waiting("alice"); !waits || err != nil {
		t.Errorf("waiting: %v, %v", waits, err)
	}
	if got := texts(receive(t, d, "alice")); got != "new" {
		t.Errorf("received %q", got)
	}
}

func TestFullMailboxRefuses(t *testing.T) {
	for name, cfg := range map[string]inbox.Config{"messages": {MaxMessages: 3}, "bytes": {MaxBytes: 450}} {
		t.Run(name, func(t *testing.T) {
			d := open(t, cfg)
			m := inbox.Message{To: "alice", Content: "12345678"}
			sent := 0
			for ; sent < 10; sent++ {
				if _, err := d.Send(t.Context(), m); err != nil {
					if !errors.Is(err, inbox.ErrFull) {
						t.Fatal(err)
					}
					break
				}
			}
			if sent != 3 {
				t.Fatalf("%d sent, want 3", sent)
			}
			batch := receive(t, d, "alice")
			if len(batch.Messages) != 3 {
				t.Fatalf("%d received", len(batch.Messages))
			}
			if err := d.Ack(t.Context(), "alice", batch.Cursor); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Send(t.Context(), m); err != nil {
				t.Errorf("after Ack: %v", err)
			}
		})
	}
}

func TestFolderThatIsALinkIsRefused(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	path := filepath.Join(root, "inbox")
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	d := open(t, inbox.Config{Path: path})
	if _, err := d.Send(t.Context(), inbox.Message{To: "alice", Content: "x"}); err == nil {
		t.Error("sent through a link")
	}
	if _, err := d.Waiting("alice"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a reader is told %v, want what is wrong with the folder", err)
	}
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Errorf("files outside: %v, %v", entries, err)
	}
}

func TestMailboxThatIsALinkIsRefused(t *testing.T) {
	d := open(t, inbox.Config{})
	drop(t, d, "bob", "")
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, d.Path("alice")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Send(t.Context(), inbox.Message{To: "alice", Content: "x"}); err == nil {
		t.Error("sent through a link")
	}
	if _, err := d.Receive(t.Context(), "alice"); err == nil {
		t.Error("received through a link")
	}
}

// TestEveryFaultIsTold fails each call to the disk in turn: a send that said ok is on disk, and after an error the
// next send works.
func TestEveryFaultIsTold(t *testing.T) {
	faultfs.Each(t, func(fsys *faultfs.FS) error {
		path := filepath.Join(t.TempDir(), "inbox")
		faulty, sound := open(t, inbox.Config{Path: path, FS: fsys}), open(t, inbox.Config{Path: path})
		var failed error
		acknowledged := map[autonomy.MessageID]bool{}
		sends := func(d *inbox.Dir, content string) error {
			m, err := d.Send(t.Context(), inbox.Message{To: "alice", Content: content})
			acknowledged[m.ID] = err == nil
			return err
		}
		failed = errors.Join(failed, sends(faulty, "1"), sends(faulty, "2"))
		drop(t, sound, "alice", "")
		batch, err := faulty.Receive(t.Context(), "alice")
		if failed = errors.Join(failed, err); err == nil {
			for _, m := range batch.Messages {
				delete(acknowledged, m.ID)
			}
			failed = errors.Join(failed, faulty.Ack(t.Context(), "alice", batch.Cursor))
		}
		if err := sends(sound, "3"); err != nil {
			t.Fatalf("after %v: %v", failed, err)
		}
		there := map[autonomy.MessageID]bool{}
		for _, m := range receive(t, sound, "alice").Messages {
			there[m.ID] = true
		}
		for id, ok := range acknowledged {
			if ok && !there[id] {
				t.Fatalf("acknowledged message is lost after %v", failed)
			}
		}
		return failed
	})
}
