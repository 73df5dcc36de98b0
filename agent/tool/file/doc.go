// Package file is the toolset that reads and changes the files of the workspace.
//
// Every call goes through one os.Root on the workspace, so that no name and no link leads out of it. Links inside are
// resolved first, and what a path is allowed to be is decided by where it really leads (package guarded): the folders in
// which the program keeps its state are never written, protected and secret files are HIGH. What was opened is checked
// again by its descriptor, because names may change between two looks.
package file
