package inbox

import (
	"strings"

	"github.com/autonomy-team/autonomy"
)

// Names that are not teammates. Lead and User always have a mailbox.
const (
	Lead autonomy.AgentName = "lead"
	User autonomy.AgentName = "user"
)

const maxName = 32 // bytes

// CheckName returns a *NameError unless name can have a mailbox: ^[a-z][a-z0-9_-]{0,31}$ and neither "all", which the
// team expands to its members, nor "supervisor", which reads no mail. Whether a member of that name exists is for the
// team to know.
func CheckName(name autonomy.AgentName) error {
	s := string(name)
	if reason := badName(s); reason != "" {
		return &NameError{Name: s, Reason: reason}
	}
	return nil
}

func badName(s string) string {
	switch s {
	case "":
		return "a name is required"
	case "all":
		return "stands for every member and has no mailbox of its own"
	case "supervisor":
		return "reserved; the supervisor reads no mail"
	}
	if len(s) > maxName {
		return "longer than 32 characters"
	}
	for i := range len(s) {
		c := s[i]
		inner := c >= '0' && c <= '9' || c == '_' || c == '-'
		if c >= 'a' && c <= 'z' || inner && i > 0 {
			continue
		}
		if lower := strings.ToLower(s); lower != s && badName(lower) == "" {
			return "names are lower case: " + lower
		}
		return "a name is a letter from a to z, then letters, digits, - and _"
	}
	return ""
}
