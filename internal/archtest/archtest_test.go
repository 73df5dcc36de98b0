package archtest

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/autonomy-team/autonomy"

// root is the folder of the module, seen from this package.
const root = "../.."

func TestTheHouseKeepsItsRules(t *testing.T) {
	tree, err := Load(os.DirFS(root), module)
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.packages) < 10 {
		t.Fatalf("only %d packages were found", len(tree.packages))
	}
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			found := rule.Check(tree)
			for _, v := range found {
				t.Error(v)
			}
			if len(found) > 0 {
				t.Log("The rule is there because " + rule.Reason + ".")
			}
		})
	}
}

// A file that was renamed must not slip out of the rule that names it.
func TestPureFilesAreThere(t *testing.T) {
	for _, name := range pureFiles() {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
}

// Every rule has a small tree in testdata in which it is broken. The lines "want FILE:LINE" above the files name all the
// places; whatever else stands there is allowed.
func TestPlantedViolationsAreFound(t *testing.T) {
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			name := filepath.Join("testdata", strings.ReplaceAll(rule.Name, " ", "_")+".txtar")
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			comment, fsys := plant(string(data))
			tree, err := Load(fsys, "example.org/m")
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for line := range strings.Lines(comment) {
				if place, ok := strings.CutPrefix(strings.TrimSpace(line), "want "); ok {
					want = append(want, place)
				}
			}
			for _, v := range rule.Check(tree) {
				got = append(got, strings.TrimSuffix(v.String(), ": "+v.Msg))
			}
			slices.Sort(want)
			slices.Sort(got)
			if len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("found  %q\nwanted %q", got, want)
			}
		})
	}
}

// plant lays out an archive in the txtar form: a comment, then files, each under a line "-- NAME --".
func plant(archive string) (comment string, fsys fstest.MapFS) {
	fsys = fstest.MapFS{}
	comment, rest, _ := strings.Cut(archive, "-- ")
	for part := range strings.SplitSeq(rest, "\n-- ") {
		name, content, _ := strings.Cut(part, " --\n")
		fsys[name] = &fstest.MapFile{Data: grow(content + "\n")}
	}
	return comment, fsys
}

// grow writes a hundred lines for a line "// grow", which keeps the planted trees readable.
func grow(text string) []byte {
	return []byte(strings.ReplaceAll(text, "// grow\n", strings.Repeat("// line\n", 100)))
}

func TestEveryRuleHasAReason(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range Rules() {
		if len(rule.Reason) < 20 || seen[rule.Name] {
			t.Errorf("rule %q: reason %q, or named twice", rule.Name, rule.Reason)
		}
		seen[rule.Name] = true
	}
	planted, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(planted) != len(seen) {
		t.Errorf("%d rules, %d planted trees, %v", len(seen), len(planted), err)
	}
}

// What is linked is more than what is imported: this asks the go command for everything in the program.
func TestTheProgramLinksOnlyWhatItNeeds(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/autonomy")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	unwanted := map[string]string{
		"testing":                          "its flags and weight",
		"github.com/nats-io/nats-server":   "17 MB that only tests embed",
		"charm.land/glamour":               "20 ms at the start of every command",
		"github.com/charmbracelet/glamour": "20 ms at the start of every command",
		"github.com/openai/openai-go":      "25 MB",
		"github.com/spf13/viper":           "lower-cased keys and 13 modules",
	}
	for line := range strings.Lines(string(out)) {
		for prefix, cost := range unwanted {
			if under(strings.TrimSpace(line), prefix) {
				t.Errorf("the program links %s: %s", path.Clean(strings.TrimSpace(line)), cost)
			}
		}
	}
}
