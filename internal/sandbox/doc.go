// Package sandbox runs every command of the program under a launcher of ours, so that nothing a command starts outlives
// it, and nothing outlives the program.
//
// The program starts itself again as a hidden command, the launcher. Its order arrives on an inherited pipe, never in
// argv or the environment, where other processes could read it. The launcher is the subreaper of all its descendants:
// when the command ends, when its deadline passes, or when the parent's end of the pipe closes (also by kill -9), it
// kills the command's process group and then every descendant that was re-parented to it, until none is left.
//
// Confinement of files and network (Landlock, seccomp, namespaces) belongs between the launcher's set-up and the start
// of the command: see confine. Today it does nothing, and Reach says so.
package sandbox
