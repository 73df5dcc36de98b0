package watch

import "github.com/fsnotify/fsnotify"

// notify is fsnotify as a source. Its errors are taken off by a goroutine of its own: fsnotify may report one while it
// holds the mutex that Add needs, and whoever waits in Add could not listen.
type notify struct {
	w      *fsnotify.Watcher
	errors chan error // holds one; every error means the same, that events were lost
	done   chan struct{}
}

func openNotify() (source, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	n := &notify{w: w, errors: make(chan error, 1), done: make(chan struct{})}
	go n.drain()
	return n, nil
}

// drain ends when Close closes the channel of errors.
func (n *notify) drain() {
	defer close(n.done)
	for err := range n.w.Errors {
		select {
		case n.errors <- err:
		default:
		}
	}
}

func (n *notify) Add(dir string) error          { return n.w.Add(dir) }
func (n *notify) Remove(dir string) error       { return n.w.Remove(dir) }
func (n *notify) Events() <-chan fsnotify.Event { return n.w.Events }
func (n *notify) Errors() <-chan error          { return n.errors }

func (n *notify) Close() error {
	err := n.w.Close()
	<-n.done
	return err
}

// silent is the source while there is none: its channels are nil and never ready.
type silent struct{}

func (silent) Add(string) error              { return nil }
func (silent) Remove(string) error           { return nil }
func (silent) Events() <-chan fsnotify.Event { return nil }
func (silent) Errors() <-chan error          { return nil }
func (silent) Close() error                  { return nil }
