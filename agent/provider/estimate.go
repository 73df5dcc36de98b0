package provider

import (
	"unicode/utf8"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// perMessage is what the frame of a message costs, in tokens.
const perMessage = 4

// Tokens is a rough number of tokens of a text in any script: a quarter of the ASCII bytes, one for each character of
// scripts without spaces, half for each other letter. The clients calibrate it by the usage that servers report.
func Tokens(s string) int {
	ascii, wide, other := 0, 0, 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			ascii++
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if r >= 0x2E80 {
			wide++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + wide + (other+1)/2
}

// estimate is the number of prompt tokens of a request before calibration.
func estimate(messages []llm.Message, tools []llm.Tool) int {
	n := 0
	for _, m := range messages {
		n += perMessage + Tokens(m.Content)
		for _, c := range m.Calls {
			n += perMessage + Tokens(c.Name) + Tokens(string(c.Arguments))
		}
	}
	for _, t := range tools {
		n += perMessage*2 + Tokens(t.Name) + Tokens(t.Description) + Tokens(string(t.Schema))
	}
	return n
}
