package slash

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// Team writes the roster as /team and `team list` show it:
//
//	Team: default
//	alice (coder): working #2
//	bob (tester): shutdown
//
// A team that nobody was ever spawned into is "No teammates." alone.
func Team(w io.Writer, team control.Team, now time.Time) {
	if len(team.Members) == 0 {
		fmt.Fprintln(w, "No teammates.")
	} else {
		fmt.Fprintf(w, "Team: %s\n", visible.Line(team.Name))
	}
	for _, m := range team.Members {
		fmt.Fprintln(w, MemberLine(m, now))
	}
	if !team.Trust.Trusted && team.Trust.Why != "" {
		fmt.Fprintln(w, visible.Line(team.Trust.Why))
	}
}

// MemberLine is one line of Team: name, role, state, the task, and what a person should know of the state.
func MemberLine(m control.Member, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s", visible.Line(m.Name), visible.Line(m.Role), m.State)
	if m.Task != 0 {
		fmt.Fprintf(&b, " #%d", m.Task)
	}
	var notes []string
	if m.Reason != "" && telling(m.State) {
		notes = append(notes, visible.Clip(m.Reason, 120))
	}
	if !m.Until.IsZero() && m.Until.After(now) {
		notes = append(notes, "until "+m.Until.Local().Format(time.TimeOnly))
	}
	if len(notes) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(notes, ", "))
	}
	return b.String()
}

// telling reports whether the reason of a state is news to the person who reads it.
func telling(state string) bool {
	switch state {
	case "idle", "working", "backoff", "failed", "waiting_approval", "stopping":
		return true
	}
	return false
}

// Span renders a duration for people: "12 s", "3 min", "2 h".
func Span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
