package app

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent/provider"
)

// The guide for hosted providers repeats the table of providers; it must not fall behind it.
func TestGuideHasTheTableOfProviders(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guides/hosted.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range provider.Table() {
		if p.ID == "ollama" || p.ID == provider.Custom {
			continue // a guide of its own; no variable and no default
		}
		row := fmt.Sprintf("| `%s` | `%s` | %s |", p.ID, strings.Join(p.KeyVars, "`, `"), p.Model)
		if !strings.Contains(string(guide), row) {
			t.Errorf("hosted.md lacks the row %s", row)
		}
	}
}
