package team

import (
	"fmt"
	"slices"

	"github.com/autonomy-team/autonomy"
)

// pending is what others told the supervisor since it last looked.
type pending struct {
	all   bool     // anything on the board may have changed
	files []string // these may have
	mail  []autonomy.AgentName
	ready []autonomy.TaskID // to be offered anew
}

// suggest adds to what is pending and wakes Serve. It never blocks.
func (s *Supervisor) suggest(add func(*pending)) {
	s.mu.Lock()
	add(&s.pending)
	s.mu.Unlock()
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// BoardHint says that files of the board may have changed; no name, or "", means any of them. The watcher calls it.
func (s *Supervisor) BoardHint(names ...string) {
	s.suggest(func(p *pending) {
		if len(names) == 0 || slices.Contains(names, "") {
			p.all = true
			return
		}
		p.files = append(p.files, names...)
	})
}

// MailHint says that a mailbox may have mail; "" means any. The watcher calls it.
func (s *Supervisor) MailHint(name autonomy.AgentName) {
	if name == User || name == All {
		return
	}
	s.suggest(func(p *pending) { p.mail = append(p.mail, name) })
}

// taskChanged says that we changed a task ourselves.
func (s *Supervisor) taskChanged(id autonomy.TaskID) {
	s.BoardHint(fmt.Sprintf("task_%d.json", id))
}

// look makes Serve see who is needed.
func (s *Supervisor) look() { s.suggest(func(*pending) {}) }
