package agent

import (
	"fmt"
	"slices"
	"sync"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/llm"
)

// Journal is a transcript's durable log: one JSON object for each Append, on the disk after Sync.
type Journal interface {
	Append(v any) error
	Sync() error
}

// Head is what stands before a conversation and stays as it was when the transcript began.
type Head struct {
	Identity *Identity  `json:"identity,omitempty"` // nil = no identity block
	System   string     `json:"system,omitempty"`
	Tools    []llm.Tool `json:"tools,omitempty"`
}

// Transcript is one continuous conversation. Whatever is done to it, these hold:
//
//   - one system message and, with an Identity, exactly one identity block stand at its head;
//   - every call is directly followed by its result, and the results stand in the order of the calls;
//   - no assistant message is empty;
//   - a letter enters it once;
//   - between two Compacts it only grows: what Messages gave is a prefix of what it gives later.
//
// All methods are safe for concurrent use; one Loop at a time adds to it.
type Transcript struct {
	mu       sync.Mutex
	head     Head
	fixed    int // messages of the head
	messages []llm.Message
	open     []llm.ToolCall // calls of the last assistant message that have no result yet
	mail     map[autonomy.MessageID]bool
	skills   map[string]bool
	journal  Journal
	bytes    int
}

// Record kinds of a transcript's journal.
const (
	recordBegin   = "begin"
	recordMessage = "message"
	recordCompact = "compact"
)

// record is one line of the journal. Its JSON form is durable.
type record struct {
	Kind    string               `json:"kind"`
	Head    *Head                `json:"head,omitempty"`    // begin
	Message *llm.Message         `json:"message,omitempty"` // message
	Mail    []autonomy.MessageID `json:"mail,omitempty"`    // letters in the message
	Skill   string               `json:"skill,omitempty"`   // skill whose body the message is
	Summary string               `json:"summary,omitempty"` // compact
	Keep    int                  `json:"keep,omitempty"`    // messages kept after the summary
}

// NewTranscript begins a transcript. A nil journal keeps it in memory alone.
func NewTranscript(head Head, journal Journal) (*Transcript, error) {
	t := &Transcript{journal: journal}
	if err := t.write(record{Kind: recordBegin, Head: &head}); err != nil {
		return nil, err
	}
	t.begin(head)
	return t, nil
}

func (t *Transcript) begin(head Head) {
	t.head = head
	t.messages, t.open = nil, nil
	t.mail, t.skills = map[autonomy.MessageID]bool{}, map[string]bool{}
	t.restart()
}

// restart lays the head down again, before the first message and after a compaction.
func (t *Transcript) restart() {
	t.messages, t.bytes = nil, 0
	if t.head.System != "" {
		t.put(llm.Message{Role: llm.System, Content: t.head.System})
	}
	if t.head.Identity != nil {
		block := t.head.Identity.block()
		t.put(block[0])
		t.put(block[1])
	}
	t.fixed = len(t.messages)
}

// put adds to memory alone.
func (t *Transcript) put(m llm.Message) {
	t.messages = append(t.messages, m)
	t.bytes += len(m.Content)
	for _, c := range m.Calls {
		t.bytes += len(c.Arguments) + len(c.Name)
	}
}

func (t *Transcript) write(r record) error {
	if t.journal == nil {
		return nil
	}
	if err := t.journal.Append(r); err != nil {
		return fmt.Errorf("append to transcript: %w", err)
	}
	return nil
}

// add writes r, which holds a message, and then takes it over. The caller holds the lock.
func (t *Transcript) add(r record) error {
	r.Kind = recordMessage
	if err := t.write(r); err != nil {
		return err
	}
	t.take(r)
	return nil
}

// take is what a written message record means for the state in memory.
func (t *Transcript) take(r record) {
	m := *r.Message
	t.put(m)
	switch m.Role {
	case llm.Assistant:
		t.open = slices.Clone(m.Calls)
	case llm.ToolRole:
		t.open = slices.DeleteFunc(t.open, func(c llm.ToolCall) bool { return c.ID == m.CallID })
	}
	for _, id := range r.Mail {
		t.mail[id] = true
	}
	if r.Skill != "" {
		t.skills[r.Skill] = true
	}
}

// interrupted is the result of a call whose own was lost.
const interrupted = "no result: interrupted"

