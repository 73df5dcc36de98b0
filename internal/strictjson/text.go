package strictjson

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string literal, quotes included.
func (s *scanner) str(off int) (int, error) {
	start := off
	for off++; off < len(s.src); {
		switch c := s.src[off]; {
		case c == '"':
			return off + 1, nil
		case c == '\\':
			next, err := s.escape(off)
			if err != nil {
				return off, err
			}
			off = next
		case c == '\n' || c == '\r':
			return off, s.errorf(off, "line break in a string; write \\n")
		case c < ' ':
			return off, s.errorf(off, "control character U+%04X in a string; write \\u%04x", c, c)
		default:
			off++
		}
	}
	return off, s.errorf(start, "string without an end")
}

// escape reads one escape; a pair of surrogates is one.
func (s *scanner) escape(off int) (int, error) {
	if off+1 >= len(s.src) {
		return off, s.unexpected(off+1, "an escape")
	}
	switch s.src[off+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return off + 2, nil
	case 'u':
	default:
		r, _ := utf8.DecodeRune(s.src[off+1:])
		return off, s.errorf(off, "unknown escape \\%c", r)
	}
	first, ok := s.hex(off)
	if !ok {
		return off, s.errorf(off, "malformed escape: \\u needs four hexadecimal digits")
	}
	if !utf16.IsSurrogate(first) {
		return off + 6, nil
	}
	if second, ok := s.hex(off + 6); ok && utf16.DecodeRune(first, second) != utf8.RuneError {
		return off + 12, nil
	}
	return off, s.errorf(off, "lone surrogate \\u%04x", first)
}

// hex reads the four digits of a \u escape at off.
func (s *scanner) hex(off int) (rune, bool) {
	if off+6 > len(s.src) || s.src[off] != '\\' || s.src[off+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.src[off+2:off+6]), 16, 32)
	return rune(n), err == nil
}

// isUTF16 looks at the byte order mark, and without one at where the NUL bytes of two ASCII characters stand.
func isUTF16(src []byte) bool {
	if bytes.HasPrefix(src, []byte("\xfe\xff")) || bytes.HasPrefix(src, []byte("\xff\xfe")) {
		return true
	}
	if len(src) < 4 {
		return false
	}
	big := src[0] == 0 && src[1] != 0 && src[2] == 0 && src[3] != 0
	little := src[0] != 0 && src[1] == 0 && src[2] != 0 && src[3] == 0
	return big || little
}

// checkEncoding refuses what is not UTF-8 text, and names UTF-16, which editors on Windows still write.
func checkEncoding(src []byte) error {
	switch {
	case isUTF16(src):
		return errorAt(src, 0, "the file is UTF-16; save it as UTF-8")
	case utf8.Valid(src):
		return nil
	}
	off := 0
	for off < len(src) {
		r, size := utf8.DecodeRune(src[off:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		off += size
	}
	return errorAt(src, off, "invalid UTF-8 (byte 0x%02x)", src[off])
}
