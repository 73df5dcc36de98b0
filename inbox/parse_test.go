package inbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/autonomy-team/autonomy"
)

func TestParseLine(t *testing.T) {
	id := lineID([]byte(`{"content":"hi"}`), 7)
	yes := true
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		line string
		want Message
	}{
		{`{"content":"hi"}`, Message{ID: autonomy.MessageID(id), Content: "hi"}},
		{`{"id":"01J","content":"","type":"result","from":"bob","to":"alice"}`, Message{ID: "01J", Kind: KindResult, From: "bob", To: "alice"}},
		{`{"id":"x","content":"c","type":null,"from":null,"timestamp":null}`, Message{ID: "x", Content: "c"}},
		{`{"id":"x","content":"c","timestamp":"2025-01-02T03:04:05Z"}`, Message{ID: "x", Content: "c", Timestamp: at}},
		{`{"id":"x","content":"c","timestamp":"2025-01-02T05:04:05+02:00"}`, Message{ID: "x", Content: "c", Timestamp: at}},
		{`{"id":"x","content":"c","timestamp":1735787045}`, Message{ID: "x", Content: "c", Timestamp: at}},
		{`{"id":"x","content":"c","timestamp":1735787045.123456789123}`, Message{ID: "x", Content: "c", Timestamp: at.Add(123456789)}},
		{`{"id":"x","content":"c","timestamp":-0.5}`, Message{ID: "x", Content: "c", Timestamp: time.Unix(0, -500_000_000)}},
		{
			`{"id":"x","content":"c","unknown":{"a":[1]},"replyTo":"y","requestId":"r","plan":"p","feedback":"f","interrupt":true}`,
			Message{ID: "x", Content: "c", ReplyTo: "y", RequestID: "r", Plan: "p", Feedback: "f", Interrupt: true},
		},
		{`{"id":"x","content":"c","type":"plan_approval_response","approve":true}`, Message{ID: "x", Content: "c", Kind: KindPlanResponse, Approve: &yes}},
	}
	for _, test := range tests {
		got, err := ParseLine([]byte(test.line), 7)
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
			continue
		}
		want := test.want
		if want.Kind == "" {
			want.Kind = KindMessage
		}
		if want.From == "" {
			want.From = User
		}
		if !got.Timestamp.Equal(want.Timestamp) || (got.Approve == nil) != (want.Approve == nil) {
			t.Errorf("%s: got %+v", test.line, got)
		}
		got.Timestamp, got.Approve = want.Timestamp, want.Approve
		if got != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", test.line, got, want)
		}
	}
}

