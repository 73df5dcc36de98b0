package archtest

import (
	"go/ast"
	"slices"
	"strings"
)

func bannedRules() []Rule {
	return []Rule{
		{
			Name:   "init",
			Reason: "wiring that runs by itself costs every command its time and hides who built what",
			check:  checkInit,
		},
		{
			Name:   "state",
			Reason: "package-level state is shared by all teammates and all tests of a process",
			check:  checkState,
		},
		{
			Name:   "sleep",
			Reason: "a sleep cannot be cancelled and cannot be tested: wait for a timer and a context",
			check: func(t *Tree) []Violation {
				return t.calls(anywhere, func(pkg, name string) bool { return pkg == "time" && name == "Sleep" })
			},
		},
		{
			Name:   "background",
			Reason: "work under a context of its own outlives whoever asked for it",
			check: func(t *Tree) []Violation {
				return t.calls(func(p string) bool { return !under(p, "cmd", "internal/daemon") }, func(pkg, name string) bool {
					return pkg == "context" && (name == "Background" || name == "TODO")
				})
			},
		},
		{
			Name:   "error text",
			Reason: "the text of an error is for people and changes: match with errors.Is and errors.As",
			check:  checkErrorText,
		},
		{
			Name:   "panic",
			Reason: "a panic ends the work of every teammate in the process: return an error",
			check: func(t *Tree) []Violation {
				return t.calls(anywhere, func(pkg, name string) bool { return pkg == "" && name == "panic" })
			},
		},
		{
			Name:   "logger",
			Reason: "a library reports through a hook, and its user decides what becomes of it",
			check:  checkLogger,
		},
		{
			Name:   "pure",
			Reason: "what a thing is never asks the disk, the network or the clock: its tests need neither",
			check:  checkPure,
		},
	}
}

func anywhere(string) bool { return true }

// calls finds calls of pkg.name, or with an empty pkg of a plain name, in the packages that in accepts.
func (t *Tree) calls(in func(pkg string) bool, match func(pkg, name string) bool) (found []Violation) {
	for p, f := range t.source {
		if !in(p.path) || forTests(p.path) {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if pkg, name := callee(call); match(pkg, name) {
					found = append(found, Violation{f.path, t.line(call), "calls " + strings.TrimPrefix(pkg+"."+name, ".")})
				}
			}
			return true
		})
	}
	return found
}

// callee returns the parts of a called name. A value with the name of a package looks like one, which has not mattered.
func callee(call *ast.CallExpr) (pkg, name string) {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		if fun.Obj == nil { // else it is declared in this file
			return "", fun.Name
		}
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok && x.Obj == nil {
			return x.Name, fun.Sel.Name
		}
	}
	return "", ""
}

func checkInit(t *Tree) (found []Violation) {
	for _, f := range t.source {
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, Violation{f.path, t.line(fn), "has an init function"})
			}
		}
	}
	return found
}

// checkErrorText finds functions of package strings that look into err.Error().
func checkErrorText(t *Tree) (found []Violation) {
	searching := []string{"Contains", "ContainsAny", "EqualFold", "HasPrefix", "HasSuffix", "Index"}
	for _, f := range t.source {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			pkg, name := callee(call)
			if pkg == "strings" && slices.Contains(searching, name) && asksError(call.Args[0]) {
				found = append(found, Violation{f.path, t.line(call), "matches the text of an error"})
			}
			return true
		})
	}
	return found
}

// asksError reports whether an expression calls a method Error.
func asksError(e ast.Expr) (yes bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Error" && len(call.Args) == 0 {
				yes = true
			}
		}
		return true
	})
	return yes
}

func checkLogger(t *Tree) (found []Violation) {
	for p, f := range t.source {
		for _, imp := range f.imports {
			if (imp.path == "log" || imp.path == "log/slog") && p.path != "internal/daemon" {
				found = append(found, Violation{f.path, imp.line, p.path + " imports " + imp.path})
			}
		}
	}
	return found
}

// pureFiles are the files that say what a task and a message are. A package stands for all its files.
func pureFiles() []string {
	return []string{
		"agent/action",
		"board/class.go", "board/cycle.go", "board/graph.go", "board/name.go", "board/order.go", "board/parse.go",
		"board/parse_list.go", "board/parse_state.go", "board/readiness.go", "board/task.go", "board/transition.go",
		"inbox/encode.go", "inbox/line.go", "inbox/message.go", "inbox/name.go", "inbox/parse.go",
	}
}

func checkPure(t *Tree) (found []Violation) {
	for _, f := range t.source {
		if !under(f.path, pureFiles()...) {
			continue
		}
		for _, imp := range f.imports {
			if under(imp.path, "os", "net", "syscall", "io/ioutil") {
				found = append(found, Violation{f.path, imp.line, "imports " + imp.path})
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, sel.Sel.Name) {
					found = append(found, Violation{f.path, t.line(sel), "asks the clock by time." + sel.Sel.Name})
				}
			}
			return true
		})
	}
	return found
}
