package archtest

import (
	"fmt"
	"strings"
)

// mechanisms are the packages that know how and never what: they import nothing of ours but each other.
func mechanisms() []string {
	return []string{
		"internal/atomicfile", "internal/filelock", "internal/glob", "internal/machine", "internal/strictjson",
		"internal/strictyaml", "internal/ulid", "internal/visible", "internal/watch",
	}
}

// faces are the packages that show the team to a person and pass on what the person says.
func faces() []string { return []string{"internal/slash", "internal/tui", "internal/web"} }

// tops are the packages that put the parts together; nothing below may know them.
func tops() []string {
	return append(faces(), "cmd", "internal/app", "internal/cli", "internal/control", "internal/daemon", "internal/doctor")
}

func importRules() []Rule {
	return []Rule{
		{
			Name:   "face",
			Reason: "a face executes nothing: it speaks to the control API, so that every way to the team passes the same checks",
			check: func(t *Tree) []Violation {
				return t.reach(faces(), func(p string) bool { return under(p, "agent", "team") })
			},
		},
		{
			Name:   "agent needs",
			Reason: "agent states its needs as one-method interfaces, so that its tests need only fakes",
			check: func(t *Tree) []Violation {
				return t.reach([]string{"agent"}, func(p string) bool {
					return under(p, "board", "inbox", "team", "agent/gateway", "agent/provider", "internal/eventlog")
				})
			},
		},
		{
			Name:   "tool",
			Reason: "a tool is something that the loop may use, so it must not know the loop",
			check: func(t *Tree) []Violation {
				return t.reach(t.below("agent/tool"), func(p string) bool { return p == "agent" || under(p, "team") })
			},
		},
		{
			Name:   "mechanism",
			Reason: "a mechanism that knows the domain cannot be understood, tested or replaced without it",
			check: func(t *Tree) []Violation {
				return t.reach(t.below(mechanisms()...), func(p string) bool { return !under(p, mechanisms()...) })
			},
		},
		{
			Name:   "store",
			Reason: "board, inbox and skills are stores: a second implementation must not drag in who uses them",
			check: func(t *Tree) []Violation {
				return t.reach(t.below("board", "inbox", "skills"), func(p string) bool {
					return under(p, append(tops(), "team", "agent")...)
				})
			},
		},
		{
			Name:   "downwards",
			Reason: "imports run one way, from main to the identifiers, so that a part can be read without what stands above it",
			check: func(t *Tree) []Violation {
				return t.reach(t.below("team", "agent"), func(p string) bool { return under(p, tops()...) })
			},
		},
		{
			Name:   "composition",
			Reason: "only the composition root and those who run it construct concrete parts",
			check: func(t *Tree) []Violation {
				return t.onlyFrom("internal/app", "internal/cli", "internal/daemon", "internal/doctor")
			},
		},
		{
			Name:   "main",
			Reason: "main makes the context and the exit code, lets the launcher of commands step in first, and leaves the rest to internal/cli",
			check:  checkMain,
		},
		{
			Name:   "root",
			Reason: "everything imports the root package, so it may import nothing but the standard library",
			check:  checkRoot,
		},
		{
			Name:   "testing",
			Reason: "package testing adds its flags and weight to the program",
			check:  checkTesting,
		},
	}
}

// below returns the packages of the tree at or under the roots.
func (t *Tree) below(roots ...string) (found []string) {
	for p := range t.packages {
		if under(p, roots...) && !forTests(p) {
			found = append(found, p)
		}
	}
	return found
}

// reach finds the imports by which a package of from gets, directly or not, to one that is forbidden. The place is the
// first step, the message the whole way.
func (t *Tree) reach(from []string, forbidden func(pkg string) bool) (found []Violation) {
	for _, start := range from {
		p := t.packages[start]
		if p == nil {
			continue
		}
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, imp := range f.imports {
				if way := t.way(t.local(imp.path), forbidden, map[string]bool{start: true}); way != nil {
					found = append(found, Violation{f.path, imp.line, start + " → " + strings.Join(way, " → ")})
				}
			}
		}
	}
	return found
}

// way returns a chain of imports from pkg, itself included, to one that is forbidden.
func (t *Tree) way(pkg string, forbidden func(string) bool, seen map[string]bool) []string {
	if pkg == "" || seen[pkg] {
		return nil
	}
	seen[pkg] = true
	if forbidden(pkg) {
		return []string{pkg}
	}
	p := t.packages[pkg]
	if p == nil {
		return nil
	}
	for _, f := range p.files {
		if f.test {
			continue
		}
		for _, imp := range f.imports {
			if rest := t.way(t.local(imp.path), forbidden, seen); rest != nil {
				return append([]string{pkg}, rest...)
			}
		}
	}
	return nil
}

// onlyFrom finds imports of target by packages that are not listed.
func (t *Tree) onlyFrom(target string, importers ...string) (found []Violation) {
	for p, f := range t.source {
		for _, imp := range f.imports {
			if t.local(imp.path) == target && p.path != target && !under(p.path, importers...) && !forTests(p.path) {
				found = append(found, Violation{f.path, imp.line, fmt.Sprintf("%s imports %s", p.path, target)})
			}
		}
	}
	return found
}

func checkMain(t *Tree) (found []Violation) {
	for p, f := range t.source {
		for _, imp := range f.imports {
			target := t.local(imp.path)
			if under(p.path, "cmd") && target != "" && target != "internal/cli" && target != "internal/sandbox" {
				found = append(found, Violation{f.path, imp.line, "main imports " + target})
			}
			if target == "internal/cli" && !under(p.path, "cmd", "internal/cli") {
				found = append(found, Violation{f.path, imp.line, p.path + " imports internal/cli"})
			}
		}
	}
	return found
}

func checkRoot(t *Tree) (found []Violation) {
	for p, f := range t.source {
		for _, imp := range f.imports {
			if p.path == "." && (t.local(imp.path) != "" || !standard(imp.path)) {
				found = append(found, Violation{f.path, imp.line, "the root package imports " + imp.path})
			}
		}
	}
	return found
}

func checkTesting(t *Tree) (found []Violation) {
	for p, f := range t.source {
		for _, imp := range f.imports {
			if (imp.path == "testing" || strings.HasPrefix(imp.path, "testing/")) && !forTests(p.path) {
				found = append(found, Violation{f.path, imp.line, p.path + " imports " + imp.path})
			}
			if target := t.local(imp.path); forTests(target) && !forTests(p.path) {
				found = append(found, Violation{f.path, imp.line, p.path + " imports " + target + ", which is for tests"})
			}
		}
	}
	return found
}

// standard reports whether an import is of the standard library: its first element has no dot.
func standard(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	return !strings.Contains(first, ".")
}
