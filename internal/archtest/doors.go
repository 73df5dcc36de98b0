package archtest

import (
	"fmt"
	"strings"
)

// door says which packages may import a module. Without packages any may.
type door struct {
	module   string
	packages []string // exactly these, not what lies below them
}

// doors is the table of LIBRARIES.md. Modules that only tests use are in testModules.
func doors() []door {
	return []door{
		{"charm.land", []string{"internal/tui"}},
		{"github.com/aymanbagabas/go-udiff", []string{"agent/tool/file"}},
		{"github.com/bmatcuk/doublestar", []string{"internal/glob"}},
		{"github.com/chromedp", []string{"agent/tool/browser"}},
		{"github.com/coder/acp-go-sdk", []string{"internal/acp"}},
		{"github.com/elastic/go-seccomp-bpf", []string{"internal/sandbox"}},
		{"github.com/fsnotify/fsnotify", []string{"internal/watch"}},
		{"github.com/gofrs/flock", []string{"internal/filelock"}},
		{"github.com/google/jsonschema-go", []string{"agent/tool"}},
		{"github.com/google/renameio", []string{"internal/atomicfile"}},
		{"github.com/landlock-lsm/go-landlock", []string{"internal/sandbox"}},
		{"github.com/modelcontextprotocol/go-sdk", []string{"agent/tool/mcp"}},
		{"github.com/nats-io/nats.go", []string{"internal/jetstream"}},
		{"github.com/robfig/cron", []string{"agent/tool/cron"}},
		{"github.com/rs/zerolog", []string{"internal/daemon"}},
		{"github.com/sashabaranov/go-openai", []string{"agent/provider"}},
		{"github.com/spf13", []string{"internal/cli"}},
		{"go.opentelemetry.io/otel", []string{"internal/telemetry"}},
		{"go.yaml.in/yaml", []string{"internal/strictyaml"}},
		{"golang.org/x/sync", nil},
		{"golang.org/x/sys", nil},
		{"golang.org/x/term", []string{"internal/cli", "internal/tui"}},
		{"golang.org/x/time", []string{"agent/provider"}},
		{"modernc.org/sqlite", []string{"internal/index"}},
		{"mvdan.cc/sh", []string{"agent/gateway/shell", "agent/tool/terminal"}},
	}
}

// testModules may be imported by test files and by packages for tests.
func testModules() []string {
	return []string{
		"github.com/anishathalye/porcupine", "github.com/creack/pty", "github.com/google/go-cmp",
		"github.com/nats-io/nats-server", "github.com/rogpeppe/go-internal", "go.uber.org/goleak", "pgregory.net/rapid",
	}
}

func doorRules() []Rule {
	return []Rule{{
		Name:   "door",
		Reason: "a library that enters by one door, which speaks our types, can be replaced in one place; a new one needs a row in the table",
		check:  checkDoors,
	}}
}

func checkDoors(t *Tree) (found []Violation) {
	for p, f := range t.source {
		for _, imp := range f.imports {
			if standard(imp.path) || t.local(imp.path) != "" {
				continue
			}
			if msg := judgeImport(p.path, imp.path); msg != "" {
				found = append(found, Violation{f.path, imp.line, msg})
			}
		}
	}
	return found
}

// judgeImport returns what is wrong with a third-party import, "" if nothing is.
func judgeImport(pkg, target string) string {
	for _, d := range doors() {
		if !under(target, d.module) {
			continue
		}
		if d.packages == nil {
			return ""
		}
		for _, allowed := range d.packages {
			if pkg == allowed {
				return ""
			}
		}
		return fmt.Sprintf("%s imports %s, whose door is %s", pkg, target, strings.Join(d.packages, " or "))
	}
	if under(target, testModules()...) {
		if forTests(pkg) {
			return ""
		}
		return fmt.Sprintf("%s imports %s, which is for tests", pkg, target)
	}
	return fmt.Sprintf("%s imports %s, which has no row in the table of doors", pkg, target)
}
