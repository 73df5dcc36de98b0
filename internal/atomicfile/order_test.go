package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

// diary writes down the calls that decide what a power cut leaves.
type diary struct {
	atomicfile.FS
	entries *[]string
}

type diaryFile struct {
	atomicfile.File
	note func(string)
	kind string
}

func (d diary) note(entry string) { *d.entries = append(*d.entries, entry) }

func (d diary) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	kind := "folder"
	if flag&os.O_CREATE != 0 {
		kind = "file"
	}
	return diaryFile{f, d.note, kind}, err
}

func (d diary) Rename(o, n string) error { d.note("rename"); return d.FS.Rename(o, n) }
func (d diary) Link(o, n string) error   { d.note("link"); return d.FS.Link(o, n) }
func (d diary) Remove(name string) error { d.note("remove"); return d.FS.Remove(name) }

func (f diaryFile) Write(p []byte) (int, error) { f.note("write " + f.kind); return f.File.Write(p) }
func (f diaryFile) Sync() error                 { f.note("sync " + f.kind); return f.File.Sync() }
func (f diaryFile) Close() error                { f.note("close " + f.kind); return f.File.Close() }

// A file must be on the disk before it gets its name, and the name before success is reported. No fault shows a missing
// sync, so the order itself is what is tested.
func TestOrderOfDurableWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, c := range []struct {
		name string
		run  func(atomicfile.FS) error
		want string
	}{
		{
			"Replace",
			func(d atomicfile.FS) error { return atomicfile.Replace(d, path, []byte("x"), 0o600) },
			"write file, sync file, close file, rename, sync folder, close folder",
		},
		{
			"CommitNew",
			func(d atomicfile.FS) error {
				s, err := atomicfile.Stage(d, path+"2", []byte("x"), 0o600)
				if err != nil {
					return err
				}
				return s.CommitNew()
			},
			"write file, sync file, close file, link, remove",
		},
	} {
		var entries []string
		if err := c.run(diary{atomicfile.OS(), &entries}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(entries, ", "); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}
