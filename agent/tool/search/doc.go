// Package search is the toolset that finds text, files and declarations in the workspace.
//
// Which files there are is git's answer where there is a repository, so that its ignore rules hold exactly; elsewhere a
// walk that leaves out the usual folders of caches and dependencies. Secret files and the program's own state are never
// searched: to read one is a call of its own, for which a person may be asked.
package search
