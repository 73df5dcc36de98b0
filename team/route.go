package team

import (
	"slices"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/inbox"
)

// Route decides into whose mailboxes a message goes on a team of the given members, and fills in what the sender left
// out: From is User, the kind message, or broadcast to All. All is every member but the sender, which may be nobody. A
// name that nobody has is an *UnknownNameError, the supervisor's a *NameError. No file is touched.
func Route(m *inbox.Message, members []autonomy.AgentName) ([]autonomy.AgentName, error) {
	if m.From == "" {
		m.From = User
	}
	if m.Kind == "" {
		m.Kind = inbox.KindMessage
		if m.To == All {
			m.Kind = inbox.KindBroadcast
		}
	}
	switch {
	case m.To == All:
		return slices.DeleteFunc(slices.Clone(members), func(n autonomy.AgentName) bool { return n == m.From }), nil
	case m.To == supervisorName:
		return nil, &NameError{Name: m.To, Reason: "the supervisor reads no mail"}
	case m.To == Lead, m.To == User, slices.Contains(members, m.To):
		return []autonomy.AgentName{m.To}, nil
	}
	valid := slices.Clone(members)
	for _, always := range []autonomy.AgentName{Lead, User, All} {
		if !slices.Contains(valid, always) {
			valid = append(valid, always)
		}
	}
	return nil, &UnknownNameError{Name: m.To, Valid: valid}
}
