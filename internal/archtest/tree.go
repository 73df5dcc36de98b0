package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Tree is the source of a module.
type Tree struct {
	fsys     fs.FS
	module   string
	fset     *token.FileSet
	packages map[string]*Package
	texts    map[string][]byte // every text file, Go source included
}

// Package is a folder with Go files. Test files belong to it, whichever package clause they have.
type Package struct {
	path  string // from the root of the module; "." is the root package
	files []*File
}

// File is one Go file.
type File struct {
	path    string
	test    bool
	syntax  *ast.File
	imports []imported
}

type imported struct {
	path string
	line int
}

// Load reads the module called module whose root folder is fsys. Hidden folders, testdata, and the separate module of
// the tools are left out.
func Load(fsys fs.FS, module string) (*Tree, error) {
	t := &Tree{fsys: fsys, module: module, fset: token.NewFileSet(), packages: map[string]*Package{}, texts: map[string][]byte{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(name) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !isText(name) {
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		t.texts[name] = data
		if path.Ext(name) != ".go" {
			return nil
		}
		return t.add(name, data)
	})
	if err != nil {
		return nil, fmt.Errorf("load source: %w", err)
	}
	return t, nil
}

func skipped(dir string) bool {
	switch base := path.Base(dir); base {
	case ".", ".ci", ".tasks.example":
		return false
	case "testdata", "bin", "dist", "node_modules":
		return true
	default:
		return dir == "tools" || strings.HasPrefix(base, ".")
	}
}

func isText(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".json", ".yaml", ".yml", ".sh", ".html", ".css", ".js", ".txt":
		return true
	}
	return path.Base(name) == "Makefile" || path.Dir(name) == ".ci"
}

func (t *Tree) add(name string, data []byte) error {
	syntax, err := parser.ParseFile(t.fset, name, data, parser.ParseComments)
	if err != nil {
		return err
	}
	f := &File{path: name, test: strings.HasSuffix(name, "_test.go"), syntax: syntax}
	for _, spec := range syntax.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		f.imports = append(f.imports, imported{target, t.line(spec)})
	}
	dir := path.Dir(name)
	if t.packages[dir] == nil {
		t.packages[dir] = &Package{path: dir}
	}
	t.packages[dir].files = append(t.packages[dir].files, f)
	return nil
}

func (t *Tree) line(n ast.Node) int { return t.fset.Position(n.Pos()).Line }

// lines counts the lines of a text.
func lines(text []byte) int { return bytes.Count(text, []byte("\n")) }

// source yields every file that is not a test.
func (t *Tree) source(yield func(*Package, *File) bool) {
	for _, p := range t.packages {
		for _, f := range p.files {
			if !f.test && !yield(p, f) {
				return
			}
		}
	}
}

// local returns the path within the module of an import, "" if it is not one of ours.
func (t *Tree) local(target string) string {
	if target == t.module {
		return "."
	}
	rest, ok := strings.CutPrefix(target, t.module+"/")
	if !ok {
		return ""
	}
	return rest
}

// forTests reports whether a package exists for the tests of others, such as a conformance suite.
func forTests(pkg string) bool { return strings.HasSuffix(pkg, "test") }

// under reports whether pkg is one of the packages or lies below one of them.
func under(pkg string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return pkg == root || strings.HasPrefix(pkg, root+"/")
	})
}
