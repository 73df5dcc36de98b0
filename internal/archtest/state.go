package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// checkState finds package-level variables that are, or can only be meant to be, changed: those without a value, those
// that hold a lock, a counter, or something made empty, and those that some function assigns to. Tables, sentinel
// errors, compiled patterns and embedded files are constants that the language has no word for.
func checkState(t *Tree) (found []Violation) {
	for _, p := range t.packages {
		if forTests(p.path) {
			continue
		}
		names := map[string]bool{}
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, decl := range f.syntax.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok || gen.Tok != token.VAR {
					continue
				}
				for _, spec := range gen.Specs {
					found = append(found, t.declared(f, gen, spec.(*ast.ValueSpec), names)...)
				}
			}
		}
		for _, f := range p.files {
			if !f.test {
				found = append(found, t.assigned(f, names)...)
			}
		}
	}
	return found
}

// declared judges one declaration and notes its names.
func (t *Tree) declared(f *File, gen *ast.GenDecl, spec *ast.ValueSpec, names map[string]bool) (found []Violation) {
	embedded := hasEmbed(spec.Doc) || hasEmbed(gen.Doc)
	for i, name := range spec.Names {
		if name.Name == "_" {
			continue
		}
		names[name.Name] = true
		switch {
		case len(spec.Values) == 0 && !embedded:
			found = append(found, Violation{f.path, t.line(name), "variable " + name.Name + " has no value, so it is meant to get one"})
		case i < len(spec.Values) && isVessel(spec.Values[i]):
			found = append(found, Violation{f.path, t.line(name), "variable " + name.Name + " is made to be changed"})
		}
	}
	return found
}

func hasEmbed(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// isVessel reports whether a value is empty and waits to be filled: make, new, and types of sync and sync/atomic.
func isVessel(value ast.Expr) bool {
	switch v := value.(type) {
	case *ast.UnaryExpr:
		return isVessel(v.X)
	case *ast.CallExpr:
		pkg, name := callee(v)
		return pkg == "" && (name == "make" || name == "new") || pkg == "sync"
	case *ast.CompositeLit:
		if sel, ok := v.Type.(*ast.SelectorExpr); ok {
			x, ok := sel.X.(*ast.Ident)
			return ok && (x.Name == "sync" || x.Name == "atomic")
		}
		_, isMap := v.Type.(*ast.MapType)
		return isMap && len(v.Elts) == 0
	}
	return false
}

// assigned finds statements that change one of the package's variables.
func (t *Tree) assigned(f *File, names map[string]bool) (found []Violation) {
	judge := func(target ast.Expr) {
		if id := rootOf(target); id != nil && names[id.Name] && !f.isLocal(id) {
			found = append(found, Violation{f.path, t.line(target), "changes the package's variable " + id.Name})
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, target := range n.Lhs {
					judge(target)
				}
			}
		case *ast.IncDecStmt:
			judge(n.X)
		case *ast.CallExpr:
			if pkg, name := callee(n); pkg == "" && (name == "delete" || name == "clear") && len(n.Args) > 0 {
				judge(n.Args[0])
			}
		}
		return true
	})
	return found
}

// rootOf returns the variable that an assignment to e changes.
func rootOf(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.IndexExpr:
		return rootOf(e.X)
	case *ast.SelectorExpr:
		return rootOf(e.X)
	case *ast.StarExpr:
		return rootOf(e.X)
	case *ast.ParenExpr:
		return rootOf(e.X)
	}
	return nil
}

// isLocal reports whether a name was declared in a function: the parser resolves names within a file.
func (f *File) isLocal(id *ast.Ident) bool {
	return id.Obj != nil && f.syntax.Scope.Lookup(id.Name) != id.Obj
}
