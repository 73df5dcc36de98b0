package provider

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// TestShelfChangesNoByte holds what a shelf that has seen other histories gives against what an empty one gives.
func TestShelfChangesNoByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &link{endpoint: Endpoint{Provider: Provider{ID: "p"}, Quirks: Quirks{Echo: EchoCalls}}, shelf: &shelf{}}
		word := rapid.SampledFrom([]string{"", "a", "<b> & \"c\"", "漢字\n"})
		message := rapid.Custom(func(t *rapid.T) llm.Message {
			m := llm.Message{
				Role:    rapid.SampledFrom([]llm.Role{llm.User, llm.Assistant, llm.ToolRole}).Draw(t, "role"),
				Content: word.Draw(t, "content"), CallID: word.Draw(t, "call"), Provider: rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "provider"),
			}
			for i := range rapid.IntRange(0, 2).Draw(t, "calls") {
				c := llm.ToolCall{ID: fmt.Sprint("c", i), Name: word.Draw(t, "name"), Arguments: json.RawMessage(`{"n":1}`)}
				if rapid.Bool().Draw(t, "extra") {
					c.Extra = map[string]json.RawMessage{"g": json.RawMessage(`2`)}
				}
				m.Calls = append(m.Calls, c)
			}
			if text := word.Draw(t, "thinking"); text != "" {
				m.Thinking = []llm.Thinking{{Provider: "p", Text: text}}
			}
			return m
		})
		tools := []llm.Tool{{Name: "t", Schema: json.RawMessage(`{"type": "object"}`)}, {Name: "u"}}
		history := []llm.Message{{Role: llm.System, Content: "s"}, {Role: llm.User, Content: "u"}}
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			keep := rapid.IntRange(0, len(history)).Draw(t, "keep")
			history = append(history[:keep:keep], rapid.SliceOfN(message, 0, 3).Draw(t, "new")...)
			offered := tools[:rapid.IntRange(0, 2).Draw(t, "tools")]
			l.endpoint.Quirks.EchoRequired = rapid.Bool().Draw(t, "required")
			text, list, tokens := l.shelf.encode(l, history, offered)
			wantText, wantList, wantTokens := new(shelf).encode(l, history, offered)
			if string(text) != string(wantText) || string(list) != string(wantList) || tokens != wantTokens {
				t.Fatalf("got  %s %s %d\nwant %s %s %d", text, list, tokens, wantText, wantList, wantTokens)
			}
			if !json.Valid(text) || len(offered) > 0 && !json.Valid(list) || tokens != estimate(history, offered) {
				t.Fatalf("not right: %s %s %d", text, list, tokens)
			}
		}
	})
}

func TestShelfIsBounded(t *testing.T) {
	l := &link{shelf: &shelf{}}
	for i := range manyBooks * 2 {
		l.shelf.encode(l, []llm.Message{{Role: llm.System, Content: fmt.Sprint(i)}, {Role: llm.User, Content: "u"}}, nil)
	}
	if n := len(l.shelf.books); n != manyBooks {
		t.Errorf("%d books are kept", n)
	}
}
