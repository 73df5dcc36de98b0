package board

import (
	"context"
	"slices"
)

// Check says of every name in the folder what the board makes of it, in numeric order, ignored names last. It changes
// nothing and needs no more than the right to read.
func (d *Dir) Check(ctx context.Context) ([]Checked, error) {
	if err := d.Settle(ctx); err != nil {
		return nil, err
	}
	entries, err := d.fs.ReadDir(d.cfg.Path)
	if err != nil {
		return nil, &FolderError{Path: d.cfg.Path, Reason: words(err), Err: err}
	}
	known := map[string]Entry{}
	for _, e := range d.List() {
		known[e.Path] = e
	}
	var list []Checked
	for _, name := range entries {
		if e, ok := known[d.path(name.Name())]; ok {
			list = append(list, e.checked(name.Name()))
			continue
		}
		reason := "not the name of a task file (task_N.json)"
		list = append(list, Checked{File: name.Name(), State: CheckIgnored, Reason: reason})
	}
	slices.SortStableFunc(list, func(a, b Checked) int {
		if ignored := rank(a) - rank(b); ignored != 0 {
			return ignored
		}
		return int(min(max(a.ID-b.ID, -1), 1))
	})
	return list, nil
}

func rank(c Checked) int {
	if c.State == CheckIgnored {
		return 1
	}
	return 0
}

func (e Entry) checked(file string) Checked {
	c := Checked{File: file, State: CheckAccepted, ID: e.ID, Ready: e.Readiness.Ready, Reason: e.Readiness.Reason}
	switch {
	case e.Err != nil:
		c.State = CheckInvalid
		c.Error = &CheckError{Line: e.Err.Line, Column: e.Err.Column, Message: e.Err.Reason}
	case e.Stale:
		c.State = CheckInvalid
		c.Error = &CheckError{Message: e.Readiness.Reason}
	}
	return c
}
