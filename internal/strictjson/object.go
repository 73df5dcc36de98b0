package strictjson

import (
	"bytes"
)

// Limits bounds what Parse accepts. The zero value means: 64 levels of nesting, any size.
type Limits struct {
	Depth int // levels of objects and arrays, the top one included; 0 = 64
	Size  int // bytes; 0 = unlimited
}

// Member is one member of an object, or with an empty Key one element of an array.
type Member struct {
	Key      string // decoded
	Raw      []byte // the bytes of the value; they belong to the source and must not be changed
	KeyStart int    // offset of the key's opening quote; of the value for an element
	Start    int    // offset of the value
	End      int    // offset behind the value

	keyEnd int
}

// Object is a parsed object. It refers to the source, which must not change while the object is in use.
type Object struct {
	src        []byte
	start, end int // of the braces: src[start] is '{', src[end-1] is '}'
	members    []Member
	index      map[string]int
}

// ParseObject parses src, which must hold exactly one JSON object, with the default limits. The error is always an
// *Error.
func ParseObject(src []byte) (*Object, error) {
	return Limits{}.ParseObject(src)
}

// ParseObject parses src as the function of that name does, within l.
func (l Limits) ParseObject(src []byte) (*Object, error) {
	if l.Size > 0 && len(src) > l.Size {
		return nil, errorAt(src, l.Size, "the file is larger than %d bytes", l.Size)
	}
	if err := checkEncoding(src); err != nil {
		return nil, err
	}
	s := &scanner{src: src, depth: l.depth()}
	start := 0
	if bytes.HasPrefix(src, []byte(bom)) {
		start = len(bom)
	}
	if start = s.space(start); start == len(src) {
		return nil, errorAt(src, 0, "empty file")
	}
	if src[start] != '{' {
		return nil, s.notObject(start)
	}
	o, err := s.collect(start)
	if err != nil {
		return nil, err
	}
	if rest := s.space(o.end); rest < len(src) {
		if src[rest] == 0 {
			return nil, errorAt(src, rest, "NUL bytes after the object")
		}
		return nil, errorAt(src, rest, "unexpected text after the object")
	}
	return o, nil
}

func (l Limits) depth() int {
	if l.Depth > 0 {
		return l.Depth
	}
	return defaultDepth
}

// notObject says what stands at the top in place of an object: a value of another kind, or no JSON at all.
func (s *scanner) notObject(off int) error {
	if _, err := s.value(off); err != nil {
		return s.unexpected(off, "an object")
	}
	return s.errorf(off, "expected an object, found %s", article(kindOf(s.src[off])))
}

// collect parses the object at off and keeps its members.
func (s *scanner) collect(off int) (*Object, error) {
	o := &Object{src: s.src, start: off, index: map[string]int{}}
	end, err := s.object(off, func(m Member) {
		o.index[m.Key] = len(o.members)
		o.members = append(o.members, m)
	})
	if err != nil {
		return nil, err
	}
	o.end = end
	return o, nil
}

// Members returns the members in the order of the source. The slice belongs to the object.
func (o *Object) Members() []Member { return o.members }

// Get returns the member with exactly this decoded key.
func (o *Object) Get(key string) (Member, bool) {
	i, ok := o.index[key]
	if !ok {
		return Member{}, false
	}
	return o.members[i], true
}

// Start is the offset of the opening brace in the source.
func (o *Object) Start() int { return o.start }

// Errorf returns an error placed at an offset of the source.
func (o *Object) Errorf(off int, format string, args ...any) *Error {
	return errorAt(o.src, off, format, args...)
}

// At places err, which a decoder such as String returned, at the value of m: "line 3, column 9: subject must be …".
func (o *Object) At(m Member, err error) *Error {
	if m.Key == "" {
		return o.Errorf(m.Start, "%s", err)
	}
	return o.Errorf(m.Start, "%s %s", m.Key, err)
}

// Nested returns a view of a member of o (or of an element below it) that is an object. Offsets stay those of the whole
// source, so its errors have places in the file. The error is an *Error.
func Nested(o *Object, m Member) (*Object, error) {
	if Kind(m) != "object" {
		return nil, o.At(m, &TypeError{Want: "an object", Got: article(Kind(m))})
	}
	// The region was accepted with the document, within its depth.
	s := &scanner{src: o.src, depth: m.End - m.Start}
	return s.collect(m.Start)
}

// Elements returns the elements of a member that is an array, each with an empty Key. src is the source that m came
// from. The error is an *Error.
func Elements(src []byte, m Member) ([]Member, error) {
	if Kind(m) != "array" {
		return nil, (&Object{src: src}).At(m, &TypeError{Want: "an array", Got: article(Kind(m))})
	}
	elements := []Member{}
	s := &scanner{src: src, depth: m.End - m.Start}
	if _, err := s.array(m.Start, func(e Member) { elements = append(elements, e) }); err != nil {
		return nil, err
	}
	return elements, nil
}
