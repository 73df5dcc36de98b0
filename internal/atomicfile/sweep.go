package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

const (
	randomBytes = 8
	tempSuffix  = ".tmp"
)

// IsTemporary reports whether a file name (not a path) has the form ".NAME.RANDOM.tmp" that Stage gives, RANDOM being 16
// lower-case hexadecimal digits.
func IsTemporary(name string) bool {
	rest, ok := strings.CutSuffix(name, tempSuffix)
	if !ok || !strings.HasPrefix(rest, ".") {
		return false
	}
	dot := strings.LastIndexByte(rest, '.')
	random := rest[dot+1:]
	return dot > 1 && len(random) == 2*randomBytes && strings.Trim(random, "0123456789abcdef") == ""
}

// Sweep removes the temporaries in dir that a crash left behind: regular files named by Stage and last changed more than
// olderThan before now. Files of others are never touched. It goes on after an error and returns all of them.
func Sweep(fsys FS, dir string, olderThan time.Duration, now time.Time) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("sweep temporaries: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		if !IsTemporary(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		info, err := fsys.Lstat(path)
		if err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > olderThan {
			err = fsys.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // its writer may have finished meanwhile
			errs = append(errs, fmt.Errorf("sweep temporaries: %w", err))
		}
	}
	return errors.Join(errs...)
}
