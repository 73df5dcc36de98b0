// Package strictyaml reads YAML that people write: one document, known fields only, bounded, with the line of every
// complaint. It is the only door to the YAML library.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// MaxSize is the size of a document in bytes, beyond which it is refused unread.
const MaxSize = 256 << 10

// Error is a complaint about a place in a document.
type Error struct {
	Name string // of the document: its path
	Line int    // from 1; 0 = the document as a whole
	Msg  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Name, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Msg)
}

// Decode reads the one document of src into a pointer to a struct whose fields all carry a yaml tag and have no
// UnmarshalYAML of their own, which would lose the check for unknown fields. An empty document sets nothing. Name is
// used in errors, which are *Error.
func Decode(src []byte, name string, into any) error {
	if len(src) > MaxSize {
		return &Error{Name: name, Msg: fmt.Sprintf("larger than %d bytes", MaxSize)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	decoder.KnownFields(true)
	err := decoder.Decode(into)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return explain(name, err)
	}
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return &Error{Name: name, Line: second.Line, Msg: "more than one document"}
	}
	return nil
}

// The library gives its lines in text only.
var (
	lineOf  = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	unknown = regexp.MustCompile(`^field (\S+) not found in type .+$`)
)

func explain(name string, err error) *Error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var typed *yaml.TypeError
	if errors.As(err, &typed) && len(typed.Errors) > 0 {
		text = typed.Errors[0]
	}
	e := &Error{Name: name, Msg: text}
	if parts := lineOf.FindStringSubmatch(text); parts != nil {
		e.Line, _ = strconv.Atoi(parts[1]) // digits; a line beyond an int does not fit MaxSize
		e.Msg = parts[2]
	}
	if parts := unknown.FindStringSubmatch(e.Msg); parts != nil {
		e.Msg = fmt.Sprintf("unknown field %q", parts[1])
	}
	return e
}

// ErrUnclosed says that a front matter has no closing marker.
var ErrUnclosed = errors.New("front matter without its closing ---")

// FrontMatter splits a document into the YAML between two lines that are exactly ---, the first of which is the first
// line, and the rest. Without a first marker front is nil and body is all of src. Front begins with an empty line in
// place of the marker, so that the lines of Decode's errors are those of the document. A byte order mark and CRLF are
// accepted.
func FrontMatter(src []byte) (front, body []byte, err error) {
	text := bytes.TrimPrefix(src, []byte("\ufeff"))
	line, rest := cutLine(text)
	if string(line) != "---" {
		return nil, src, nil
	}
	for at := rest; len(at) > 0; {
		line, next := cutLine(at)
		if string(line) == "---" {
			inner := rest[:len(rest)-len(at)]
			return append([]byte("\n"), inner...), next, nil
		}
		at = next
	}
	return nil, nil, ErrUnclosed
}

func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}
