package inbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/inbox"
)

// mailboxModel is a mailbox beside what a reader with a durable transcript must have in the end.
type mailboxModel struct {
	dir        *inbox.Dir
	path       string
	owed       []string        // contents of whole messages, in order of the file
	half       string          // content of the unfinished last line
	transcript []string        // contents taken, in order
	known      map[string]bool // ids in it
	bad        int
	n          int
}

func (m *mailboxModel) open(t *rapid.T) {
	d, err := inbox.Open(inbox.Config{Path: m.path})
	if err != nil {
		t.Fatal(err)
	}
	m.dir = d
}

func (m *mailboxModel) next() string { m.n++; return fmt.Sprint(m.n) }

// finish says that the unfinished line has got its newline.
func (m *mailboxModel) finish() {
	if m.half != "" {
		m.owed = append(m.owed, m.half)
		m.half = ""
	}
}

func (m *mailboxModel) hand(t *rapid.T, text string) {
	if err := os.MkdirAll(m.path, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(m.dir.Path("alice"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// take is what a teammate does at mail: transcript first, then the acknowledgement, unless it dies in between.
func (m *mailboxModel) take(t *rapid.T, dies bool) {
	batch, err := m.dir.Receive(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	for _, msg := range batch.Messages {
		if !m.known[string(msg.ID)] {
			m.known[string(msg.ID)] = true
			m.transcript = append(m.transcript, msg.Content)
		}
	}
	if dies {
		m.open(t)
		return
	}
	if err := m.dir.Ack(t.Context(), "alice", batch.Cursor); err != nil {
		t.Fatal(err)
	}
}

// TestLivesOfAMailbox sends, drops by hand, tears lines, replaces the file and kills the reader at random.
func TestLivesOfAMailbox(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		m := &mailboxModel{path: filepath.Join(root, "inbox"), known: map[string]bool{}}
		m.open(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"send": func(rt *rapid.T) {
				content := m.next()
				if _, err := m.dir.Send(rt.Context(), inbox.Message{To: "alice", Content: content}); err != nil {
					rt.Fatal(err)
				}
				m.finish()
				m.owed = append(m.owed, content)
			},
			"drop": func(rt *rapid.T) {
				if m.half != "" {
					m.hand(rt, "\n")
					m.finish()
				}
				content := m.next()
				m.hand(rt, fmt.Sprintf(`{"content":"%s"}`+"\n", content))
				m.owed = append(m.owed, content)
			},
			"drop half": func(rt *rapid.T) {
				if m.half == "" {
					m.half = m.next()
					m.hand(rt, fmt.Sprintf(`{"content":"%s"}`, m.half))
				}
			},
			"drop bad": func(rt *rapid.T) {
				if m.half == "" {
					m.bad++
					m.hand(rt, fmt.Sprintf("bad %d\n", m.bad))
				}
			},
			"save in an editor": func(rt *rapid.T) {
				text, err := os.ReadFile(m.dir.Path("alice"))
				if err != nil {
					return
				}
				if err := os.WriteFile(m.dir.Path("alice")+"~", text, 0o600); err != nil {
					rt.Fatal(err)
				}
				if err := os.Rename(m.dir.Path("alice")+"~", m.dir.Path("alice")); err != nil {
					rt.Fatal(err)
				}
			},
			"take":       func(rt *rapid.T) { m.take(rt, false) },
			"take, die":  func(rt *rapid.T) { m.take(rt, true) },
			"new reader": m.open,
			"": func(rt *rapid.T) {
				if len(m.transcript) > len(m.owed) || strings.Join(m.transcript, ",") != strings.Join(m.owed[:len(m.transcript)], ",") {
					rt.Fatalf("transcript %v, owed %v", m.transcript, m.owed)
				}
			},
		})
		m.take(rt, false)
		if len(m.transcript) != len(m.owed) {
			rt.Fatalf("transcript %v, owed %v", m.transcript, m.owed)
		}
		if waits, err := m.dir.Waiting("alice"); waits || err != nil {
			rt.Fatalf("waiting after all was taken: %v, %v", waits, err)
		}
		if kept, _ := os.ReadFile(filepath.Join(m.path, "alice.rejected.jsonl")); strings.Count(string(kept), "\n") != m.bad {
			rt.Fatalf("%d bad lines, kept %s", m.bad, kept)
		}
	})
}

func TestALargeMailboxComesInBatches(t *testing.T) {
	d := open(t, inbox.Config{})
	var text strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&text, `{"id":"m%d","content":"%d"}`+"\n", i, i)
	}
	drop(t, d, "alice", text.String())
	if n, err := d.Unread(t.Context(), "alice"); n != 25_000 || err != nil {
		t.Fatalf("unread %d, %v", n, err)
	}
	got := 0
	for more := true; more; {
		batch := receive(t, d, "alice")
		for _, m := range batch.Messages {
			if m.Content != fmt.Sprint(got) {
				t.Fatalf("message %d is %s", got, m.Content)
			}
			got++
		}
		if err := d.Ack(t.Context(), "alice", batch.Cursor); err != nil {
			t.Fatal(err)
		}
		more = batch.More
	}
	if got != 25_000 {
		t.Errorf("received %d", got)
	}
}

// TestDocumentedVectors reads the table of docs/formats/inbox.md.
func TestDocumentedVectors(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "formats", "inbox.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "Vectors (first line at offset 0):")
	table, _, _ = strings.Cut(table, "A rejected line")
	var file strings.Builder
	type row struct{ state, want string }
	var rows []row
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || strings.Contains(cells[0], "| line") {
			continue
		}
		cell := strings.TrimPrefix(cells[0], "| ")
		if _, rest, ok := strings.Cut(cell, "`"); ok {
			text, _, _ := strings.Cut(rest, "`")
			file.WriteString(text)
		}
		if !strings.Contains(cell, "without newline") {
			file.WriteString("\n")
		}
		rows = append(rows, row{cells[1], strings.Trim(strings.TrimSuffix(strings.TrimSpace(cells[2]), "|"), "` ")})
	}
	reports, err := inbox.Check(strings.NewReader(file.String()))
	if err != nil || len(reports) != len(rows) || len(rows) < 8 {
		t.Fatalf("%d rows, %d reports, %v", len(rows), len(reports), err)
	}
	for i, r := range reports {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		prose := strings.Contains(rows[i].want, "24 digits") || strings.Contains(rows[i].want, "the column")
		said := r.ID == autonomy.MessageID(rows[i].want) || strings.Contains(r.Error, rows[i].want)
		if string(r.State) != rows[i].state || !prose && !said {
			t.Errorf("row %d: %s, want %+v", i+1, text, rows[i])
		}
	}
}
