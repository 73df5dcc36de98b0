package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Change sets one member of the object, or removes it when Value is nil. Removing what is not there changes nothing.
type Change struct {
	Key   string
	Value []byte // a JSON value
}

// Quote returns s as a JSON string, without the escapes for HTML that encoding/json adds. Bytes that are not UTF-8
// become U+FFFD.
func Quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Edit applies changes to the object in src. Only the bytes of changed values are replaced; new members come last, in
// the order given and in the style of those that are there; a removed member takes one comma with it. A value that
// differs from the present one in white space only is no change. If nothing differs, src itself is returned. Of several
// changes of one key the last holds. The result parses.
func Edit(src []byte, changes []Change) ([]byte, error) {
	o, err := ParseObject(src)
	if err != nil {
		return nil, err
	}
	want := map[string][]byte{}
	for _, c := range changes {
		if want[c.Key], err = checkValue(c); err != nil {
			return nil, err
		}
	}
	e := editor{o: o, style: styleOf(o)}
	for _, m := range o.members {
		value, named := want[m.Key]
		delete(want, m.Key)
		switch {
		case !named:
			e.keep(m, m.Raw)
		case value == nil:
			e.changed = true
		default:
			e.keep(m, value)
		}
	}
	for _, c := range changes {
		if value := want[c.Key]; value != nil {
			delete(want, c.Key)
			e.add(c.Key, value)
		}
	}
	if !e.changed {
		return src, nil
	}
	out := e.finish()
	if _, err := ParseObject(out); err != nil {
		return nil, fmt.Errorf("edit object: %w", err)
	}
	return out, nil
}

// checkValue returns the bare value of a change, or nil for a removal. A value must be exactly one, lest it smuggle in
// members of its own.
func checkValue(c Change) ([]byte, error) {
	if c.Value == nil {
		return nil, nil
	}
	value := bytes.TrimSpace(c.Value)
	err := checkEncoding(value)
	if err == nil {
		s := &scanner{src: value, depth: defaultDepth}
		var end int
		if end, err = s.value(0); err == nil && end != len(value) {
			err = s.errorf(end, "unexpected text after the value")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("change %q: %w", c.Key, err)
	}
	return value, nil
}

// editor writes the new text. What stands before a member, its comma included, goes where the member goes; the text
// before the first member and behind the last one stays in its place.
type editor struct {
	o       *Object
	style   style
	body    bytes.Buffer
	count   int // of members written
	changed bool
}

// lead writes what stands before the next member.
func (e *editor) lead(separator string) {
	if e.count == 0 {
		separator = e.style.first
	}
	e.body.WriteString(separator)
	e.count++
}

func (e *editor) keep(m Member, value []byte) {
	e.lead(e.o.before(m))
	e.body.Write(e.o.src[m.KeyStart:m.Start])
	if sameValue(m.Raw, value) {
		value = m.Raw
	} else {
		e.changed = true
	}
	e.body.Write(value)
}

func (e *editor) add(key string, value []byte) {
	e.lead(e.style.separator)
	e.body.Write(Quote(key))
	e.body.WriteString(e.style.colon)
	e.body.Write(value)
	e.changed = true
}

func (e *editor) finish() []byte {
	src := e.o.src
	out := make([]byte, 0, len(src)+e.body.Len())
	out = append(out, src[:e.o.start+1]...)
	out = append(out, e.body.Bytes()...)
	out = append(out, e.style.last...)
	return append(out, src[e.o.end-1:]...)
}

// before returns the text between a member and the one in front of it, or the opening brace.
func (o *Object) before(m Member) string {
	from := o.start + 1
	if i := o.index[m.Key]; i > 0 {
		from = o.members[i-1].End
	}
	return string(o.src[from:m.KeyStart])
}

// sameValue reports whether two valid values differ in white space at most.
func sameValue(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// style is how an object is written.
type style struct {
	first     string // behind the opening brace
	separator string // between members, the comma included
	colon     string // between key and value
	last      string // before the closing brace
}

// styleOf reads the style off an object's last member, which is where new ones will stand.
func styleOf(o *Object) style {
	if len(o.members) == 0 {
		inner := string(o.src[o.start+1 : o.end-1])
		if nl := newline(inner); nl != "" {
			return style{first: nl + "  ", separator: "," + nl + "  ", colon: ": ", last: nl}
		}
		return style{first: inner, separator: ", ", colon: ": ", last: inner}
	}
	m := o.members[len(o.members)-1]
	st := style{
		first: o.before(o.members[0]),
		colon: string(o.src[m.keyEnd:m.Start]),
		last:  string(o.src[m.End : o.end-1]),
	}
	if newline(st.colon) != "" {
		st.colon = ": "
	}
	lead := strings.TrimLeft(o.before(m), " \t\r\n")
	if len(o.members) == 1 {
		lead = "," + st.first
		if st.first == "" && st.colon != ":" {
			lead = ", "
		}
	}
	st.separator = lead
	if nl := newline(lead); nl != "" { // a single line break, however many there were
		st.separator = "," + nl + lead[strings.LastIndexByte(lead, '\n')+1:]
	}
	return st
}

// newline returns the last line break in white space, "" if there is none.
func newline(space string) string {
	i := strings.LastIndexByte(space, '\n')
	switch {
	case i < 0:
		return ""
	case i > 0 && space[i-1] == '\r':
		return "\r\n"
	}
	return "\n"
}
