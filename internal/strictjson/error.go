// Package strictjson reads one JSON object strictly and edits it without touching what it does not change.
//
// Files that people write by hand deserve two things that encoding/json does not give: a place for every complaint, and
// an edit that leaves their spacing, order, number literals and unknown fields as they were. The grammar is RFC 8259
// with these choices: the document is one object, no key occurs twice in an object, strings are valid Unicode, nesting
// is bounded. A byte order mark at the start and CRLF line ends are accepted and survive an edit.
package strictjson

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Error is a complaint about a place in the source.
type Error struct {
	Line   int // from 1
	Column int // from 1, in code points; a byte order mark does not count
	Offset int // from 0, in bytes of the source, a byte order mark included
	Msg    string
}

// Error returns "line L, column C: msg".
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// errorAt places a message at an offset of src.
func errorAt(src []byte, off int, format string, args ...any) *Error {
	off = min(max(off, 0), len(src))
	before := bytes.TrimPrefix(src[:off], []byte(bom))
	line := bytes.Count(before, []byte("\n")) + 1
	last := before[bytes.LastIndexByte(before, '\n')+1:]
	return &Error{Line: line, Column: utf8.RuneCount(last) + 1, Offset: off, Msg: fmt.Sprintf(format, args...)}
}

// TypeError says that a value has another type than the reader wants. It has no place; Object.At gives it one.
type TypeError struct {
	Want, Got string // both as a reader would say them: "a string", "null"
}

// Error returns "must be WANT, not GOT".
func (e *TypeError) Error() string {
	return fmt.Sprintf("must be %s, not %s", e.Want, e.Got)
}
