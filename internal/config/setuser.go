package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/strictyaml"
)

// ModelChoice is the part of the user's settings that says which model is used. An empty field is removed.
type ModelChoice struct{ Provider, Model, BaseURL string }

// ErrNotEdited says that the user's settings are written in a way that is left to a person to edit.
var ErrNotEdited = errors.New("cannot be changed line by line; edit it by hand")

// SetModel writes a choice into the user's config.yaml, which is made (0600, its folder 0700) if need be. Every other
// line stays as it is. The result is read before it takes the file's place, so a file that was valid stays so.
func SetModel(path string, c ModelChoice) error {
	src, info, err := atomicfile.ReadFile(atomicfile.OS(), path, strictyaml.MaxSize)
	perm := fs.FileMode(0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("save the model: %w", err)
	default:
		perm = info.Mode().Perm()
	}
	if _, err := readFile(path); err != nil {
		return fmt.Errorf("save the model: %w", err)
	}
	next := src
	for _, f := range [...]struct{ name, value string }{
		{"provider", c.Provider}, {"model", c.Model}, {"base_url", c.BaseURL},
	} {
		next = setLine(next, f.name, f.value)
	}
	var got File
	if err := strictyaml.Decode(next, path, &got); err != nil || got.choice() != c {
		return fmt.Errorf("save the model: %s: %w", path, ErrNotEdited)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("save the model: %w", err)
	}
	if err := atomicfile.Replace(atomicfile.OS(), path, next, perm); err != nil {
		return fmt.Errorf("save the model: %w", err)
	}
	return nil
}

// UserModel is the choice that the user's config.yaml makes by itself; a file that does not exist makes none.
func UserModel(path string) (ModelChoice, error) {
	f, err := readFile(path)
	return f.choice(), err
}

// UserProviders is what the user's config.yaml changes of the providers' rows.
func UserProviders(path string) (map[string]Provider, error) {
	f, err := readFile(path)
	return f.Providers, err
}

func (f *File) choice() ModelChoice {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return ModelChoice{Provider: text(f.Provider), Model: text(f.Model), BaseURL: text(f.BaseURL)}
}

// setLine replaces the line of a top-level field, appends it, or removes it when value is empty.
func setLine(src []byte, name, value string) []byte {
	mine := regexp.MustCompile(`^` + name + `\s*:`)
	line := name + ": " + strconv.Quote(value) + "\n" // a Go string of printable text is a YAML one
	var out bytes.Buffer
	done := value == ""
	for old := range bytes.Lines(src) {
		if !mine.Match(old) {
			out.Write(old)
			if !bytes.HasSuffix(old, []byte("\n")) {
				out.WriteByte('\n')
			}
			continue
		}
		if !done {
			out.WriteString(line)
			done = true
		}
	}
	if !done {
		out.WriteString(line)
	}
	return out.Bytes()
}