// settle gives every open call a result, so that something else may follow. The caller holds the lock.
func (t *Transcript) settle() error {
	for len(t.open) > 0 {
		if err := t.addResult(t.open[0].ID, interrupted); err != nil {
			return err
		}
	}
	return nil
}

func (t *Transcript) addResult(call, content string) error {
	if content == "" {
		content = "(no output)"
	}
	return t.add(record{Message: &llm.Message{Role: llm.ToolRole, CallID: call, Content: content}})
}

// User adds a user message; an empty one is nothing.
func (t *Transcript) User(text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.user(record{}, text)
}

func (t *Transcript) user(r record, text string) error {
	if text == "" {
		return nil
	}
	if err := t.settle(); err != nil {
		return err
	}
	r.Message = &llm.Message{Role: llm.User, Content: defuse(text)}
	return t.add(r)
}

// Skill adds the body of a skill, the first time it is chosen.
func (t *Transcript) Skill(s Skill) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.skills[s.Name] {
		return nil
	}
	return t.user(record{Skill: s.Name}, "Skill "+s.Name+":\n"+s.Body)
}

// Deliver adds the letters that the transcript does not hold yet, as one <inbox> message, makes them durable, and only
// then acknowledges the delivery. It returns the ids that are new. After a crash between the two the letters come
// again and are recognised.
func (t *Transcript) Deliver(d Delivery) ([]autonomy.MessageID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var fresh []Letter
	var ids []autonomy.MessageID
	for _, l := range d.Letters {
		if !t.mail[l.ID] && !slices.Contains(ids, l.ID) {
			fresh, ids = append(fresh, l), append(ids, l.ID)
		}
	}
	if len(fresh) > 0 {
		if err := t.user(record{Mail: ids}, InboxText(fresh)); err != nil {
			return nil, err
		}
	}
	if t.journal != nil {
		if err := t.journal.Sync(); err != nil {
			return nil, fmt.Errorf("sync transcript: %w", err)
		}
	}
	if d.Ack != nil {
		if err := d.Ack(); err != nil {
			return ids, &AckError{err}
		}
	}
	return ids, nil
}

// AckError says that mail is durably in the transcript but could not be acknowledged: it comes again and is recognised.
type AckError struct{ Err error }

func (e *AckError) Error() string { return "acknowledge mail: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *AckError) Unwrap() error { return e.Err }

// Knows reports whether a letter has entered the transcript.
func (t *Transcript) Knows(id autonomy.MessageID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mail[id]
}

// Reply adds what the model said. Its calls wait for Results; whatever else is added first fills them in.
func (t *Transcript) Reply(m llm.Message) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	m.Role = llm.Assistant
	if m.Empty() {
		return nil
	}
	if err := t.settle(); err != nil {
		return err
	}
	return t.add(record{Message: &m})
}

// Result is what a call of the last Reply returned.
type Result struct {
	Call    string
	Content string
}

// Results adds the results of the last Reply's calls in the order of the calls. One that is missing is filled in, one
// without a call is dropped.
func (t *Transcript) Results(results []Result) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.open) > 0 {
		id, content := t.open[0].ID, interrupted
		if i := slices.IndexFunc(results, func(r Result) bool { return r.Call == id }); i >= 0 {
			content = results[i].Content
		}
		if err := t.addResult(id, content); err != nil {
			return err
		}
	}
	return nil
}

// Messages is the conversation as it is sent. The caller must not change it; later additions do not show in it.
func (t *Transcript) Messages() []llm.Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clip(t.messages)
}

// Tools are the tools as they were when the transcript began.
func (t *Transcript) Tools() []llm.Tool { return t.head.Tools }

// Identity is whose transcript it is, nil if nobody's.
func (t *Transcript) Identity() *Identity { return t.head.Identity }

// Bytes is the size of the texts and calls, for estimates.
func (t *Transcript) Bytes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// Empty reports whether nothing has been said yet.
func (t *Transcript) Empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.messages) == t.fixed
}

// Sync makes everything added so far durable.
func (t *Transcript) Sync() error {
	if t.journal == nil {
		return nil
	}
	if err := t.journal.Sync(); err != nil {
		return fmt.Errorf("sync transcript: %w", err)
	}
	return nil
}
