package cli

import (
	"fmt"
	"io"
	"sync"
)

// screen keeps what a conversation prints in order: answers, prompts, and events that come at any moment from another
// goroutine. It is what the session writes to.
type screen struct {
	out    io.Writer
	err    io.Writer
	prompt string // "" when there is no person at the other end

	mu     sync.Mutex
	asking bool // the prompt is the last thing on the screen
	inLine bool // an answer is under way and its line has not ended
	broken bool // an event ended that line; the end that the answer has for it is one too many
}

func (c *screen) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	broken := c.broken
	c.inLine, c.broken = p[len(p)-1] != '\n', false
	if broken && string(p) == "\n" {
		return 1, nil
	}
	return c.out.Write(p)
}

// ask shows the prompt.
func (c *screen) ask() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking = c.prompt != ""
	fmt.Fprint(c.err, c.prompt)
}

// answered notes that the line at the prompt has ended.
func (c *screen) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking, c.inLine, c.broken = false, false, false
}

// tell shows a line of its own: in place of a prompt, which then comes again, and never in the middle of an answer's line.
func (c *screen) tell(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := fmt.Sprintf(format, args...) + "\n"
	switch {
	case c.asking:
		line = "\r\x1b[K" + line + c.prompt
	case c.inLine && c.prompt != "":
		line = "\n" + line
		c.inLine, c.broken = false, true
	}
	fmt.Fprint(c.err, line)
}
