package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// Grace is how long a command may take between SIGTERM and SIGKILL when its deadline passes or it is stopped.
const Grace = 2 * time.Second

// maxOrder bounds the order on the wire. A script may be 1 MiB; JSON escapes can make it six times as long.
const maxOrder = 8 << 20

// ErrNotStarted says that the command never began: the shell or program is missing, the folder does not exist, the
// order is invalid, or the parent went away first. Errors of Start and Run wrap it with the reason. One that the machine
// is to blame for is machine.InTrouble too.
var ErrNotStarted = errors.New("command not started")

// Order is one command to run. Exactly one of Argv and Script is set.
type Order struct {
	Argv   []string // program and arguments; the program is looked up on the PATH of Env
	Script string   // run by bash --noprofile --norc -c, or by sh -c where there is no bash
	Dir    string   // absolute
	Env    []string // the whole environment of the command; see Environ

	Timeout  time.Duration // from the start of the command; 0 = none
	Grace    time.Duration // 0 = the constant Grace
	ExecLock string        // file to hold locked, shared, while anything of the command lives; "" = none
	Limits   Limits
}

// Limits are resource limits of each process of the command; 0 leaves a limit as it is. Core dumps are always off.
type Limits struct {
	OpenFiles uint64
	FileSize  uint64 // bytes
	CPU       uint64 // seconds
}

func (o Order) validate() error {
	switch {
	case len(o.Argv) == 0 && o.Script == "":
		return fmt.Errorf("%w: neither Argv nor Script is set", ErrNotStarted)
	case len(o.Argv) > 0 && o.Script != "":
		return fmt.Errorf("%w: both Argv and Script are set", ErrNotStarted)
	case !filepath.IsAbs(o.Dir):
		return fmt.Errorf("%w: Dir %q is not absolute", ErrNotStarted, o.Dir)
	case o.Timeout < 0 || o.Grace < 0:
		return fmt.Errorf("%w: a negative duration", ErrNotStarted)
	}
	return nil
}

// writeOrder frames the order as a big-endian length of four bytes and JSON. Single control bytes may follow it.
func writeOrder(w io.Writer, o Order) error {
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode order: %w", err)
	}
	if len(body) > maxOrder {
		return fmt.Errorf("%w: the command is longer than %d bytes", ErrNotStarted, maxOrder)
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	_, err = w.Write(append(frame, body...))
	return err
}

func readOrder(r io.Reader) (Order, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return Order{}, fmt.Errorf("read order: %w", err)
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxOrder {
		return Order{}, fmt.Errorf("read order: %d bytes announced, at most %d allowed", n, maxOrder)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return Order{}, fmt.Errorf("read order: %w", err)
	}
	var o Order
	if err := json.Unmarshal(body, &o); err != nil {
		return Order{}, fmt.Errorf("read order: %w", err)
	}
	return o, o.validate()
}

// The control bytes that the parent may write after the order.
const (
	controlTerm = 'T' // SIGTERM to the group, after the grace SIGKILL to all
	controlKill = 'K' // SIGKILL to all at once
)

// ending says why the launcher began to end the command.
type ending string

const (
	endedItself ending = ""
	endedByTime ending = "deadline"
	endedByStop ending = "stopped"
)

// blame says whose fault it is that a command did not start.
type blame string

const (
	blameOrder   blame = ""
	blameMachine blame = "machine"
)

// report is one JSON line that the launcher writes on its status pipe: first that the command started (or why not),
// last how it ended, when nothing of it lives any more.
type report struct {
	PID    int    `json:"pid,omitempty"` // of the command; also its process group
	Error  string `json:"error,omitempty"`
	Blame  blame  `json:"blame,omitempty"` // of Error
	Final  bool   `json:"final,omitempty"`
	Exit   int    `json:"exit,omitempty"`
	Signal string `json:"signal,omitempty"`
	Ended  ending `json:"ended,omitempty"`
	Left   int    `json:"left,omitempty"`
}
