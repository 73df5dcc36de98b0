package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// MaxOutput is how many characters of a result reach the model; the whole goes to a file.
const MaxOutput = 50_000

// Cap shortens content to MaxOutput characters, head and tail, and writes the whole to a new file in dir, whose path it
// returns. A file that cannot be written is an error beside the shortened text.
func Cap(content, dir string) (short, file string, err error) {
	if len(content) <= MaxOutput {
		return content, "", nil
	}
	runes := utf8.RuneCountInString(content)
	if runes <= MaxOutput {
		return content, "", nil
	}
	head, tail := cutAt(content, MaxOutput/2), content
	for skip := runes - MaxOutput/2; skip > 0; skip-- {
		_, size := utf8.DecodeRuneInString(tail)
		tail = tail[size:]
	}
	short = fmt.Sprintf("%s\n[… %d characters left out …]\n%s", head, runes-MaxOutput, tail)
	f, err := ResultFile(dir)
	if err != nil {
		return short, "", err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return short, "", fmt.Errorf("write result file: %w", err)
	}
	return short, f.Name(), nil
}

// cutAt is the first n characters.
func cutAt(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// ResultFile makes a new file for a large result in dir, with a name nobody can predict, readable by its owner only.
func ResultFile(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make results folder: %w", err)
	}
	f, err := os.CreateTemp(dir, "result-*.txt")
	if err != nil {
		return nil, fmt.Errorf("make result file: %w", err)
	}
	return f, nil
}

// Results is the folder of large results in a workspace.
func Results(workspace string) string { return filepath.Join(workspace, ".autonomy", "results") }
