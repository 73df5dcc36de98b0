package wire

import (
	"encoding/json"
	"strings"
)

// maxDepth bounds the nesting of a Python literal.
const maxDepth = 100

// pythonToJSON rewrites a Python dict literal as JSON if all of it parses; otherwise s comes back as it is. Models that
// were trained on Python print arguments this way: single quotes, True, False, None, tuples.
func pythonToJSON(s string) string {
	p := &python{in: s}
	if !p.value(0) {
		return s
	}
	p.space()
	if p.pos != len(p.in) {
		return s
	}
	return p.out.String()
}

// python is a recursive-descent reader that writes JSON as it goes; every method reports success.
type python struct {
	in  string
	pos int
	out strings.Builder
}

// space skips white space.
func (p *python) space() {
	for p.pos < len(p.in) && strings.IndexByte(" \t\r\n", p.in[p.pos]) >= 0 {
		p.pos++
	}
}

// eat consumes c after white space.
func (p *python) eat(c byte) bool {
	p.space()
	if p.pos < len(p.in) && p.in[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// value reads any literal; nesting beyond maxDepth is refused, because each level costs stack.
func (p *python) value(depth int) bool {
	p.space()
	if p.pos >= len(p.in) || depth > maxDepth {
		return false
	}
	switch c := p.in[p.pos]; {
	case c == '{':
		return p.sequence('}', "{", "}", depth, true)
	case c == '[':
		return p.sequence(']', "[", "]", depth, false)
	case c == '(':
		return p.sequence(')', "[", "]", depth, false)
	case c == '\'' || c == '"':
		return p.str()
	default:
		return p.atom()
	}
}

// sequence reads a dict, list or tuple; a trailing comma is allowed, as in Python.
func (p *python) sequence(end byte, open, closing string, depth int, dict bool) bool {
	p.pos++
	p.out.WriteString(open)
	for n := 0; !p.eat(end); n++ {
		if n > 0 {
			if !p.eat(',') {
				return false
			}
			if p.eat(end) {
				break
			}
			p.out.WriteByte(',')
		}
		if dict && !p.key() || !p.value(depth+1) {
			return false
		}
	}
	p.out.WriteString(closing)
	return true
}

// key reads a dict key, which JSON wants to be a string, and its colon.
func (p *python) key() bool {
	p.space()
	if p.pos >= len(p.in) || p.in[p.pos] != '\'' && p.in[p.pos] != '"' || !p.str() || !p.eat(':') {
		return false
	}
	p.out.WriteByte(':')
	return true
}

// str reads a quoted string with the escapes that Python and JSON share; others are refused rather than guessed.
func (p *python) str() bool {
	mark := p.in[p.pos]
	var b strings.Builder
	for p.pos++; p.pos < len(p.in); p.pos++ {
		c := p.in[p.pos]
		switch {
		case c == mark:
			p.pos++
			p.out.Write(quote(b.String()))
			return true
		case c != '\\':
			b.WriteByte(c)
		case !p.escape(&b):
			return false
		}
	}
	return false
}

// escape reads the escape at pos and leaves pos on its last byte.
func (p *python) escape(b *strings.Builder) bool {
	p.pos++
	if p.pos >= len(p.in) {
		return false
	}
	switch c := p.in[p.pos]; c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case '\\', '\'', '"':
		b.WriteByte(c)
	case 'u':
		var s string
		if p.pos+5 > len(p.in) || json.Unmarshal([]byte(`"\`+p.in[p.pos:p.pos+5]+`"`), &s) != nil {
			return false
		}
		b.WriteString(s)
		p.pos += 4
	default:
		return false
	}
	return true
}

// atom reads a number, True, False or None, and their JSON forms.
func (p *python) atom() bool {
	start := p.pos
	for p.pos < len(p.in) && strings.IndexByte(" \t\r\n,:]})", p.in[p.pos]) < 0 {
		p.pos++
	}
	switch word := p.in[start:p.pos]; word {
	case "True", "true":
		p.out.WriteString("true")
	case "False", "false":
		p.out.WriteString("false")
	case "None", "null":
		p.out.WriteString("null")
	default:
		if first([]byte(word)) == '"' || !json.Valid([]byte(word)) {
			return false
		}
		p.out.WriteString(word)
	}
	return true
}
