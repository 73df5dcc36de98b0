package watch

import (
	"fmt"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// stub is a source that a test feeds.
type stub struct {
	events  chan fsnotify.Event
	errors  chan error
	failAdd error
	added   []string
}

func newStub() *stub {
	return &stub{events: make(chan fsnotify.Event), errors: make(chan error)}
}

func (s *stub) Add(dir string) error {
	if s.failAdd != nil {
		return s.failAdd
	}
	s.added = append(s.added, dir)
	return nil
}
func (s *stub) Remove(string) error           { return nil }
func (s *stub) Events() <-chan fsnotify.Event { return s.events }
func (s *stub) Errors() <-chan error          { return s.errors }
func (s *stub) Close() error                  { return nil }

// fed makes a listener over one stub.
func fed(t *testing.T, s *stub, dirs ...string) *listener {
	return listen(t, func(w *Watcher) { w.open = func() (source, error) { return s, nil } }, dirs...)
}

// drain returns the hints that have come.
func (l *listener) drain() (names []string) {
	for len(l.hints) > 0 {
		names = append(names, (<-l.hints).name)
	}
	return names
}

func TestRepeatsAreHeldBack(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newStub()
		l := fed(t, s, dir)
		event := func(name string) { s.events <- fsnotify.Event{Name: filepath.Join(dir, name), Op: fsnotify.Write} }
		expect := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			if got := l.drain(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: hints %q, want %q", when, got, want)
			}
		}
		expect("at the start", "")
		event("a")
		expect("first event, at once", "a")
		event("a")
		event("a")
		event("b")
		expect("repeats wait, another name does not", "b")
		time.Sleep(window - time.Millisecond)
		expect("just before the end of the window")
		time.Sleep(time.Millisecond)
		expect("end of the window", "a")
		event("a")
		expect("the trailing hint opened a window too")
		time.Sleep(window)
		expect("its end", "a")
		time.Sleep(10 * window)
		expect("nothing follows")
		event("a")
		expect("first again", "a")
	})
}

func TestLostEventsMeanScanEverything(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newStub()
		l := fed(t, s, first, second)
		synctest.Wait()
		time.Sleep(window)
		l.drain()
		s.errors <- fsnotify.ErrEventOverflow
		synctest.Wait()
		if got := l.drain(); len(got) != 2 || got[0] != "" || got[1] != "" {
			t.Errorf("hints %q", got)
		}
		if len(s.added) != 4 {
			t.Errorf("folders were added %d times, want each again", len(s.added))
		}
		if st := l.State(); !st.Events {
			t.Errorf("state %+v", st)
		}
	})
}

func TestLimitsLeadToPollingWithOneReason(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for name, c := range map[string]struct {
		open, add error
		want      string
	}{
		"instances": {open: syscall.EMFILE, want: "max_user_instances"},
		"watches":   {add: syscall.ENOSPC, want: "max_user_watches"},
	} {
		t.Run(name, func(t *testing.T) {
			s, openErr := newStub(), c.open
			s.failAdd = c.add
			l := listen(t, func(w *Watcher) {
				w.open = func() (source, error) {
					if openErr != nil {
						return nil, fmt.Errorf("open: %w", openErr)
					}
					return s, nil
				}
			}, first, second)
			l.expectState(false, c.want)
			for range 3 {
				l.Poll()
			}
			l.mu.Lock()
			openErr, s.failAdd = nil, nil
			l.mu.Unlock()
			l.Poll()
			l.expectState(true, "") // the three polls before said nothing new
			l.expect(first, "")
		})
	}
}

func TestSourceThatEndsIsOpenedAgain(t *testing.T) {
	dir := t.TempDir()
	dying := newStub()
	sources := []source{dying, newStub()}
	l := listen(t, func(w *Watcher) {
		w.open = func() (source, error) {
			s := sources[0]
			sources = sources[1:]
			return s, nil
		}
	}, dir)
	l.expectState(true, "")
	l.expect(dir, "")
	close(dying.events)
	l.expectState(false, "ended")
	l.Poll()
	l.expectState(true, "")
	l.expect(dir, "")
}
