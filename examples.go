package autonomy

import "embed"

// Examples is the example board: .tasks.example/task_N.json, a chain, a diamond, a role, checks and a task that needs a
// model. It is what `autonomy init --examples` copies and what `autonomy demo` works.
//
//go:embed .tasks.example/task_*.json
var Examples embed.FS
