package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func everyCommand(t *testing.T, visit func(t *testing.T, cmd *cobra.Command)) {
	t.Helper()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return // the program calls it itself
		}
		t.Run(cmd.CommandPath(), func(t *testing.T) { visit(t, cmd) })
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&Streams{}))
}

func TestEveryCommandHasAnExample(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("short %q, example %q", cmd.Short, cmd.Example)
		}
		if cmd.Example != "" && !strings.Contains(cmd.Example, "autonomy") {
			t.Errorf("the example does not call the program: %q", cmd.Example)
		}
		if cmd.RunE == nil && cmd.Run == nil {
			t.Error("does nothing when it is called")
		}
	})
}

// What a script may want to read has --json. The others change something and say so in one line, or stream.
func TestWhatAScriptReadsHasJSON(t *testing.T) {
	prose := map[string]bool{
		"autonomy": true, "autonomy init": true, "autonomy demo": true, "autonomy up": true, "autonomy down": true,
		"autonomy chat": true, "autonomy team stop": true, "autonomy team rm": true,
		"autonomy runs export": true, "autonomy keys set": true, "autonomy keys rm": true, "autonomy model use": true,
		"autonomy model setup": true,
	}
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		path := cmd.CommandPath()
		if cmd.HasSubCommands() || prose[path] || strings.HasPrefix(path, "autonomy completion") {
			return
		}
		if cmd.Flags().Lookup("json") == nil {
			t.Error("no --json")
		}
	})
}

func TestUnknownWordsAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"frobnicate"},
		{"task", "lst"},
		{"team", "list", "now"},
		{"up", "--frob"},
		{"task", "show"},
		{"completion", "nosuch"},
		{"completion", "bash", "extra"},
		{"-C", "/not/there", "task", "list"},
		{"-C", os.DevNull, "status"},
		{"task", "graph", "--dot", "--json"},
	} {
		var out, err bytes.Buffer
		code := Main(t.Context(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &err, Dir: t.TempDir()})
		if code != ExitUsage || err.Len() == 0 || out.Len() > 0 {
			t.Errorf("%q: status %d, %q, %q", args, code, out.String(), err.String())
		}
	}
}
