// Package trust remembers what a person has agreed to: which workspaces may act, with which files, and which task files
// that came with git may be worked.
//
// The decisions are in the user's own folder, never in the workspace. A workspace is named by its real path, device and
// inode, so one that was moved or replaced is another one; a file that acts is named by its hash, so one that changed
// is inert until it is accepted again. Consent comes from the command line or the terminal alone.
package trust
