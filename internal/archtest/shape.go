package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	maxFile     = 600 // lines
	maxFunction = 80  // lines
)

func shapeRules() []Rule {
	return []Rule{
		{
			Name:   "package comment",
			Reason: "whoever opens a package first wants to know what it is",
			check:  checkPackageComment,
		},
		{
			Name:   "package name",
			Reason: "a package is named after what it holds; a drawer for everything holds nothing",
			check:  checkPackageName,
		},
		{
			Name:   "file length",
			Reason: fmt.Sprintf("a file over %d lines hides an idea that deserves a name", maxFile),
			check:  checkFileLength,
		},
		{
			Name:   "function length",
			Reason: fmt.Sprintf("a function over %d lines does not fit a screen or a mind", maxFunction),
			check:  checkFunctionLength,
		},
		{
			Name:   "machine path",
			Reason: "the project must read and run the same on every machine",
			check:  checkMachinePath,
		},
		{
			Name:   "link",
			Reason: "a link that leads nowhere tells the reader that nobody reads here",
			check:  checkLinks,
		},
	}
}

func checkPackageComment(t *Tree) (found []Violation) {
	for _, p := range t.packages {
		var first *File
		commented := false
		for _, f := range p.files {
			if f.test {
				continue
			}
			if first == nil {
				first = f
			}
			want := "Package " + f.syntax.Name.Name + " "
			if f.syntax.Name.Name == "main" {
				want = "Command " + path.Base(p.path) + " "
			}
			commented = commented || strings.HasPrefix(f.syntax.Doc.Text(), want)
		}
		if first != nil && !commented {
			found = append(found, Violation{File: first.path, Msg: "package " + p.path + " has no package comment"})
		}
	}
	return found
}

func checkPackageName(t *Tree) (found []Violation) {
	drawers := []string{"base", "common", "helper", "helpers", "lib", "misc", "model", "models", "shared", "util", "utils"}
	for p, f := range t.source {
		if slices.Contains(drawers, path.Base(p.path)) || slices.Contains(drawers, f.syntax.Name.Name) {
			found = append(found, Violation{f.path, t.line(f.syntax.Name), "package is named " + f.syntax.Name.Name})
		}
	}
	return found
}

func checkFileLength(t *Tree) (found []Violation) {
	for _, p := range t.packages {
		for _, f := range p.files {
			if n := lines(t.texts[f.path]); n > maxFile {
				found = append(found, Violation{File: f.path, Msg: fmt.Sprintf("has %d lines", n)})
			}
		}
	}
	return found
}

// checkFunctionLength looks at all functions with a name. Those in test files count too, tables of cases apart, which
// are data: a function's composite literals are taken off its length there.
func checkFunctionLength(t *Tree) (found []Violation) {
	for _, p := range t.packages {
		for _, f := range p.files {
			for _, decl := range f.syntax.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				n := t.length(fn)
				if f.test {
					n -= t.tables(fn)
				}
				if n > maxFunction {
					found = append(found, Violation{f.path, t.line(fn), fmt.Sprintf("function %s has %d lines", fn.Name.Name, n)})
				}
			}
		}
	}
	return found
}

// length is the number of lines of a node, comments above it not counted.
func (t *Tree) length(n ast.Node) int {
	return t.fset.Position(n.End()).Line - t.fset.Position(n.Pos()).Line + 1
}

// tables is the number of lines within the outermost composite literals of a function.
func (t *Tree) tables(fn *ast.FuncDecl) (sum int) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			sum += t.length(lit) - 1
			return false
		}
		return true
	})
	return sum
}

// checkMachinePath looks for personal folders of the machines on which the project was written, in every text file.
func checkMachinePath(t *Tree) (found []Violation) {
	// In two pieces, so that the rule does not find itself.
	pattern := regexp.MustCompile(`(^|[^\w.*~}-])/(` + `root/\w+|home/\w+/go|Users/\w+` + `)\b`)
	for name, text := range t.texts {
		for i, line := range bytes.Split(text, []byte("\n")) {
			if m := pattern.Find(line); m != nil {
				found = append(found, Violation{name, i + 1, fmt.Sprintf("names the machine path %q", bytes.TrimSpace(m))})
			}
		}
	}
	return found
}

// checkLinks looks for relative links in Markdown whose file is not there. Anchors and other sites are not followed.
func checkLinks(t *Tree) (found []Violation) {
	link := regexp.MustCompile(`\]\(([^)\s#]+)(#[^)\s]*)?\)`)
	for name, text := range t.texts {
		if path.Ext(name) != ".md" {
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				target := path.Join(path.Dir(name), m[1])
				if strings.Contains(m[1], ":") {
					continue
				}
				if _, err := fs.Stat(t.fsys, target); err != nil {
					found = append(found, Violation{name, i + 1, "links to " + m[1] + ", which is not there"})
				}
			}
		}
	}
	return found
}
