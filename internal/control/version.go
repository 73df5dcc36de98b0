package control

import "runtime/debug"

// Protocol is the version of the wire protocol; it is part of every path.
const Protocol = "v1"

// Version is the program's version as the Go tool stamped it: a tag, a pseudo-version with the commit, or "devel".
// Client and daemon compare it, because a daemon lives on when the program is replaced.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
