// Package board says what a task is, which tasks are ready and why the others are not, and lets exactly one member
// claim each.
//
// A board is a folder of files task_N.json. The files are the only truth: people, scripts and agents may drop, edit and
// delete them at any time. The pure part of the package (Parse, Readiness, Eligible, Graph, the transitions) knows no
// disk and no clock. Dir is the adapter: it keeps one snapshot of a folder, parses only what changed, and writes by
// compare-and-swap under a side lock. The file format is docs/formats/task.md.
package board
