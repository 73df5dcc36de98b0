// Package outline lists what a source file declares: well enough to find one's way, no more.
package outline

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
)

// Entry is one declaration, or one heading of a Markdown file.
type Entry struct {
	Line int // from 1
	Text string
}

// Outliner knows the kinds of files. It never changes; any goroutine may use it.
type Outliner struct{ patterns map[string]*regexp.Regexp }

// New makes an Outliner.
func New() *Outliner { return &Outliner{patterns: linePatterns()} }

// Knows reports whether files with this extension can be outlined.
func (o *Outliner) Knows(ext string) bool { return o.patterns[ext] != nil }

// Of lists the declarations of a file with the extension ext; nothing for a kind it does not know. Go is parsed, also with
// errors in it, everything else judged line by line.
func (o *Outliner) Of(ext string, data []byte) []Entry {
	if ext == ".go" {
		if entries, ok := ofGo(data); ok {
			return entries
		}
	}
	pattern, ok := o.patterns[ext]
	if !ok {
		return nil
	}
	var entries []Entry
	for i, line := range bytes.Split(data, []byte("\n")) {
		if pattern.Match(line) {
			entries = append(entries, Entry{i + 1, strings.TrimRight(string(line), " \t{:\r")})
		}
	}
	return entries
}

// linePatterns are the lines that declare something, by extension.
func linePatterns() map[string]*regexp.Regexp {
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

func ofGo(data []byte) (entries []Entry, ok bool) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, "", data, parser.SkipObjectResolution)
	if tree == nil || err != nil && len(tree.Decls) == 0 {
		return nil, false
	}
	line := func(at token.Pos, format string, args ...any) {
		entries = append(entries, Entry{files.PositionFor(at, false).Line, fmt.Sprintf(format, args...)})
	}
	line(tree.Package, "package %s", tree.Name.Name)
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			line(d.Pos(), "%s", signature(data, files.PositionFor(d.Pos(), false).Offset, files.PositionFor(d.Type.End(), false).Offset))
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
	return entries, true
}

// signature is the text of a function up to its body, on one line. In a file with errors the tree's places may lie anywhere.
func signature(data []byte, from, to int) string {
	if from < 0 || from > len(data) {
		return "func"
	}
	if to < from || to > len(data) {
		to = from + bytes.IndexByte(append(data[from:len(data):len(data)], '\n'), '\n')
	}
	return strings.Join(strings.Fields(string(data[from:to])), " ")
}
