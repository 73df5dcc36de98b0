package terminal

import (
	"path/filepath"
	"strings"

	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/guarded"
)

// writesState finds a redirect whose target, as it is written, lies in a folder of the program's own state. Like stateful
// it knows the plain form only and is no gate.
func writesState(command string, env tool.Env) bool {
	var quote rune
	for i, r := range command {
		switch {
		case quote == '\'' && r != quote, i > 0 && command[i-1] == '\\':
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == '>':
			if inState(target(command[i+1:]), env) {
				return true
			}
		}
	}
	return false
}

// target is the word after a redirect, without its quotes.
func target(rest string) string {
	rest = strings.TrimLeft(strings.TrimLeft(rest, ">|&"), " \t")
	if end := strings.IndexAny(rest, " \t\n;&|<>()"); end >= 0 {
		rest = rest[:end]
	}
	return strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(rest)
}

func inState(path string, env tool.Env) bool {
	if path == "" {
		return false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	rel, err := filepath.Rel(env.Workspace, path)
	return err == nil && filepath.IsLocal(rel) && guarded.Of(filepath.ToSlash(rel)).State
}
