package provider

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	openai "github.com/sashabaranov/go-openai"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider/wire"
)

// manyBooks is how many conversations a shelf keeps in encoded form.
const manyBooks = 64

// shelf keeps conversations as they were sent to one endpoint, so that of one that grew only what is new is encoded. It
// decides nothing: what it does not have is encoded again, to the same bytes. Any goroutine may use it.
type shelf struct {
	mu    sync.Mutex
	books []*book // the one used last is the first
}

// book is one conversation with what depends on its messages.
type book struct {
	quirks   echoing
	messages []llm.Message
	texts    []json.RawMessage
	tokens   []int

	tools      []llm.Tool
	toolList   json.RawMessage
	toolTokens int
}

// echoing is what of an endpoint the form of a message depends on.
type echoing struct {
	echo     Echo
	required bool
}

// encode gives messages and tools as JSON arrays (nil for no tools), and the estimate of their tokens.
func (s *shelf) encode(l *link, messages []llm.Message, tools []llm.Tool) (text, toolList json.RawMessage, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.find(echoing{l.endpoint.Quirks.Echo, l.endpoint.Quirks.EchoRequired}, messages)
	b.write(l, messages)
	b.equip(tools)
	size := 2 + len(b.texts)
	for i, t := range b.texts {
		size += len(t)
		tokens += b.tokens[i]
	}
	text = make([]byte, 0, size)
	for _, t := range b.texts {
		text = append(append(text, ','), t...)
	}
	if len(text) == 0 {
		return json.RawMessage("[]"), b.toolList, tokens + b.toolTokens
	}
	text[0] = '['
	return append(text, ']'), b.toolList, tokens + b.toolTokens
}

// find is the book of a conversation that begins with the same two messages, the system prompt and what the member is or
// was asked; a new one if there is none.
func (s *shelf) find(q echoing, messages []llm.Message) *book {
	n := min(2, len(messages))
	i := slices.IndexFunc(s.books, func(b *book) bool { return b.quirks == q && b.common(messages[:n]) == n })
	b := &book{quirks: q}
	switch {
	case i >= 0:
		b = s.books[i]
		s.books = slices.Delete(s.books, i, i+1)
	case len(s.books) == manyBooks:
		s.books = s.books[:manyBooks-1]
	}
	s.books = slices.Insert(s.books, 0, b)
	return b
}

// common is how many messages at the beginning are those of the book. Texts that did not move are compared by address.
func (b *book) common(messages []llm.Message) int {
	n := 0
	for n < len(messages) && n < len(b.messages) && sameMessage(messages[n], b.messages[n]) {
		n++
	}
	return n
}

// write makes the book hold exactly messages.
func (b *book) write(l *link, messages []llm.Message) {
	n := b.common(messages)
	b.messages = append(b.messages[:n], messages[n:]...)
	b.texts, b.tokens = b.texts[:n], b.tokens[:n]
	for _, m := range messages[n:] {
		b.texts = append(b.texts, l.encode(m))
		b.tokens = append(b.tokens, estimate([]llm.Message{m}, nil))
	}
}

// equip encodes the tools unless they are the ones of the last request.
func (b *book) equip(tools []llm.Tool) {
	if slices.EqualFunc(tools, b.tools, sameTool) {
		return
	}
	b.tools, b.toolList, b.toolTokens = slices.Clone(tools), nil, estimate(nil, tools)
	if len(tools) == 0 {
		return
	}
	list := make([]openai.Tool, len(tools))
	for i, t := range tools {
		list[i] = openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: parameters(t.Schema),
		}}
	}
	b.toolList = plainJSON(encodeJSON(list))
}

func sameTool(a, b llm.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// sameMessage compares all of a message that can be sent.
func sameMessage(a, b llm.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.CallID == b.CallID && a.Provider == b.Provider &&
		slices.EqualFunc(a.Calls, b.Calls, func(a, b llm.ToolCall) bool {
			return a.ID == b.ID && a.Name == b.Name && bytes.Equal(a.Arguments, b.Arguments) && bytes.Equal(a.Sent, b.Sent) &&
				sameFields(a.Extra, b.Extra)
		}) &&
		slices.EqualFunc(a.Thinking, b.Thinking, func(a, b llm.Thinking) bool {
			return a.Provider == b.Provider && a.Text == b.Text && bytes.Equal(a.Raw, b.Raw)
		}) && sameFields(a.Extra, b.Extra)
}

func sameFields(a, b map[string]json.RawMessage) bool {
	return maps.EqualFunc(a, b, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// encode is one message as this endpoint gets it.
func (l *link) encode(m llm.Message) json.RawMessage {
	message, extra, calls := l.message(m)
	return wire.EncodeMessage(encodeJSON(message), extra, calls)
}

// encodeJSON is v, a value of the client library, as JSON.
func encodeJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // arguments and schemas are JSON, all else is text
	}
	return raw
}
