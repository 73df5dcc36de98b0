package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What keeps a command from starting here is a launcher that is not there, as while the program is being replaced. To the
// team it is the same as no descriptors or no processes left.
func TestMachineInTroubleCostsTheTaskNothing(t *testing.T) {
	s := newSite(t)
	s.start(testOptions{
		Spawn: coders("alice"), Poll: 200 * time.Millisecond, Program: filepath.Join(s.ws.Root, "not-there"),
	})
	c := s.dial()
	s.drop(1, map[string]any{"steps": []any{"touch ran"}})
	eventually(t, "alice rests and says why", 30*time.Second, func() bool {
		team, err := c.Team(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return team.Members[0].State == "backoff" && strings.Contains(team.Members[0].Reason, "start launcher")
	})
	got := s.read(1)
	if got.Status != "pending" || got.Owner != "" || got.Failure != nil && got.Failure.Count > 0 {
		t.Errorf("task = %+v, want it released uncounted", got)
	}
	if _, err := os.Stat(filepath.Join(s.ws.Root, "ran")); err == nil {
		t.Error("a step ran without its launcher")
	}
}
