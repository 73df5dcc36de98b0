package gateway

import (
	"fmt"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
)

// Policy decides about an assessed action. It asks nobody and remembers nothing.
type Policy interface {
	Decide(a action.Action, env tool.Env) Verdict
}

// Verdict is a decision with its reason, for the person who is asked and for the log.
type Verdict struct {
	Decision action.Decision
	Reason   string
}

// Mode is how much runs unasked.
type Mode string

// The modes. Full comes from the command line only.
const (
	ModeAsk      Mode = "ask"
	ModeAuto     Mode = "auto"
	ModeReadOnly Mode = "read-only"
	ModeFull     Mode = "full"
)

// ParseMode reads a mode; "" is auto.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case "":
		return ModeAuto, nil
	case ModeAsk, ModeAuto, ModeReadOnly, ModeFull:
		return m, nil
	}
	return "", fmt.Errorf("mode %q: there are ask, auto, read-only and full", s)
}

// Modes is the policy of a mode. effective says that commands are confined by a sandbox that may be relied on. An unknown
// mode decides like read-only.
func Modes(mode Mode, effective bool) Policy { return modes{mode, effective} }

type modes struct {
	mode      Mode
	effective bool
}

func (m modes) Decide(a action.Action, env tool.Env) Verdict {
	level := fmt.Sprintf("%s risk in mode %s", a.Risk, m.mode)
	ask, allow := Verdict{action.Ask, level + " needs a person's approval"}, Verdict{action.Allow, level}
	switch {
	case m.mode == ModeFull, a.Risk == action.Low:
		return allow
	case m.mode == ModeAsk:
		return ask
	case m.mode != ModeAuto:
		return Verdict{action.Deny, fmt.Sprintf("mode %s allows only what reads", m.mode)}
	case env.Person && (a.Risk == action.Medium || shell(a.Tool)):
		return Verdict{action.Allow, "the command of a person"}
	case a.Risk == action.Medium && m.effective:
		return allow
	case a.Risk == action.Medium:
		return Verdict{action.Ask, level + " without an effective sandbox needs a person's approval"}
	default:
		return ask
	}
}

// shell reports whether a tool runs shell text, every one of which counts as HIGH until a classifier judges it. A person's
// own is let through at that level for as long.
func shell(name string) bool { return name == "bash" || name == "process_start" }
