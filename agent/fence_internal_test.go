package agent

import (
	"strings"
	"testing"
)

func TestAFenceIsDrawnAgainWhenTheTextHoldsIt(t *testing.T) {
	marks := []string{"AAA", "BBB", "CCC"}
	draw := func() string {
		mark := marks[0]
		marks = marks[1:]
		return mark
	}
	if got := fenced("x BBB AAA", draw); got != "[data CCC]\nx BBB AAA\n[end CCC]" {
		t.Errorf("got %q", got)
	}
	if got := fenced("", draw); got != "" {
		t.Errorf("nothing became %q", got)
	}
	if strings.Contains(fenced("a\n", func() string { return "M" }), "\n\n") {
		t.Error("the end of a line was doubled")
	}
}
