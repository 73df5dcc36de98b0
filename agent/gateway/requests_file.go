package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/ulid"
)

// maxRequest bounds a request's file. Arguments may hold the text of a whole file that is to be written.
const maxRequest = 4 << 20

// keepAnswered is how long a request that is over stays known.
const keepAnswered = time.Hour

func (r *Requests) file(id string) string { return filepath.Join(r.cfg.Path, id+".json") }

// save puts a request on disk durably: people must find it there, and its answer, after a power cut.
func (r *Requests) save(q Request) error {
	data, err := json.MarshalIndent(q, "", "  ")
	if err != nil {
		return fmt.Errorf("encode request %s: %w", q.ID, err)
	}
	if err := r.cfg.FS.MkdirAll(r.cfg.Path, 0o700); err != nil {
		return fmt.Errorf("make requests folder: %w", err)
	}
	if err := atomicfile.Replace(r.cfg.FS, r.file(q.ID), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("save request %s: %w", q.ID, err)
	}
	return nil
}

// load takes over what was open and removes the rest. A yes that was not used is such a rest: it does not outlive the
// daemon it was given to.
func (r *Requests) load() error {
	files, err := r.cfg.FS.ReadDir(r.cfg.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list requests: %w", err)
	}
	var errs []error
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || !ulid.Valid(id) {
			continue
		}
		errs = append(errs, r.loadOne(id))
	}
	return errors.Join(errs...)
}

func (r *Requests) loadOne(id string) error {
	data, _, err := atomicfile.ReadFile(r.cfg.FS, r.file(id), maxRequest)
	if err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	var q Request
	if err := json.Unmarshal(data, &q); err != nil {
		return fmt.Errorf("read request %s: %w", r.file(id), err)
	}
	if q.State != Open || !r.cfg.Now().Before(q.ExpiresAt) {
		if err := r.cfg.FS.Remove(r.file(id)); err != nil {
			return fmt.Errorf("remove request: %w", err)
		}
		return nil
	}
	q.ID, q.By, q.Feedback = id, "", ""
	if limit := r.cfg.Now().Add(r.cfg.Expiry); q.ExpiresAt.After(limit) {
		q.ExpiresAt = limit
	}
	q.Arguments = canonical(q.Arguments)
	r.entries[id] = &entry{Request: q, answered: make(chan struct{})}
	return nil
}

// canonical makes arguments comparable, however they were written.
func canonical(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return nil
	}
	c, err := action.Canonical(args)
	if err != nil {
		return args
	}
	return c
}

// prune forgets what was answered long ago, in memory and on disk. Until then a late answer is told who was first.
func (r *Requests) prune(now time.Time) {
	for id, e := range r.entries {
		if e.waiters == 0 && now.Sub(e.ExpiresAt) > keepAnswered {
			delete(r.entries, id)
			_ = r.cfg.FS.Remove(r.file(id)) // what stays is removed at the next start
		}
	}
}
