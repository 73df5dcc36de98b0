package file

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/outline"
)

func outlineFile(w *dir) tool.Tool {
	outliner := sync.OnceValue(outline.New) // compiling the patterns costs more than most uses of the toolset
	return &op[pathArgs]{
		w: w, name: "outline",
		about: "List what a source file declares (or the headings of a Markdown file) with line numbers.",
		paths: func(a pathArgs) []string { return []string{a.Path} },
		run: func(w *dir, env tool.Env, a pathArgs) (string, error) {
			p, err := w.Locate(env, a.Path)
			if err != nil {
				return "", err
			}
			data, _, err := w.Read(p)
			if err != nil {
				return "", err
			}
			var b strings.Builder
			for _, e := range outliner().Of(filepath.Ext(p.Rel), data) {
				fmt.Fprintf(&b, "%d: %s\n", e.Line, e.Text)
			}
			if b.Len() == 0 {
				return "[nothing found to list]", nil
			}
			return b.String(), nil
		},
	}
}
