package inbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/inbox"
)

// The test binary plays the other processes of a race: roleKey says which part, in the folder of dirKey.
const (
	roleKey = "INBOX_TEST_ROLE"
	dirKey  = "INBOX_TEST_DIR"
	nameKey = "INBOX_TEST_NAME"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleKey) {
	case "writer":
		exit(playWriter())
	case "reader":
		exit(playReader())
	}
	goleak.VerifyTestMain(m)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// playWriter sends 100 messages with each of 5 goroutines, which share writes, and prints the id of each that was
// acknowledged.
func playWriter() error {
	d, err := inbox.Open(inbox.Config{Path: os.Getenv(dirKey)})
	if err != nil {
		return err
	}
	bufio.NewReader(os.Stdin).ReadString('\n') // the start of the race
	ids, errs := make(chan autonomy.MessageID), make(chan error)
	for g := range 5 {
		go func() {
			from := autonomy.AgentName(fmt.Sprintf("%s-%d", os.Getenv(nameKey), g))
			for i := range 100 {
				m, err := d.Send(context.Background(), inbox.Message{From: from, To: "alice", Content: fmt.Sprint(i)})
				if err != nil {
					errs <- err
					return
				}
				ids <- m.ID
			}
			errs <- nil
		}()
	}
	for running := 5; running > 0; {
		select {
		case id := <-ids:
			fmt.Println(id)
		case err := <-errs:
			if err != nil {
				return err
			}
			running--
		}
	}
	return nil
}

// playReader is a teammate without a team: it appends each new id to its durable transcript, then acknowledges. It is
// killed from outside.
func playReader() error {
	d, err := inbox.Open(inbox.Config{Path: os.Getenv(dirKey)})
	if err != nil {
		return err
	}
	transcript := os.Getenv(nameKey)
	known := map[string]bool{}
	old, err := os.ReadFile(transcript)
	if err != nil {
		return err
	}
	for _, id := range strings.Fields(string(old[:strings.LastIndexByte(string(old), '\n')+1])) {
		known[id] = true
	}
	f, err := os.OpenFile(transcript, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		batch, err := d.Receive(context.Background(), "alice")
		if err != nil {
			return err
		}
		for _, m := range batch.Messages {
			if known[string(m.ID)] {
				continue
			}
			known[string(m.ID)] = true
			if _, err := fmt.Fprintln(f, m.ID); err != nil {
				return err
			}
			fmt.Println("took", m.ID)
		}
		if err := d.Ack(context.Background(), "alice", batch.Cursor); err != nil {
			return err
		}
	}
}
