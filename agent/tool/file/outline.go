package file

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/autonomy-team/autonomy/agent/tool"
)

func outline(w *workspace) tool.Tool {
	patterns := outlinePatterns()
	return &op[pathArgs]{
		w: w, name: "outline",
		about: "List what a source file declares (or the headings of a Markdown file) with line numbers.",
		paths: func(a pathArgs) []string { return []string{a.Path} },
		run: func(w *workspace, env tool.Env, a pathArgs) (string, error) {
			p, err := w.locate(env, a.Path)
			if err != nil {
				return "", err
			}
			data, _, err := w.read(p)
			if err != nil {
				return "", err
			}
			text := outlineOf(filepath.Ext(p.rel), data, patterns)
			if text == "" {
				return "[nothing found to list]", nil
			}
			return text, nil
		},
	}
}

func outlineOf(ext string, data []byte, patterns map[string]*regexp.Regexp) string {
	if ext == ".go" {
		if text, ok := outlineGo(data); ok {
			return text
		}
	}
	pattern, ok := patterns[ext]
	if !ok {
		return ""
	}
	var b strings.Builder
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxFile)
	for n := 1; lines.Scan(); n++ {
		if pattern.Match(lines.Bytes()) {
			fmt.Fprintf(&b, "%d: %s\n", n, strings.TrimRight(lines.Text(), " \t{:\r"))
		}
	}
	return b.String()
}

// outlinePatterns are the lines that declare something, by extension. They are good enough to find one's way, no more.
func outlinePatterns() map[string]*regexp.Regexp {
	script := `^\s*(export\s+)?(default\s+)?(abstract\s+)?(async\s+)?(function|class|interface|enum|type|namespace)\b|^(export\s+)?const\s+\w+\s*=\s*(async\s*)?(\(|function)`
	braces := `^\s*(public|private|protected|internal|static|final|abstract|open|override|data|sealed|partial|\s)*(class|interface|enum|record|struct|object|fun|namespace)\s+\w+`
	c := `^(typedef\s+)?(struct|enum|union|class|namespace)\s+\w+|^[A-Za-z_][\w\s*:<>,&~]*\([^;]*$`
	sources := map[string]string{
		".go": `^(func|type|const|var|package)\b`, ".py": `^\s*(async\s+def|def|class)\s`, ".rb": `^\s*(def|class|module)\s`,
		".rs": `^\s*(pub(\([^)]*\))?\s+)?(async\s+|unsafe\s+|const\s+)*(fn|struct|enum|trait|impl|mod|macro_rules!|type)\b`,
		".js": script, ".jsx": script, ".mjs": script, ".ts": script, ".tsx": script,
		".java": braces, ".kt": braces, ".cs": braces, ".swift": `^\s*(public|private|open|static|final|\s)*(class|struct|enum|protocol|extension|func)\s`,
		".c": c, ".h": c, ".cc": c, ".cpp": c, ".hpp": c, ".php": `^\s*(abstract|final|public|private|protected|static|\s)*(function|class|interface|trait)\s`,
		".sh": `^\s*(function\s+)?[\w-]+\s*\(\)`, ".md": `^#{1,6}\s`, ".sql": `(?i)^\s*create\s`, ".proto": `^\s*(message|service|enum|rpc)\s`,
	}
	patterns := make(map[string]*regexp.Regexp, len(sources))
	for ext, source := range sources {
		patterns[ext] = regexp.MustCompile(source)
	}
	return patterns
}

// outlineGo lists the declarations of a Go file, also of one with errors as far as it could be read.
func outlineGo(data []byte) (string, bool) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, "", data, parser.SkipObjectResolution)
	if tree == nil || err != nil && len(tree.Decls) == 0 {
		return "", false
	}
	var b strings.Builder
	line := func(at token.Pos, format string, args ...any) {
		fmt.Fprintf(&b, "%d: %s\n", files.Position(at).Line, fmt.Sprintf(format, args...))
	}
	line(tree.Package, "package %s", tree.Name.Name)
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			end := d.Type.End()
			line(d.Pos(), "%s", strings.Join(strings.Fields(string(data[files.Position(d.Pos()).Offset:files.Position(end).Offset])), " "))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					line(s.Pos(), "type %s", s.Name.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						line(name.Pos(), "%s %s", d.Tok, name.Name)
					}
				}
			}
		}
	}
	return b.String(), true
}
