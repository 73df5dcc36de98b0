package wire

import (
	"encoding/json"
	"strings"
)

// maxCalls bounds the tool calls of one turn.
const maxCalls = 128

// slot is one tool call that is being put together.
type slot struct {
	id, name string
	parts    string // all name fragments so far, in case the name comes in pieces
	args     strings.Builder
	shape    shape
	extra    fields
}

// merger puts tool calls together from the entries of a stream, by evidence rather than by position: servers repeat
// indexes, omit them, omit ids, or repeat names. Slots keep the order of arrival.
type merger struct {
	known   func(name string) bool
	slots   []*slot
	byIndex map[int]*slot
	full    bool // more calls than maxCalls; the rest is dropped
}

// newMerger takes what tells a tool's name from a fragment of one.
func newMerger(known func(string) bool) *merger {
	return &merger{known: known, byIndex: map[int]*slot{}}
}

// entry is one element of a tool_calls delta.
type entry struct {
	index    int
	hasIndex bool
	id, name string
	args     string
	extra    fields
}

// readEntry reads an element in the current, the flattened and the legacy form.
func readEntry(raw json.RawMessage) (entry, bool) {
	m := object(raw)
	if m == nil {
		return entry{}, false
	}
	var e entry
	if i, ok := number(m["index"]); ok {
		e.index, e.hasIndex = int(i), true
	}
	e.id = word(m["id"])
	f := object(m["function"])
	if f == nil {
		f = m
	}
	e.name = text(f["name"])
	e.args = argumentText(f["arguments"])
	if extra := m["extra_content"]; present(extra) {
		e.extra = fields{"extra_content": extra}
	}
	return e, true
}

// argumentText is the text that an arguments field adds: a string is a piece, an object is whole, null is nothing.
func argumentText(raw json.RawMessage) string {
	switch {
	case !present(raw):
		return ""
	case first(raw) == '"':
		return text(raw)
	default:
		return string(raw)
	}
}

// add files one entry away.
func (m *merger) add(e entry) {
	s := m.find(e)
	if s == nil {
		return
	}
	if s.id == "" {
		s.id = e.id
	}
	m.nameSlot(s, e.name)
	if e.args != "" {
		s.args.WriteString(e.args)
		s.shape.write(e.args)
	}
	for k, v := range e.extra {
		if s.extra == nil {
			s.extra = fields{}
		}
		s.extra[k] = v
	}
}

// find gives the slot the entry belongs to, a new one if it belongs to none, nil if it says nothing.
func (m *merger) find(e entry) *slot {
	if e.hasIndex {
		s, ok := m.byIndex[e.index]
		switch {
		case ok && !m.showsNew(s, e):
		case ok:
			s = m.open()
		case e.id != "" || e.name != "":
			s = m.open()
		default:
			s = m.incomplete()
			if s == nil && strings.TrimSpace(e.args) != "" {
				s = m.open()
			}
		}
		if s != nil {
			m.byIndex[e.index] = s
		}
		return s
	}
	s := m.byID(e.id)
	if s == nil && len(m.slots) > 0 {
		s = m.slots[len(m.slots)-1]
	}
	switch {
	case s != nil && !m.showsNew(s, e):
		return s
	case e.id == "" && e.name == "" && e.args == "":
		return nil
	default:
		return m.open()
	}
}

// showsNew reports whether e begins another call than the one in s: by another id, by another known name, or by a name
// with the start of arguments although those of s are complete.
func (m *merger) showsNew(s *slot, e entry) bool {
	switch {
	case e.id != "" && s.id != "" && e.id != s.id:
		return true
	case e.name != "" && e.name != s.name && m.known(e.name) && m.known(s.name) && !m.continuesName(s, e.name):
		return true
	default:
		return e.name != "" && strings.TrimSpace(e.args) != "" && s.shape.complete()
	}
}

// continuesName reports whether name completes the name of a slot that has no arguments yet.
func (m *merger) continuesName(s *slot, name string) bool {
	return s.args.Len() == 0 && m.known(s.parts+name)
}

// nameSlot assigns a name, never appends it, unless the pieces together are a known tool and no arguments came.
func (m *merger) nameSlot(s *slot, name string) {
	switch {
	case name == "":
	case s.name == "":
		s.name, s.parts = name, name
	case name != s.name && s.args.Len() == 0:
		s.parts += name
		if m.known(s.parts) {
			s.name = s.parts
		}
	}
}

// open starts a slot at the end.
func (m *merger) open() *slot {
	s := &slot{}
	if len(m.slots) >= maxCalls {
		m.full = true
		return s // not kept, so what belongs to it is dropped
	}
	m.slots = append(m.slots, s)
	return s
}

// byID is the last slot with an id: when an id is repeated for another call, what follows belongs to the later one.
func (m *merger) byID(id string) *slot {
	if id == "" {
		return nil
	}
	for i := len(m.slots) - 1; i >= 0; i-- {
		if m.slots[i].id == id {
			return m.slots[i]
		}
	}
	return nil
}

// incomplete is the last slot whose arguments are not complete, nil when all are.
func (m *merger) incomplete() *slot {
	for i := len(m.slots) - 1; i >= 0; i-- {
		if !m.slots[i].shape.complete() {
			return m.slots[i]
		}
	}
	return nil
}

// shape follows the braces of JSON text as it grows, so that completeness costs nothing to ask.
type shape struct {
	depth            int
	opened           bool
	inString, escape bool
}

// write follows one more piece. It counts brackets without telling their kinds apart: what is complete is parsed later.
func (s *shape) write(piece string) {
	for i := range len(piece) {
		c := piece[i]
		switch {
		case s.escape:
			s.escape = false
		case s.inString:
			s.escape = c == '\\'
			s.inString = c != '"'
		case c == '"':
			s.inString = true
		case c == '{' || c == '[':
			s.depth++
			s.opened = true
		case c == '}' || c == ']':
			s.depth--
		}
	}
}

// complete reports whether the text so far is balanced and has an object or array in it.
func (s *shape) complete() bool { return s.opened && s.depth <= 0 && !s.inString }
