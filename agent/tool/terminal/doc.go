// Package terminal is the toolset that runs commands: bash for one command to its end, process_start and its companions
// for a process that stays while the agent goes on.
//
// Every command runs under the launcher of internal/sandbox, with an environment made from an allow-list. Until the shell
// classifier judges what a command does, each counts as HIGH.
package terminal
