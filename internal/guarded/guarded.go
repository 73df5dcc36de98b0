// Package guarded says which files of a workspace are more than files: those in which the program keeps its own state,
// those that make other programs run code or agents follow instructions, and those that hold secrets. It looks at names
// alone and opens nothing; callers resolve links first and ask about the result too.
package guarded

import (
	"path"
	"slices"
	"strings"
)

// Class is what is special about a path.
type Class struct {
	State     bool // below .tasks, .team or .autonomy: written by our own code only
	Protected bool // writing it may run code or steer agents, also where it does not exist yet
	Secret    bool // reading it may reveal a secret
}

// Of classes a slash-separated path relative to the workspace. The worst of all its parts counts, at any depth, because
// folders below may be repositories or homes of their own. Names are compared as the most lenient file system would.
func Of(rel string) Class {
	var c Class
	parts := strings.Split(path.Clean(strings.ReplaceAll(rel, `\`, "/")), "/")
	for i, part := range parts {
		parts[i] = Fold(part)
	}
	if len(parts) > 0 {
		c.State = oneOf(parts[0], stateFolders)
	}
	for i, name := range parts {
		c.Protected = c.Protected || oneOf(name, protectedNames)
		c.Secret = c.Secret || oneOf(name, secretNames) || secretPattern(name)
		for _, tail := range protectedTails {
			c.Protected = c.Protected || begins(parts[i:], tail)
		}
		for _, tail := range secretTails {
			c.Secret = c.Secret || begins(parts[i:], tail)
		}
	}
	return c
}

// begins reports whether the folded parts start with the slash-separated names.
func begins(parts []string, names string) bool {
	want := strings.Split(names, "/")
	return len(parts) >= len(want) && slices.Equal(parts[:len(want)], want)
}

// oneOf compares a folded name with names, also by the short form (GIT~1) that some file systems give.
func oneOf(name string, names []string) bool {
	if slices.Contains(names, name) {
		return true
	}
	stem, number, short := strings.Cut(name, "~")
	if !short || len(number) != 1 || len(stem) < 2 {
		return false
	}
	return slices.ContainsFunc(names, func(n string) bool {
		bare := strings.ReplaceAll(n, ".", "")
		return strings.HasPrefix(bare, stem) && (len(stem) == 6 || len(stem) == len(bare))
	})
}
