// Package archtest holds the rules of the house as checks over the source, each with its reason.
//
// ARCHITECTURE.md says why the house stands as it does; this package keeps it standing. The rules read the syntax only,
// all files whatever their build tags, so they need no compiler and see every platform at once. What the linker brings
// together is checked by a test that asks the go command.
package archtest

import (
	"cmp"
	"fmt"
	"slices"
)

// Rule is one check over a whole tree.
type Rule struct {
	Name   string // one or two words; planted violations in testdata carry it as their file name
	Reason string // what breaks without the rule, in one sentence
	check  func(*Tree) []Violation
}

// Violation is a place that breaks a rule.
type Violation struct {
	File string // slash-separated, from the root of the tree
	Line int    // from 1; 0 = the file as a whole
	Msg  string
}

// String returns "FILE:LINE: MSG".
func (v Violation) String() string {
	if v.Line == 0 {
		return fmt.Sprintf("%s: %s", v.File, v.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", v.File, v.Line, v.Msg)
}

// Check returns where t breaks the rule, in the order of files and lines.
func (r Rule) Check(t *Tree) []Violation {
	found := r.check(t)
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Msg, b.Msg))
	})
	return found
}

// Rules returns all rules.
func Rules() []Rule {
	return slices.Concat(importRules(), doorRules(), bannedRules(), shapeRules())
}