func TestParseLineRefuses(t *testing.T) {
	tests := []struct{ line, reason string }{
		{``, "empty"},
		{`null`, "found null"},
		{`["content"]`, "found an array"},
		{`"text"`, "found a string"},
		{`{}`, "content is required"},
		{`{"content":null}`, "content is required"},
		{`{"Content":"x"}`, "content is required"},
		{`{"content":5}`, "content must be a string, not a number"},
		{`{"content":"x","content":"y"}`, "content"},
		{`{"content":"x"} {"content":"y"}`, "after the object"},
		{`{"content":"x"`, "column 15"},
		{`{"content":"x","type":"gossip"}`, `type "gossip" is unknown`},
		{`{"content":"x","type":7}`, "type must be a string"},
		{`{"content":"x","from":{}}`, "from must be a string"},
		{`{"content":"x","id":7}`, "id must be a string"},
		{`{"content":"x","id":"a b"}`, "id must be visible ASCII"},
		{`{"content":"x","id":"` + strings.Repeat("i", 129) + `"}`, "id is longer"},
		{`{"content":"x","approve":"yes"}`, "approve must be true or false"},
		{`{"content":"x","timestamp":"yesterday"}`, "timestamp must be RFC 3339"},
		{`{"content":"x","timestamp":1e9}`, "timestamp must be RFC 3339"},
		{`{"content":"x","timestamp":99999999999999}`, "timestamp must be RFC 3339"},
		{`{"content":"x","timestamp":true}`, "timestamp must be RFC 3339"},
		{"{\"content\":\"\xff\"}", "invalid UTF-8"},
		{`{"content":"\ud800"}`, "surrogate"},
		{`{"content":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "column"},
	}
	for _, test := range tests {
		_, err := ParseLine([]byte(test.line), 0)
		var at *LineError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%.60s: %v, want %q", test.line, err, test.reason)
		}
	}
}

func TestCheck(t *testing.T) {
	text := "\ufeff" + `{"content":"bom"}` + "\r\n" + `{"id":"a","content":"1"}` + "\n\n" + `{"id":"a","content":"2"}` + "\n" +
		"oops\n" + strings.Repeat("x", MaxLine+10) + "\n" + `{"content":"later"}`
	got, err := Check(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []LineReport{
		{Line: 1, State: Delivered, ID: autonomy.MessageID(lineID([]byte(`{"content":"bom"}`), 0))},
		{Line: 2, State: Delivered, ID: "a"},
		{Line: 3, State: Ignored},
		{Line: 4, State: Ignored, ID: "a", Error: "this id is on line 2 already"},
		{Line: 5, State: Rejected},
		{Line: 6, State: Rejected},
		{Line: 7, State: Waiting},
	}
	if len(got) != len(want) {
		t.Fatalf("%d reports: %+v", len(got), got)
	}
	for i, w := range want {
		g := got[i]
		if g.Line != w.Line || g.State != w.State || g.ID != w.ID || w.Error != "" && g.Error != w.Error {
			t.Errorf("got %+v, want %+v", g, w)
		}
		if silent := g.State == Delivered || i == 2; silent != (g.Error == "") {
			t.Errorf("line %d: error %q", g.Line, g.Error)
		}
	}
	if reports, err := Check(io.MultiReader(strings.NewReader(text[:30]), failing{})); err == nil || len(reports) != 1 {
		t.Errorf("a failing reader: %d reports, %v", len(reports), err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestEveryCorruptionIsContained changes each byte of a mailbox: nothing panics, and the lines that were not touched
// are delivered.
func TestEveryCorruptionIsContained(t *testing.T) {
	lines := []string{`{"id":"a","content":"1"}`, `{"id":"b","type":"result","content":"2"}`, `{"id":"third","content":"3"}`}
	text := []byte(strings.Join(lines, "\n") + "\n")
	second := [2]int{len(lines[0]) + 1, len(lines[0]) + 1 + len(lines[1])}
	for i := second[0]; i < second[1]; i++ {
		for _, to := range []byte{0, 0xff, '"', '}', '{', ',', ' ', text[i] ^ 1} {
			changed := bytes.Clone(text)
			changed[i] = to
			reports, err := Check(bytes.NewReader(changed))
			if err != nil || len(reports) != 3 || reports[0].State != Delivered || reports[2].State != Delivered {
				t.Fatalf("byte %d to %q: %+v, %v", i, to, reports, err)
			}
		}
	}
	for end := range text {
		reports, err := Check(bytes.NewReader(text[:end]))
		if err != nil || len(reports) != bytes.Count(text[:end], []byte("\n"))+min(1, len(text[:end])-bytes.LastIndexByte(text[:end], '\n')-1) {
			t.Fatalf("cut at %d: %+v, %v", end, reports, err)
		}
	}
}

func TestEncodedLineParsesToTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := storable(Message{
			ID:        "01J",
			Kind:      rapid.SampledFrom(known[:]).Draw(t, "type"),
			From:      autonomy.AgentName(rapid.StringN(1, 10, -1).Draw(t, "from")),
			To:        "alice",
			Content:   string(rapid.SliceOf(rapid.Byte()).Draw(t, "content")),
			Plan:      rapid.String().Draw(t, "plan"),
			Timestamp: time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "time")),
			Interrupt: rapid.Bool().Draw(t, "interrupt"),
		})
		line, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(line, []byte("\n")) != 1 {
			t.Fatalf("%q is not one line", line)
		}
		got, err := ParseLine(bytes.TrimSuffix(line, []byte("\n")), 0)
		if err != nil || got != m {
			t.Fatalf("%q: got %+v, want %+v, %v", line, got, m, err)
		}
	})
}

func FuzzParseLine(f *testing.F) {
	for _, line := range []string{
		`{"content":"hi"}`, `{"id":"a","type":"result","from":"bob","content":"x","timestamp":1.5,"approve":true}`,
		`{"content":"x","timestamp":"2025-01-02T03:04:05Z"}`, "\ufeff{\"content\":\"\\ud83d\\ude00\"}\r", `{"content":1}`, `{`,
	} {
		f.Add([]byte(line), int64(0))
	}
	f.Fuzz(func(t *testing.T, line []byte, offset int64) {
		m, err := ParseLine(line, offset)
		if err != nil {
			var at *LineError
			if !errors.As(err, &at) || at.Column < 1 {
				t.Fatalf("%q: %v", line, err)
			}
			return
		}
		if !json.Valid(bytes.TrimPrefix(line, []byte("\ufeff"))) {
			t.Fatalf("accepted %q", line)
		}
		if m.ID == "" || m.From == "" || !m.Kind.Valid() {
			t.Fatalf("%q: %+v", line, m)
		}
	})
}
