package wire

import "strings"

// display decides which part of a growing content may be shown at once. What could turn out to be a tag or a call
// written as text waits; once a mark is whole, all from there on waits for the end, when the whole content is judged.
type display struct {
	marks []string // that end the showing when they appear
	calls bool     // an answer that begins like a bare call object waits as well

	text  strings.Builder
	pos   int // how far the content has been dealt with
	state displayState
	shown strings.Builder
}

type displayState int

const (
	atStart displayState = iota
	inThought
	inText
	held
)

// newDisplay waits for the marks of calls written as text only where such calls are accepted.
func newDisplay(textCalls bool) *display {
	d := &display{marks: []string{closeThink, "\n" + openThink}, calls: textCalls}
	if textCalls {
		for _, f := range textForms() {
			d.marks = append(d.marks, f.marks...)
		}
	}
	return d
}

// add takes a piece of content and gives what may be shown of it, as thinking and as text.
func (d *display) add(piece string) (thinking, answer string) {
	d.text.WriteString(piece)
	for {
		rest := d.text.String()[d.pos:]
		before := d.state
		switch d.state {
		case atStart:
			d.start(rest)
		case inThought:
			thinking += d.thought(rest)
		case inText:
			answer += d.plain(rest)
		case held:
		}
		if d.state == before {
			d.shown.WriteString(answer)
			return thinking, answer
		}
	}
}

// start waits until the first characters tell what the content begins with.
func (d *display) start(rest string) {
	trimmed := strings.TrimLeft(rest, " \t\r\n")
	switch {
	case len(rest)-len(trimmed) > 4096:
		d.state = inText // looking again at ever more white space would cost too much
	case trimmed == "" || len(trimmed) < len(openThink) && strings.HasPrefix(openThink, trimmed):
	case strings.HasPrefix(trimmed, openThink):
		d.pos += len(rest) - len(trimmed) + len(openThink)
		d.state = inThought
	case d.calls && (trimmed[0] == '{' || trimmed[0] == '`'):
		d.state = held
	default:
		d.state = inText
	}
}

// thought gives what is certainly still thinking and leaves at the closing tag.
func (d *display) thought(rest string) string {
	if i := strings.Index(rest, closeThink); i >= 0 {
		d.pos += i + len(closeThink)
		d.state = atStart
		return rest[:i]
	}
	safe := len(rest) - partial(rest, closeThink)
	d.pos += safe
	return rest[:safe]
}

// plain gives the text up to what may be the beginning of a mark.
func (d *display) plain(rest string) string {
	safe := len(rest)
	for _, mark := range d.marks {
		if i := strings.Index(rest, mark); i >= 0 {
			safe = min(safe, i)
			d.state = held
		} else {
			safe = min(safe, len(rest)-partial(rest, mark))
		}
	}
	d.pos += safe
	return rest[:safe]
}

// partial is the length of the longest end of s that is a beginning of mark.
func partial(s, mark string) int {
	for n := min(len(mark)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return n
		}
	}
	return 0
}

// finish gives what is left to be shown of the judged answer. ok is false when the answer does not begin with what was
// shown before.
func (d *display) finish(answer string) (left string, ok bool) {
	shown := d.shown.String()
	if left, ok = strings.CutPrefix(answer, shown); ok {
		return left, true
	}
	// White space around marks is trimmed from the answer but may have been shown.
	return "", strings.TrimSpace(shown) == strings.TrimSpace(answer)
}
