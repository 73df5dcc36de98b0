package board

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/autonomy-team/autonomy"
)

// Refresh brings the snapshot up to date. Without names it is the poll: it looks at the folder and at known files (see
// Config.Watched). With names, which a file event gave, it looks at these alone; a name is a hint, and one that is no
// task file is ignored.
//
// A *FolderError says that the folder cannot be used; the last snapshot stays. Trouble with single files is no error of
// the whole: it stands in their entries and was reported. Changes is meaningful in either case.
func (d *Dir) Refresh(ctx context.Context, names ...string) (Changes, error) {
	defer d.deliver()
	var err error
	if len(names) == 0 {
		err = d.full(ctx, passPoll, !d.cfg.Watched())
	} else if err = d.load(ctx); err == nil {
		err = d.hints(ctx, names)
	}
	return d.collect(), err
}

// Recheck looks at what is due before the next poll (see Changes.Next) and costs nothing if that is nothing. Callers
// also use it after Finish, to hear at once what became ready by it.
func (d *Dir) Recheck(ctx context.Context) (Changes, error) {
	defer d.deliver()
	now := d.cfg.Now()
	var due []target
	d.mu.Lock()
	for id := range d.doubts {
		if r := d.index.records[id]; r != nil && r.doubt.looks == 1 && now.Sub(r.doubt.since) >= recheckAfter {
			due = append(due, target{id: id, read: true})
		}
	}
	d.index.advance(now)
	d.mu.Unlock()
	err := d.lookAll(ctx, due, passHint)
	d.searchArchive(false)
	return d.collect(), err
}

// Settle is Refresh for those who look once: everything is read, files that do not parse and are younger than ten
// seconds get a second look after 100 ms, and what still does not parse is reported as invalid.
func (d *Dir) Settle(ctx context.Context) error {
	defer d.deliver()
	if err := d.full(ctx, passPoll, true); err != nil {
		return err
	}
	now := d.cfg.Now()
	var doubtful []target
	fresh := false
	d.mu.Lock()
	for id := range d.doubts {
		doubtful = append(doubtful, target{id: id, read: true})
		if r := d.index.records[id]; r != nil {
			fresh = fresh || now.Sub(time.Unix(0, r.doubt.stamp.mtime)) < 10*time.Second
		}
	}
	d.mu.Unlock()
	if fresh {
		if err := pause(ctx, recheckAfter); err != nil {
			return err
		}
	}
	err := d.lookAll(ctx, doubtful, passFinal)
	d.searchArchive(false)
	return err
}

// pause waits for a short time or for the end of ctx.
func pause(ctx context.Context, span time.Duration) error {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hints looks at the files that events named.
func (d *Dir) hints(ctx context.Context, names []string) error {
	var targets []target
	for _, name := range names {
		name = filepath.Base(name)
		id, isTask, bad := ParseName(name)
		switch {
		case !isTask:
		case bad != nil:
			d.hintOdd(name, id, bad)
		default:
			targets = append(targets, target{id: id})
		}
	}
	err := d.lookAll(ctx, targets, passHint)
	d.searchArchive(false)
	return err
}

// hintOdd looks at a file whose name gives no id.
func (d *Dir) hintOdd(name string, id autonomy.TaskID, bad *InvalidError) {
	_, err := d.fs.Lstat(d.path(name))
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(err, fs.ErrNotExist) {
		delete(d.odd, name)
		return
	}
	d.meetOdd(name, id, bad)
}

// meetOdd notes a file whose name gives no id; mu is held.
func (d *Dir) meetOdd(name string, id autonomy.TaskID, bad *InvalidError) {
	if o := d.odd[name]; o != nil {
		o.list = d.listing
		return
	}
	bad.Path = d.path(name)
	d.odd[name] = &oddity{err: bad, list: d.listing}
	d.index.highest = max(d.index.highest, id)
	d.tell(NoticeInvalid, bad.Path, 0, bad.Reason)
}

// collect hands out what happened since it was last asked.
func (d *Dir) collect() Changes {
	now := d.cfg.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.index.advance(now)
	c := Changes{Lost: d.lost, Next: d.index.due()}
	d.lost = nil
	var ready []*record
	for id := range d.index.newly {
		if r := d.index.records[id]; r != nil && r.ready {
			ready = append(ready, r)
		}
	}
	d.index.newly = map[autonomy.TaskID]bool{} // clearing a set costs what it cost when it was largest
	slices.SortFunc(ready, func(a, b *record) int { return Compare(a.task, b.task) })
	for _, r := range ready {
		c.Ready = append(c.Ready, r.id)
	}
	for id := range d.changed {
		c.Changed = append(c.Changed, id)
	}
	d.changed = map[autonomy.TaskID]bool{}
	slices.Sort(c.Changed)
	for id := range d.doubts {
		r := d.index.records[id]
		if r == nil || r.doubt.looks != 1 {
			continue // left to the polls
		}
		if at := r.doubt.since.Add(recheckAfter); c.Next.IsZero() || at.Before(c.Next) {
			c.Next = at
		}
	}
	return c
}
