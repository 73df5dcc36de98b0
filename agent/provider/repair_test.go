package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// anyHistory draws messages in any order, with ids that collide and results that are missing, doubled or orphaned.
func anyHistory(t *rapid.T) []llm.Message {
	id := rapid.SampledFrom([]string{"", "a", "b", "c", "call_1", "call_2", "functions.bash:0", "functions.bash:1", strings.Repeat("x", 50)})
	text := rapid.SampledFrom([]string{"", " ", "hello", "multi\nline <b> & é 世"})
	args := rapid.SampledFrom([]string{"", "{}", `{"a": 1}`, `{"a":"<&>"}`, `{"a":"\u003c\\u003c"}`, `{"a":`, "null", "[1]", `"x"`})
	call := rapid.Custom(func(t *rapid.T) llm.ToolCall {
		return llm.ToolCall{ID: id.Draw(t, "id"), Name: rapid.SampledFrom([]string{"bash", "idle", "", " ", "nope", "функция(1)!", strings.Repeat("n", 99)}).Draw(t, "name"), Arguments: json.RawMessage(args.Draw(t, "args"))}
	})
	message := rapid.Custom(func(t *rapid.T) llm.Message {
		m := llm.Message{Role: rapid.SampledFrom([]llm.Role{llm.System, llm.User, llm.Assistant, llm.ToolRole, llm.ToolRole}).Draw(t, "role"), Content: text.Draw(t, "content")}
		switch m.Role {
		case llm.Assistant:
			m.Calls = rapid.SliceOfN(call, 0, 3).Draw(t, "calls")
		case llm.ToolRole:
			m.CallID = id.Draw(t, "callID")
		}
		return m
	})
	return rapid.SliceOfN(message, 0, 14).Draw(t, "history")
}

// accepted is what the strictest server checks.
func accepted(history []llm.Message, idLimit int) error {
	seen := map[string]bool{}
	for i := 0; i < len(history); i++ {
		m := history[i]
		switch {
		case m.Role == llm.System && i > 0:
			return fmt.Errorf("late system message at %d", i)
		case m.Role == llm.ToolRole:
			return fmt.Errorf("orphan result at %d", i)
		case m.Role == llm.Assistant && strings.TrimSpace(m.Content) == "" && len(m.Calls) == 0:
			return fmt.Errorf("empty turn at %d", i)
		case m.Role == llm.User && m.Content == "":
			return fmt.Errorf("empty message at %d", i)
		}
		for _, c := range m.Calls {
			i++
			var object map[string]json.RawMessage
			switch {
			case c.ID == "" || seen[c.ID] || idLimit > 0 && len(c.ID) > idLimit:
				return fmt.Errorf("id %q cannot stand", c.ID)
			case !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(c.Name):
				return fmt.Errorf("name %q", c.Name)
			case json.Unmarshal(c.Arguments, &object) != nil || object == nil:
				return fmt.Errorf("arguments %q", c.Arguments)
			case i >= len(history) || history[i].Role != llm.ToolRole || history[i].CallID != c.ID || history[i].Content == "":
				return fmt.Errorf("call %s is not followed by its result", c.ID)
			}
			seen[c.ID] = true
		}
	}
	return nil
}

func encoded(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRepairMakesEveryHistoryAcceptable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := anyHistory(t)
		limit := rapid.SampledFrom([]int{0, 40}).Draw(t, "limit")
		before := fmt.Sprintf("%+v", history)
		fixed := Repair(history, limit)
		if err := accepted(fixed, limit); err != nil {
			t.Fatalf("%v in %s", err, encoded(t, fixed))
		}
		if fmt.Sprintf("%+v", history) != before {
			t.Fatal("the input was changed")
		}
		if again := Repair(fixed, limit); encoded(t, again) != encoded(t, fixed) {
			t.Fatalf("not stable:\n%s\n%s", encoded(t, fixed), encoded(t, again))
		}
		for _, m := range Flatten(fixed, nil) {
			if m.Role == llm.ToolRole || len(m.Calls) > 0 {
				t.Fatalf("flattened history has %+v", m)
			}
		}
	})
}

// What was sent once is sent again byte for byte when the history grows by whole turns.
func TestRepairKeepsWhatWasSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := anyHistory(t)
		for cut := range history {
			if cut == 0 || history[cut].Role != llm.Assistant {
				continue
			}
			start, whole := Repair(history[:cut], 40), Repair(history, 40)
			if len(start) > len(whole) || len(start) > 0 && encoded(t, start) != encoded(t, whole[:len(start)]) {
				t.Fatalf("cut at %d:\n%s\n%s", cut, encoded(t, start), encoded(t, whole))
			}
		}
	})
}

