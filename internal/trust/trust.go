package trust

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/autonomy-team/autonomy/internal/config"
)

// State is what a person's consent to a workspace covers now.
type State struct {
	Trusted bool     `json:"trusted"`
	Why     string   `json:"why,omitempty"`     // what to do and why not, in words; "" when Trusted
	Changed []string `json:"changed,omitempty"` // files that would act and differ from what was accepted, or are new: they are inert. Sorted.

	accepted map[string]bool
}

// Acts reports whether the file at a path relative to the workspace may act.
func (s State) Acts(rel string) bool { return s.Trusted && s.accepted[rel] }

// Check compares a workspace with what was agreed to. It starts no program.
func (s *Store) Check(ws config.Workspace) (State, error) {
	e, why, err := s.of(ws)
	if err != nil {
		return State{}, fmt.Errorf("check trust: %w", err)
	}
	if why != "" {
		return State{Why: fmt.Sprintf("%v (%s)", ErrUntrusted, why)}, nil
	}
	files, err := actingFiles(ws)
	if err != nil {
		return State{}, fmt.Errorf("check trust: %w", err)
	}
	state := State{Trusted: true, accepted: map[string]bool{}}
	for _, f := range files {
		if hash, ok := e.Files[f.Path]; ok && hash == f.Hash {
			state.accepted[f.Path] = true
		} else {
			state.Changed = append(state.Changed, f.Path)
		}
	}
	return state, nil
}

// Listing is what a workspace would bring: what a person looks at before agreeing, and what Trust then records.
type Listing struct {
	Workspace config.Workspace
	State     State
	Files     []File // that would act
	Tasks     []Task // task files that git tracks
	Notes     []Note // what else a person should know: configuration of git that starts programs, recorded recipes
	device    uint64 // of the folder that was looked at
	inode     uint64
}

// File is one file that would act.
type File struct {
	Path     string `json:"path"` // relative to the workspace
	Size     int64  `json:"size"`
	Hash     string `json:"hash"`
	Accepted bool   `json:"accepted"` // as it is now
}

// Task is a task file that came with git.
type Task struct {
	Name     string   `json:"name"`
	Subject  string   `json:"subject"`
	Steps    []string `json:"steps,omitempty"` // commands and tools as a person would read them
	Verify   string   `json:"verify,omitempty"`
	Hash     string   `json:"hash"`
	Accepted bool     `json:"accepted"`
}

// Note is something to know before agreeing.
type Note struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

// Show lists what the workspace would bring. The only program it starts is git, with settings that run nothing of the
// workspace.
func (s *Store) Show(ctx context.Context, ws config.Workspace) (Listing, error) {
	l := Listing{Workspace: ws}
	fail := func(err error) (Listing, error) { return Listing{}, fmt.Errorf("show trust: %w", err) }
	info, err := os.Lstat(ws.Root)
	if err != nil {
		return fail(err)
	}
	l.device, l.inode = identity(info)
	if l.State, err = s.Check(ws); err != nil {
		return fail(err)
	}
	if l.Files, err = actingFiles(ws); err != nil {
		return fail(err)
	}
	for i := range l.Files {
		l.Files[i].Accepted = l.State.Acts(l.Files[i].Path)
	}
	e, _, err := s.of(ws)
	if err != nil {
		return fail(err)
	}
	if l.Tasks, err = trackedTasks(ctx, ws); err != nil {
		return fail(err)
	}
	for i := range l.Tasks {
		l.Tasks[i].Accepted = e.Tasks[l.Tasks[i].Name] == l.Tasks[i].Hash
	}
	l.Notes = notes(ctx, ws)
	return l, nil
}

// Trust records a person's consent to exactly what was listed: what changed since stays inert.
func (s *Store) Trust(ctx context.Context, l Listing) error {
	e := entry{
		Root: l.Workspace.Root, Device: l.device, Inode: l.inode, Trusted: time.Now().UTC().Truncate(time.Second),
		Files: map[string]string{}, Tasks: map[string]string{},
	}
	for _, f := range l.Files {
		e.Files[f.Path] = f.Hash
	}
	for _, t := range l.Tasks {
		e.Tasks[t.Name] = t.Hash
	}
	err := s.update(ctx, func(entries map[string]entry) error {
		if old, ok := entries[e.Root]; ok && old.Device == e.Device && old.Inode == e.Inode {
			kept := maps.Clone(old.Tasks) // accepted one by one, and perhaps of a branch that is not checked out now
			maps.Copy(kept, e.Tasks)
			e.Tasks = kept
		}
		entries[e.Root] = e
		return nil
	})
	if err != nil {
		return fmt.Errorf("trust %s: %w", e.Root, err)
	}
	return nil
}

// Revoke forgets a workspace, whether or not it still exists.
func (s *Store) Revoke(ctx context.Context, ws config.Workspace) error {
	err := s.update(ctx, func(entries map[string]entry) error {
		delete(entries, ws.Root)
		return nil
	})
	if err != nil {
		return fmt.Errorf("revoke trust of %s: %w", ws.Root, err)
	}
	return nil
}

// AcceptTask records a person's consent to one task file that came with git, by its Hash. The workspace must be
// trusted.
func (s *Store) AcceptTask(ctx context.Context, ws config.Workspace, name, hash string) error {
	_, why, err := s.of(ws)
	if err == nil && why != "" {
		err = fmt.Errorf("%w: %s", ErrUntrusted, why)
	}
	if err == nil {
		err = s.update(ctx, func(entries map[string]entry) error {
			e := entries[ws.Root]
			e.Tasks = maps.Clone(e.Tasks)
			if e.Tasks == nil {
				e.Tasks = map[string]string{}
			}
			e.Tasks[name] = hash
			entries[ws.Root] = e
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("accept %s: %w", name, err)
	}
	return nil
}

// TaskAccepted reports whether a person has accepted a task file with this hash.
func (s *Store) TaskAccepted(ws config.Workspace, name, hash string) (bool, error) {
	e, why, err := s.of(ws)
	return err == nil && why == "" && e.Tasks[name] == hash, err
}

// Workspaces lists the roots of all trusted workspaces.
func (s *Store) Workspaces() ([]string, error) {
	entries, err := s.entries()
	return slices.Sorted(maps.Keys(entries)), err
}
