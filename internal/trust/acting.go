package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/autonomy-team/autonomy/internal/config"
)

const (
	maxActing     = 5_000   // files that may act
	maxActingSize = 4 << 20 // bytes of one; a larger one does not act
)

// actors are the places of a workspace from which something acts, relative to it: files, or folders with all below.
var actors = [...]string{
	".autonomy/config.yaml", ".autonomy/roles", ".autonomy/skills", ".agents/skills", ".claude/skills",
}

// actingFiles lists the files that would act, sorted. Links are none: nothing reads through them, so they are left out
// and what they point to does not act. Neither does a file that is too large to be a text.
func actingFiles(ws config.Workspace) ([]File, error) {
	var files []File
	for _, actor := range actors {
		start := filepath.Join(ws.Root, filepath.FromSlash(actor))
		if linked, err := throughLink(ws.Root, actor); err != nil || linked {
			if err != nil {
				return nil, err
			}
			continue
		}
		err := filepath.WalkDir(start, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if len(files) == maxActing {
				return fmt.Errorf("%s: more than %d files would act", ws.Root, maxActing)
			}
			f, err := hashFile(path)
			if err != nil || f.Size > maxActingSize {
				return err
			}
			rel, err := filepath.Rel(ws.Root, path)
			f.Path = filepath.ToSlash(rel)
			files = append(files, f)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// throughLink reports whether a part of the way to an actor is a link.
func throughLink(root, actor string) (bool, error) {
	at := root
	for part := range strings.SplitSeq(actor, "/") {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return true, nil
		}
	}
	return false, nil
}

func hashFile(path string) (f File, err error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(file, maxActingSize+1))
	return File{Size: n, Hash: hex.EncodeToString(h.Sum(nil))}, err
}

// TaskHash names a state of the fields of a task file that people own, as board.PeopleFields gives them: what the board
// itself writes into the file changes nothing in it.
func TaskHash(name string, people []byte) string {
	h := sha256.New()
	h.Write([]byte(name))
	h.Write([]byte{0})
	h.Write(people)
	return hex.EncodeToString(h.Sum(nil))
}
