package cli

import (
	"fmt"
	"strings"
	"testing"
)

func TestScreenKeepsEventsApart(t *testing.T) {
	for _, test := range []struct {
		name, prompt, want string
	}{
		{"person", "> ", "> \r\x1b[K· one\n> half\n· two\n an answer\nfull\n· four\n· three\n> "},
		{"pipe", "", "· one\nhalf· two\n an answer\nfull· four\n\n· three\n"},
	} {
		var all strings.Builder
		c := &screen{out: &all, err: &all, prompt: test.prompt}
		c.ask()
		c.tell("· %s", "one")
		c.answered()
		fmt.Fprint(c, "half")
		c.tell("· two")
		fmt.Fprint(c, " an answer\n")
		fmt.Fprint(c, "full")
		c.tell("· four")
		fmt.Fprint(c, "\n")
		c.tell("· three")
		c.ask()
		if got := all.String(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
