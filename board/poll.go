package board

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"

	"github.com/autonomy-team/autonomy"
)

// target is a file to look at: by its stamp, or whatever its stamp says.
type target struct {
	id   autonomy.TaskID
	read bool
}

// full is one regular look at the board. all asks for the stamp of every known file.
func (d *Dir) full(ctx context.Context, p pass, all bool) error {
	d.polling.Lock()
	defer d.polling.Unlock()
	targets, err := d.survey()
	if err != nil {
		return err
	}
	reread := false
	if d.cfg.Gate != nil {
		gen := d.cfg.Gate.Generation()
		reread = d.loaded && gen != d.gateGen
		d.gateGen = gen
	}
	targets = d.known(targets, all || reread, reread)
	if err := d.lookAll(ctx, targets, p); err != nil {
		return err
	}
	d.searchArchive(d.archiveChanged())
	d.loaded = true
	return nil
}

// statFolder looks at the board's folder, which must be one, and not a link to one.
func (d *Dir) statFolder() (fileStamp, error) {
	info, err := d.fs.Lstat(d.cfg.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fileStamp{}, &FolderError{Path: d.cfg.Path, Reason: "does not exist", Err: err}
	case err != nil:
		return fileStamp{}, &FolderError{Path: d.cfg.Path, Reason: words(err), Err: err}
	case info.Mode()&fs.ModeSymlink != 0:
		return fileStamp{}, &FolderError{Path: d.cfg.Path, Reason: "is a symbolic link"}
	case !info.IsDir():
		return fileStamp{}, &FolderError{Path: d.cfg.Path, Reason: "is not a folder"}
	}
	return stampOf(info), nil
}

// survey lists the folder if it has changed, and returns the files that came or went.
func (d *Dir) survey() ([]target, error) {
	stamp, err := d.statFolder()
	if err != nil {
		return nil, err
	}
	if stamp == d.folder && !stamp.young(d.listed) {
		return nil, nil
	}
	at := d.cfg.Now()
	entries, err := d.fs.ReadDir(d.cfg.Path)
	if err != nil {
		return nil, &FolderError{Path: d.cfg.Path, Reason: words(err), Err: err}
	}
	d.folder, d.listed = stamp, at
	return d.compare(entries), nil
}

// compare finds the differences between a listing and the snapshot.
func (d *Dir) compare(entries []fs.DirEntry) []target {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listing++
	var targets []target
	for _, entry := range entries {
		id, isTask, bad := ParseName(entry.Name())
		if !isTask {
			continue
		}
		if bad != nil {
			d.meetOdd(entry.Name(), id, bad)
		} else if r := d.index.records[id]; r != nil {
			r.list = d.listing
		} else {
			targets = append(targets, target{id: id, read: true})
		}
	}
	for id, r := range d.index.records {
		if r.list != d.listing {
			targets = append(targets, target{id: id, read: true})
		}
	}
	for name, o := range d.odd {
		if o.list != d.listing {
			delete(d.odd, name)
		}
	}
	return targets
}

// known adds the files to look at again: those that were left open, and all or the next share of the others.
func (d *Dir) known(targets []target, all, read bool) []target {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.revisit {
		targets = append(targets, target{id: id, read: true})
	}
	ids := d.index.sorted()
	if len(d.revisit) == 0 {
		d.revisit = map[autonomy.TaskID]bool{} // it may have been large once, and going through it would stay so
	}
	share := len(ids)
	if !all {
		share = min(share, (share*int(d.cfg.Poll/1e6)+int(rotation/1e6)-1)/int(rotation/1e6))
	}
	start := 0
	if share < len(ids) {
		start = after(ids, d.cursor)
	}
	for i := range share {
		id := ids[(start+i)%len(ids)]
		d.cursor = id
		if !d.revisit[id] {
			targets = append(targets, target{id: id, read: read})
		}
	}
	return targets
}

// lookAll looks at files, several at a time where there are many. The error is that of ctx.
func (d *Dir) lookAll(ctx context.Context, targets []target, p pass) error {
	const batch = 64 // not worth a goroutine
	workers := min(runtime.GOMAXPROCS(0), (len(targets)+batch-1)/batch)
	if workers <= 1 {
		return d.lookEach(ctx, targets, p)
	}
	var wg sync.WaitGroup
	each := (len(targets) + workers - 1) / workers
	for from := 0; from < len(targets); from += each {
		part := targets[from:min(from+each, len(targets))]
		wg.Go(func() { _ = d.lookEach(ctx, part, p) }) // its error is that of ctx
	}
	wg.Wait()
	return ctx.Err()
}

func (d *Dir) lookEach(ctx context.Context, targets []target, p pass) error {
	for _, t := range targets {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.read || d.differs(t.id) {
			d.look(t.id, p)
		}
	}
	return nil
}

// differs reports whether the stamp of a file says that it must be read.
func (d *Dir) differs(id autonomy.TaskID) bool {
	d.mu.Lock()
	r := d.index.records[id]
	var known fileStamp
	if r != nil {
		known = r.stamp
	}
	open := r == nil || d.revisit[id]
	d.mu.Unlock()
	if open {
		return true
	}
	info, err := d.fs.Lstat(d.path(FileName(id)))
	return err != nil || stampOf(info) != known
}
