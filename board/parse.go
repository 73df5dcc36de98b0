package board

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/strictjson"
)

// Limits of a task file.
const (
	MaxFile    = 256 << 10 // bytes
	MaxSubject = 200       // code points
)

// Parse decodes one task file as docs/formats/task.md describes it. name is the file's name or path; its last element
// gives the id. The error is an *InvalidError that carries name and the place of the first fault; the Task then holds
// whatever could be read, so that it can be shown.
func Parse(name string, src []byte) (Task, error) {
	t := Task{Status: Pending}
	id, isTask, invalid := ParseName(path.Base(name))
	t.ID = id
	switch {
	case !isTask:
		return t, &InvalidError{Path: name, Reason: "not the name of a task file (task_N.json)"}
	case invalid != nil:
		invalid.Path = name
		return t, invalid
	case len(src) > MaxFile:
		return t, &InvalidError{Path: name, Reason: fmt.Sprintf("larger than %d KiB", MaxFile>>10)}
	}
	o, err := strictjson.ParseObject(src)
	if err != nil {
		return t, located(name, err)
	}
	r := &reader{src: src, o: o}
	r.task(&t)
	if r.err != nil {
		return t, located(name, r.err)
	}
	return t, nil
}

func located(name string, err error) *InvalidError {
	var at *strictjson.Error
	if errors.As(err, &at) {
		return &InvalidError{Path: name, Line: at.Line, Column: at.Column, Reason: at.Msg, Err: err}
	}
	return &InvalidError{Path: name, Reason: err.Error(), Err: err}
}

// reader decodes the members of one object. It goes on after a fault and keeps the one that stands first in the file.
type reader struct {
	src  []byte
	o    *strictjson.Object
	path string // of o in the document, "" for the document itself, for messages
	err  *strictjson.Error
}

func (r *reader) task(t *Task) {
	r.identity(t)
	t.Description, _ = r.str("description")
	t.ActiveForm, _ = r.str("activeForm")
	t.BlockedBy = r.ids("blockedBy")
	t.Blocks = r.ids("blocks")
	t.Priority = r.integer("priority")
	t.Role = autonomy.Role(r.line("role"))
	t.Requires = r.names("requires")
	t.Steps = r.steps("steps")
	t.Verify, _ = r.str("verify")
	t.Worktree = r.boolean("worktree")
	t.NotBefore = r.time("notBefore")
	t.CreatedBy = autonomy.AgentName(r.line("createdBy"))
	t.Metadata = r.raw("metadata", "object")
	t.Attempt = r.count("attempt")
	t.Claim, t.Held = r.claim(), r.held()
	t.Result, t.Failure = r.result(), r.failure()
	t.CreatedAt, t.UpdatedAt = r.time("createdAt"), r.time("updatedAt")
}

// identity reads what a list shows: subject, status, owner, and that id and name agree.
func (r *reader) identity(t *Task) {
	if m, ok := r.get("id"); ok {
		if n, err := strictjson.ID(m); err != nil {
			r.fail(r.o.At(m, err))
		} else if autonomy.TaskID(n) != t.ID {
			r.failf(m.Start, "id is %d, but the file is named %s", n, FileName(t.ID))
		}
	}
	if m, ok := r.get("subject"); !ok {
		r.failf(r.o.Start(), "subject is missing")
	} else if t.Subject = r.line("subject"); strings.TrimSpace(t.Subject) == "" {
		r.failf(m.Start, "subject must not be blank")
	} else if n := utf8.RuneCountInString(t.Subject); n > MaxSubject {
		r.failf(m.Start, "subject must have at most %d characters, not %d", MaxSubject, n)
	}
	if m, ok := r.get("status"); ok {
		word, _ := r.str("status")
		switch t.Status = Status(word); t.Status {
		case Pending, InProgress, Completed, Failed, Cancelled:
		default:
			r.failf(m.Start, "unknown status %q", word)
		}
	}
	t.Owner = autonomy.AgentName(r.line("owner"))
}

// get returns a member that is there and not null: null in place of an optional value is its absence.
func (r *reader) get(key string) (strictjson.Member, bool) {
	m, ok := r.o.Get(key)
	return m, ok && strictjson.Kind(m) != "null"
}

func (r *reader) fail(err *strictjson.Error) {
	if err != nil && (r.err == nil || err.Offset < r.err.Offset) {
		r.err = err
	}
}

func (r *reader) failf(off int, format string, args ...any) {
	if r.path != "" {
		format, args = "%s: "+format, append([]any{r.path}, args...)
	}
	r.fail(r.o.Errorf(off, format, args...))
}

// at reports what a decoder of strictjson said about m.
func (r *reader) at(m strictjson.Member, err error) { r.failf(m.Start, "%s %s", m.Key, err) }

// in runs read over the object that m holds, with the place of it in messages.
func (r *reader) in(m strictjson.Member, path string, read func(*reader)) {
	o, err := strictjson.Nested(r.o, m)
	if err != nil {
		r.failf(m.Start, "%s must be an object, not %s", path, kind(m))
		return
	}
	inner := &reader{src: r.src, o: o, path: path}
	read(inner)
	r.fail(inner.err)
}

// kind names the kind of a value as a reader would say it.
func kind(m strictjson.Member) string {
	switch k := strictjson.Kind(m); k {
	case "null":
		return k
	case "object", "array":
		return "an " + k
	default:
		return "a " + k
	}
}

func (r *reader) str(key string) (string, bool) {
	m, ok := r.get(key)
	if !ok {
		return "", false
	}
	s, err := strictjson.String(m)
	if err != nil {
		r.at(m, err)
		return "", false
	}
	return s, true
}

// line reads a string that lists show in one line.
func (r *reader) line(key string) string {
	s, _ := r.str(key)
	if i := strings.IndexAny(s, "\n\r\v\f\u0085\u2028\u2029"); i >= 0 {
		m, _ := r.o.Get(key)
		r.failf(m.Start, "%s must be one line", key)
	}
	return s
}

func (r *reader) boolean(key string) bool {
	m, ok := r.get(key)
	if !ok {
		return false
	}
	b, err := strictjson.Bool(m)
	if err != nil {
		r.at(m, err)
	}
	return b
}

func (r *reader) integer(key string) int64 {
	m, ok := r.get(key)
	if !ok {
		return 0
	}
	n, err := strictjson.Int64(m)
	if err != nil {
		r.at(m, err)
	}
	return n
}

// count reads an integer of 0 or more that fits an int32, far above anything that is counted here.
func (r *reader) count(key string) int {
	n := r.integer(key)
	if n < 0 || n > 1<<31-1 {
		m, _ := r.o.Get(key)
		r.failf(m.Start, "%s must be between 0 and %d", key, 1<<31-1)
		return 0
	}
	return int(n)
}

func (r *reader) time(key string) time.Time {
	s, ok := r.str(key)
	if !ok {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		m, _ := r.o.Get(key)
		r.failf(m.Start, "%s must be a time like 2006-01-02T15:04:05Z (RFC 3339), not %q", key, s)
	}
	return t
}

// raw returns the bytes of a value of the kind wanted, detached from the source.
func (r *reader) raw(key, want string) json.RawMessage {
	m, ok := r.get(key)
	if !ok {
		return nil
	}
	if strictjson.Kind(m) != want {
		r.failf(m.Start, "%s must be an %s, not %s", key, want, kind(m))
		return nil
	}
	return json.RawMessage(strings.Clone(string(m.Raw)))
}
