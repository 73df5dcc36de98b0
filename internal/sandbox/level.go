package sandbox

// Level says how far commands are confined.
type Level string

// The levels, from SECURITY: Full adds namespaces to Kernel; Kernel is a file sandbox and both system-call filters.
const (
	Full    Level = "full"
	Kernel  Level = "kernel"
	Partial Level = "partial"
	None    Level = "none"
)

// Effective reports whether a MEDIUM action may run unasked at this level.
func (l Level) Effective() bool { return l == Full || l == Kernel }

// Reach reports the level commands get on this system and what stays open, for doctor, /team and run_started.
func Reach() (Level, string) {
	return None, "files and network are not confined; " + cleanUp
}