// A transcript that was stored and read again sends the same bytes.
func TestRepairIsTheSameAfterStoring(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var history, stored []llm.Message
		for _, m := range anyHistory(t) {
			for i := range m.Calls {
				if !json.Valid(m.Calls[i].Arguments) {
					m.Calls[i].Arguments = json.RawMessage("{}") // what never leaves the adapter
				}
			}
			history = append(history, m)
			var back llm.Message
			if err := json.Unmarshal([]byte(encoded(t, m)), &back); err != nil {
				t.Fatal(err)
			}
			stored = append(stored, back)
		}
		a, b := Repair(history, 0), Repair(stored, 0)
		for i := range a {
			for j := range a[i].Calls {
				if !bytes.Equal(a[i].Calls[j].Arguments, b[i].Calls[j].Arguments) {
					t.Fatalf("%s then %s", a[i].Calls[j].Arguments, b[i].Calls[j].Arguments)
				}
			}
		}
		if encoded(t, a) != encoded(t, b) {
			t.Fatal("not the same after storing")
		}
	})
}

func TestRepairByExample(t *testing.T) {
	call := func(id string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: "bash", Arguments: json.RawMessage(`{}`)}
	}
	result := func(id, text string) llm.Message { return llm.Message{Role: llm.ToolRole, CallID: id, Content: text} }
	say := func(role llm.Role, text string) llm.Message { return llm.Message{Role: role, Content: text} }
	turn := func(calls ...llm.ToolCall) llm.Message { return llm.Message{Role: llm.Assistant, Calls: calls} }
	for _, tt := range []struct {
		name string
		in   []llm.Message
		want string
	}{
		{"system merged at the head, late one becomes a user's", []llm.Message{say(llm.System, "a"), say(llm.System, "b"), say(llm.User, "u"), say(llm.System, "late")}, "system:a\n\nb user:u user:late"},
		{"results in order, mail behind them", []llm.Message{turn(call("a"), call("b")), result("b", "B"), say(llm.User, "mail"), result("a", "A")}, "assistant:a,b tool:a=A tool:b=B user:mail"},
		{"missing result", []llm.Message{turn(call("a")), say(llm.User, "u")}, "assistant:a tool:a=no result: interrupted user:u"},
		{"orphan result", []llm.Message{say(llm.User, "u"), result("x", "X")}, "user:u"},
		{"empty turn", []llm.Message{say(llm.User, "u"), say(llm.Assistant, ""), say(llm.User, "v")}, "user:u user:v"},
		{"empty result", []llm.Message{turn(call("a")), result("a", "")}, "assistant:a tool:a=(no output)"},
		{"same id in two turns", []llm.Message{turn(call("a")), result("a", "1"), turn(call("a")), result("a", "2")}, "assistant:a tool:a=1 assistant:call_1 tool:call_1=2"},
		{"Kimi's ids count over the conversation", []llm.Message{turn(call("functions.bash:0")), result("functions.bash:0", "1"), turn(call("functions.bash:0")), result("functions.bash:0", "2")}, "assistant:functions.bash:0 tool:functions.bash:0=1 assistant:functions.bash:1 tool:functions.bash:1=2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, m := range Repair(tt.in, 40) {
				s := string(m.Role) + ":" + m.Content
				switch {
				case m.Role == llm.ToolRole:
					s = "tool:" + m.CallID + "=" + m.Content
				case len(m.Calls) > 0:
					var ids []string
					for _, c := range m.Calls {
						ids = append(ids, c.ID)
					}
					s = "assistant:" + strings.Join(ids, ",")
				}
				got = append(got, s)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), tt.want)
			}
		})
	}
}

func TestPlainJSONLeavesPlainTextAlone(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"b c","d":[1,"\\"]}`: `{"a":"b c","d":[1,"\\"]}`,
		`{"a": 1}`:                 `{"a":1}`,
		`{"a":"\u003c\"x y\""}`:    `{"a":"<\"x y\""}`,
		`{"a":"\\u003c"}`:          `{"a":"\\u003c"}`,
		`{"a":`:                    `{}`,
	} {
		if got := string(plainJSON(json.RawMessage(in))); got != want {
			t.Errorf("plainJSON(%s) = %s, want %s", in, got, want)
		}
	}
}
