// Package app is the composition root: it alone constructs the concrete parts (board, mailboxes, trust, settings,
// gateway, loop, model clients) and hands them to whoever works with them. The daemon uses it, and so do the commands
// that work in process: run, tools call, task, send, runs.
//
// An App opens its parts when they are first asked for, so that a command pays for what it uses.
package app
