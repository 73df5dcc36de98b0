package eventlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// rotatedName is the name of a full file: PATH.FIRST, where FIRST is the sequence number of its first record in 12
// digits, so that names sort in the order of the records.
func rotatedName(path string, first int64) string { return fmt.Sprintf("%s.%012d", path, first) }

// aside returns the files of a log that were put aside, oldest first, as the numbers of their first records.
func aside(fsys atomicfile.FS, path string) ([]int64, error) {
	entries, err := fsys.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var found []int64
	for _, entry := range entries {
		number, ok := strings.CutPrefix(entry.Name(), filepath.Base(path)+".")
		first, err := strconv.ParseInt(number, 10, 64)
		if ok && err == nil && rotatedName(path, first) == filepath.Join(filepath.Dir(path), entry.Name()) {
			found = append(found, first)
		}
	}
	slices.Sort(found)
	return found, nil
}

// part is one open file of a log.
type part struct {
	path    string
	file    atomicfile.File
	current bool // not put aside when it was opened
}

// openNext opens the file of a log that holds the first record after seq: fs.ErrNotExist if there is none and no
// current file. The current file is opened before the folder is listed, so that one which is put aside meanwhile is
// seen under one of its names; a log that has only its first file, the usual case, costs no listing.
func openNext(fsys atomicfile.FS, path string, seq int64) (part, error) {
	now := part{path: path, current: true}
	var first int64
	f, missing := openRead(fsys, path)
	if missing == nil {
		now.file = f
		var err error
		if first, err = firstSeq(f); err != nil {
			return part{}, errors.Join(err, f.Close())
		}
		if first == seq+1 {
			return now, nil
		}
	} else if !errors.Is(missing, fs.ErrNotExist) {
		return part{}, missing
	}
	numbers, err := aside(fsys, path)
	if err != nil {
		return part{}, errors.Join(err, now.close())
	}
	for _, number := range numbers {
		if number <= seq || first > 0 && number >= first {
			continue
		}
		old := part{path: rotatedName(path, number)}
		old.file, err = openRead(fsys, old.path)
		return old, errors.Join(err, now.close())
	}
	return now, missing
}

func (p part) close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// firstSeq returns the sequence number of the first record of a file, 0 if the file is empty, and 1 for what is no
// record: reading it will say so.
func firstSeq(f io.ReaderAt) (int64, error) {
	head := make([]byte, len(seqKey)+20)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if n == 0 {
		return 0, nil
	}
	rest, _ := strings.CutPrefix(string(head[:n]), seqKey)
	digits, _, _ := strings.Cut(rest, ",")
	seq, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || seq < 1 {
		return 1, nil
	}
	return seq, nil
}

// openRead opens a file of a log: a regular one, never through a link.
func openRead(fsys atomicfile.FS, path string) (atomicfile.File, error) {
	return openFile(fsys, path, os.O_RDONLY)
}

func openFile(fsys atomicfile.FS, path string, flag int) (atomicfile.File, error) {
	f, err := fsys.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file (%s)", path, info.Mode().Type())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
