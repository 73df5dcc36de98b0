// Package script is a model that says what it was told to say. It drives tests, examples and the real binary without a
// network: in process as an llm.Client, or over loopback HTTP as a server that speaks the OpenAI chat API. Both forms
// play the same Script; docs/formats/script.md describes its JSON form.
package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// Always as Entry.Times lets an entry answer any number of requests.
const Always = -1

// maxScript bounds the size of a script file.
const maxScript = 4 << 20

// Script is the whole part. For each request the first entry that matches and still has uses answers; when there is
// none, Func is asked; when it has nothing either, the request fails with a message that says so.
type Script struct {
	// Model is the id listed by /models and reported in answers; default "scripted".
	Model string `json:"model,omitempty"`
	// Window is the context window that is reported, in tokens; default 32768.
	Window  int     `json:"window,omitempty"`
	Entries []Entry `json:"entries"`
	// Func answers what no entry does. It is called from many goroutines.
	Func func(llm.Request) (Entry, bool) `json:"-"`
}

// Entry is one answer and when to give it. Exactly one of Reply and Error is set.
type Entry struct {
	When Match `json:"when,omitzero"`
	// Times is how many requests the entry answers: 0 means once, Always means any number.
	Times int      `json:"times,omitempty"`
	Reply *Reply   `json:"reply,omitempty"`
	Error *Failure `json:"error,omitempty"`
	// Hold delays the answer until Release is called with this name.
	Hold string `json:"hold,omitempty"`
	// Delay delays the answer by a duration such as "200ms".
	Delay Duration `json:"delay,omitempty"`
}

// Match says which requests an entry answers; each field that is set must hold. The zero Match takes any request.
type Match struct {
	// Contains must be in the last user message.
	Contains string `json:"contains,omitempty"`
	// SystemContains must be in a system message.
	SystemContains string `json:"system_contains,omitempty"`
	// ToolResultContains must be in one of the tool results at the end of the history.
	ToolResultContains string `json:"tool_result_contains,omitempty"`
	// Model must be the model asked for.
	Model string `json:"model,omitempty"`
}

// Reply is what the model says.
type Reply struct {
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
	Calls    []Call `json:"calls,omitempty"`
	// Usage defaults to an estimate of a quarter of the bytes.
	Usage *Usage `json:"usage,omitempty"`
	// NoUsage leaves the usage out altogether.
	NoUsage bool `json:"no_usage,omitempty"`
	// Finish is the finish_reason; default "tool_calls" with calls, else "stop".
	Finish string `json:"finish,omitempty"`
	// Cut ends the answer before it is complete: no finish_reason and no [DONE].
	Cut bool `json:"cut,omitempty"`
}

// Call is one tool call of a Reply. Arguments is normally an object; a JSON string is sent as the literal arguments
// text, so that broken arguments can be played.
type Call struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Usage is the usage a Reply reports, in tokens.
type Usage struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
	Cached     int `json:"cached,omitempty"`
	Thinking   int `json:"thinking,omitempty"`
}

// Failure is an answer that is no completion. Over HTTP it is sent literally; in process it becomes an *llm.Error.
type Failure struct {
	// Status is the HTTP status; default 500.
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Message is sent as {"error":{"message":…}} unless Body is set, which is sent as it is.
	Message string `json:"message,omitempty"`
	Body    string `json:"body,omitempty"`
	// Class is the class of the in-process error; default by status. HTTP clients classify for themselves.
	Class llm.Class `json:"class,omitempty"`
	// Drop closes the connection without an answer; in process it is a transport error.
	Drop bool `json:"drop,omitempty"`
}

// Duration is a time.Duration that reads as "200ms" in JSON.
type Duration time.Duration

// UnmarshalText reads the form of time.ParseDuration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("read delay: %w", err)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the form of time.Duration.String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Text is an entry that answers once with text.
func Text(text string) Entry { return Entry{Reply: &Reply{Text: text}} }

// Do is an entry that answers once with one call of a tool; arguments is JSON text, "" for none.
func Do(tool, arguments string) Entry { return DoAll(Call{Name: tool, Arguments: raw(arguments)}) }

// DoAll is an entry that answers once with calls.
func DoAll(calls ...Call) Entry { return Entry{Reply: &Reply{Calls: calls}} }

// Fail is an entry that fails once with an HTTP status and a message.
func Fail(status int, message string) Entry {
	return Entry{Error: &Failure{Status: status, Message: message}}
}

// Of is the script of the entries in their order.
func Of(entries ...Entry) Script { return Script{Entries: entries} }

// raw is JSON text, nil for none.
func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// Load reads a script from a JSON file. Unknown fields and entries without an answer are errors that name the entry.
func Load(path string) (Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return Script{}, fmt.Errorf("load script: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	if err != nil {
		return Script{}, fmt.Errorf("load script: %w", err)
	}
	if len(data) > maxScript {
		return Script{}, fmt.Errorf("load script %s: larger than %d bytes", path, maxScript)
	}
	s, err := Parse(data)
	if err != nil {
		return Script{}, fmt.Errorf("load script %s: %w", path, err)
	}
	return s, nil
}

// Parse reads the JSON form of a script.
func Parse(data []byte) (Script, error) {
	var s Script
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return Script{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Script{}, errors.New("more text after the script")
	}
	return s, s.validate()
}

// validate names the first entry that cannot be played.
func (s Script) validate() error {
	for i, e := range s.Entries {
		if err := e.validate(); err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return nil
}

// validate says why an entry cannot be played.
func (e Entry) validate() error {
	if (e.Reply == nil) == (e.Error == nil) {
		return errors.New("needs either reply or error")
	}
	if e.Times < Always {
		return fmt.Errorf("times is %d", e.Times)
	}
	if e.Reply == nil {
		return nil
	}
	for _, c := range e.Reply.Calls {
		if c.Arguments != nil && !json.Valid(c.Arguments) {
			return fmt.Errorf("call of %q: arguments are no JSON (put broken text into a JSON string)", c.Name)
		}
	}
	return nil
}
