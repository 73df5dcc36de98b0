package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGraphAsJSON(t *testing.T) {
	a := inWorkspace(t)
	a.run(ExitOK, "task", "add", "One")
	a.run(ExitOK, "task", "add", "Two", "-b", "1")
	out, _ := a.run(ExitOK, "task", "graph", "--json")
	var g graphView
	if err := json.Unmarshal([]byte(out), &g); err != nil {
		t.Fatalf("%v of %s", err, out)
	}
	if len(g.Nodes) != 2 || !g.Nodes[0].Ready || g.Nodes[1].Ready || len(g.Edges) != 1 || g.Edges[0] != (graphEdge{From: 1, To: 2}) {
		t.Errorf("got %+v", g)
	}
}

func TestRefusedValuesNameTheirFlag(t *testing.T) {
	a := inWorkspace(t)
	a.run(ExitOK, "task", "add", "One")
	long := strings.Repeat("x", 300)
	for flag, args := range map[string][]string{
		"--description": {"task", "edit", "1", "--subject", long},
		"--metadata":    {"task", "edit", "1", "--metadata", "[1]"},
	} {
		if _, prose := a.run(ExitUsage, args...); !strings.Contains(prose, flag) || strings.Contains(prose, "correct the file") {
			t.Errorf("%s: %s", flag, prose)
		}
	}
	if _, prose := a.run(ExitUsage, "task", "add", long); !strings.Contains(prose, "--description") {
		t.Error(prose)
	}
}

func TestNobodyMayTakeATaskBeforeTheyRun(t *testing.T) {
	a := inWorkspace(t)
	a.run(ExitOK, "task", "add", "One", "--step", "true")
	roster := `{"team_name":"default","members":[{"name":"zoe","role":"coder","desired":"running"}]}`
	if err := os.WriteFile(filepath.Join(a.dir, ".team", "config.json"), []byte(roster), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := a.run(ExitOK, "task", "explain", "1")
	if !strings.Contains(out, "zoe may take it once it runs") {
		t.Error(out)
	}
}
