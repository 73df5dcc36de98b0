package app

import (
	"context"
	"fmt"
	"sync"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/tool/terminal"
	"github.com/autonomy-team/autonomy/internal/ulid"
)

// bell tells a run between two turns which of its processes have ended meanwhile. It is an agent.Mail for runs that get
// no other. ring is called on goroutines of the table of processes.
type bell struct {
	mu    sync.Mutex
	ended []terminal.Finished
}

func (b *bell) ring(f terminal.Finished) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = append(b.ended, f)
}

// Poll is part of agent.Mail.
func (b *bell) Poll(context.Context) (agent.Delivery, bool, error) {
	letters := b.letters()
	return agent.Delivery{Letters: letters}, len(letters) > 0, nil
}

// Interrupts is part of agent.Mail: no process is urgent.
func (b *bell) Interrupts() <-chan struct{} { return nil }

// letters are what rang since the last call.
func (b *bell) letters() (letters []agent.Letter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.ended {
		letters = append(letters, agent.Letter{
			ID: autonomy.MessageID(ulid.New()), Type: "process", From: fmt.Sprintf("process %d", f.ID), Content: f.Command + ": " + f.Text,
		})
	}
	b.ended = nil
	return letters
}
