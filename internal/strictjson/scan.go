package strictjson

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

const (
	bom          = "\xef\xbb\xbf"
	defaultDepth = 64
)

// scanner walks src once. Every method starts at the byte it names and returns the offset behind what it read. It is
// used again on regions that were found valid before, to list their parts.
type scanner struct {
	src   []byte
	depth int // of containers that may still be opened
}

func (s *scanner) errorf(off int, format string, args ...any) error {
	return errorAt(s.src, off, format, args...)
}

// space skips white space.
func (s *scanner) space(off int) int {
	for off < len(s.src) {
		switch s.src[off] {
		case ' ', '\t', '\r', '\n':
			off++
		default:
			return off
		}
	}
	return off
}

// unexpected describes what stands at off where want should be.
func (s *scanner) unexpected(off int, want string) error {
	if off >= len(s.src) {
		return s.errorf(off, "unexpected end of file, expected %s", want)
	}
	switch c := s.src[off]; {
	case c == 0:
		return s.errorf(off, "unexpected NUL byte, expected %s", want)
	case c == '/' || c == '#':
		return s.errorf(off, "expected %s; comments are not allowed", want)
	case c == '\'':
		return s.errorf(off, "expected %s; strings need double quotes", want)
	}
	r, _ := utf8.DecodeRune(s.src[off:])
	return s.errorf(off, "unexpected %q, expected %s", r, want)
}

// value reads any value.
func (s *scanner) value(off int) (int, error) {
	if off >= len(s.src) {
		return off, s.unexpected(off, "a value")
	}
	switch c := s.src[off]; {
	case c == '{':
		return s.object(off, nil)
	case c == '[':
		return s.array(off, nil)
	case c == '"':
		return s.str(off)
	case c == '-' || '0' <= c && c <= '9':
		return s.number(off)
	case c == 't':
		return s.literal(off, "true")
	case c == 'f':
		return s.literal(off, "false")
	case c == 'n':
		return s.literal(off, "null")
	}
	return off, s.unexpected(off, "a value")
}

func (s *scanner) literal(off int, word string) (int, error) {
	if !bytes.HasPrefix(s.src[off:], []byte(word)) {
		return off, s.unexpected(off, "a value")
	}
	end := off + len(word)
	if end < len(s.src) && isWord(s.src[end]) {
		return off, s.unexpected(off, "a value")
	}
	return end, nil
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// enter counts one level of nesting; leave gives it back.
func (s *scanner) enter(off int) error {
	if s.depth == 0 {
		return s.errorf(off, "nested too deeply")
	}
	s.depth--
	return nil
}

func (s *scanner) leave() { s.depth++ }

// object reads an object and hands each member to visit, if there is one.
func (s *scanner) object(off int, visit func(Member)) (int, error) {
	if err := s.enter(off); err != nil {
		return off, err
	}
	defer s.leave()
	off = s.space(off + 1)
	if off < len(s.src) && s.src[off] == '}' {
		return off + 1, nil
	}
	seen := map[string]struct{}{}
	for {
		m, err := s.member(off)
		if err != nil {
			return off, err
		}
		if _, twice := seen[m.Key]; twice {
			return off, s.errorf(m.KeyStart, "duplicate key %q", m.Key)
		}
		seen[m.Key] = struct{}{}
		if visit != nil {
			visit(m)
		}
		next, done, err := s.separator(m.End, '}')
		if err != nil || done {
			return next, err
		}
		off = next
	}
}

// member reads `"key": value`.
func (s *scanner) member(off int) (Member, error) {
	if off >= len(s.src) || s.src[off] != '"' {
		return Member{}, s.unexpected(off, "a key in double quotes")
	}
	end, err := s.str(off)
	if err != nil {
		return Member{}, err
	}
	m := Member{Key: decodeString(s.src[off:end]), KeyStart: off, keyEnd: end}
	colon := s.space(end)
	if colon >= len(s.src) || s.src[colon] != ':' {
		return Member{}, s.unexpected(colon, `":"`)
	}
	m.Start = s.space(colon + 1)
	if m.End, err = s.value(m.Start); err != nil {
		return Member{}, err
	}
	m.Raw = s.src[m.Start:m.End:m.End]
	return m, nil
}

// array reads an array and hands each element to visit, if there is one.
func (s *scanner) array(off int, visit func(Member)) (int, error) {
	if err := s.enter(off); err != nil {
		return off, err
	}
	defer s.leave()
	off = s.space(off + 1)
	if off < len(s.src) && s.src[off] == ']' {
		return off + 1, nil
	}
	for {
		end, err := s.value(off)
		if err != nil {
			return off, err
		}
		if visit != nil {
			visit(Member{Raw: s.src[off:end:end], KeyStart: off, keyEnd: off, Start: off, End: end})
		}
		next, done, err := s.separator(end, ']')
		if err != nil || done {
			return next, err
		}
		off = next
	}
}

// separator reads what follows an item: a comma, then it returns where the next item begins, or the closing byte.
func (s *scanner) separator(off int, closing byte) (next int, done bool, err error) {
	off = s.space(off)
	if off < len(s.src) && s.src[off] == closing {
		return off + 1, true, nil
	}
	if off >= len(s.src) || s.src[off] != ',' {
		return off, false, s.unexpected(off, `"," or "`+string(closing)+`"`)
	}
	next = s.space(off + 1)
	if next < len(s.src) && s.src[next] == closing {
		return off, false, s.errorf(off, "trailing comma before %q", string(closing))
	}
	return next, false, nil
}

// number reads a number by the grammar of RFC 8259, section 6.
func (s *scanner) number(off int) (int, error) {
	start := off
	if s.src[off] == '-' {
		off++
	}
	if off < len(s.src) && s.src[off] == '0' {
		off++
	} else if off = s.digits(off); off == start || s.src[off-1] == '-' {
		return start, s.errorf(start, "malformed number")
	}
	if off < len(s.src) && s.src[off] == '.' {
		from := off + 1
		if off = s.digits(from); off == from {
			return start, s.errorf(start, "malformed number: no digit after the point")
		}
	}
	if off < len(s.src) && (s.src[off] == 'e' || s.src[off] == 'E') {
		off++
		if off < len(s.src) && (s.src[off] == '+' || s.src[off] == '-') {
			off++
		}
		from := off
		if off = s.digits(from); off == from {
			return start, s.errorf(start, "malformed number: no digit in the exponent")
		}
	}
	if off < len(s.src) && isWord(s.src[off]) {
		return start, s.errorf(start, "malformed number")
	}
	return off, nil
}

func (s *scanner) digits(off int) int {
	for off < len(s.src) && '0' <= s.src[off] && s.src[off] <= '9' {
		off++
	}
	return off
}

// decodeString returns the text of a string literal that the scanner has accepted.
func decodeString(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	// The literal is valid and without lone surrogates, so there is nothing that this could repair or refuse.
	_ = json.Unmarshal(raw, &text)
	return text
}
