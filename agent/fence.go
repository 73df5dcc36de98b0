package agent

import "strings"

// fenced puts text of any origin between two lines with a mark that is drawn when the text is known, and again as long as
// the text contains it: nothing in the text can pose as its end. The text itself is not changed, so that what a file says
// can be quoted back exactly. Nothing stays nothing.
func fenced(text string, draw func() string) string {
	if text == "" {
		return ""
	}
	mark := draw()
	for strings.Contains(text, mark) {
		mark = draw()
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return "[data " + mark + "]\n" + text + "[end " + mark + "]"
}

// outputBlock puts the end of an output into a block for a user message, where everything else speaks for the program.
func outputBlock(text string) string {
	if text = tail(text, tailLines); text == "" {
		return ""
	}
	return "\n<output>\n" + escape(text) + "\n</output>"
}
