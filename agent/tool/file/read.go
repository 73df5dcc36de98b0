package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/autonomy-team/autonomy/agent/tool"
)

// One read returns at most this many lines and bytes; the result says where to go on.
const (
	defaultLines = 2000
	maxBytes     = 45_000
)

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line, from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"number of lines, 2000 if absent"`
}

func readFile(w *dir) tool.Tool {
	return &op[readArgs]{
		w: w, name: "read_file",
		about: "Read a text file, or some of its lines. The last line of the result tells its revision.",
		paths: func(a readArgs) []string { return []string{a.Path} },
		run: func(w *dir, env tool.Env, a readArgs) (string, error) {
			return w.readText(env, a, maxBytes)
		},
	}
}

type readManyArgs struct {
	Paths []string `json:"paths" jsonschema:"files, at most 20"`
}

const maxPaths = 20

func readFiles(w *dir) tool.Tool {
	return &op[readManyArgs]{
		w: w, name: "read_files",
		about: "Read several text files at once, each from its beginning. What can't be read is said in its place.",
		paths: func(a readManyArgs) []string { return a.Paths },
		run: func(w *dir, env tool.Env, a readManyArgs) (string, error) {
			if len(a.Paths) == 0 || len(a.Paths) > maxPaths {
				return "", fmt.Errorf("paths: give 1 to %d", maxPaths)
			}
			var b strings.Builder
			failures := 0
			for _, path := range a.Paths {
				text, err := w.readText(env, readArgs{Path: path}, maxBytes/len(a.Paths))
				if err != nil {
					failures++
					text = "error: " + err.Error()
				}
				fmt.Fprintf(&b, "== %s ==\n%s\n", path, text)
			}
			if failures == len(a.Paths) {
				return b.String(), errors.New("none could be read")
			}
			return b.String(), nil
		},
	}
}

func (w *dir) readText(env tool.Env, a readArgs, room int) (string, error) {
	p, err := w.Locate(env, a.Path)
	if err != nil {
		return "", err
	}
	data, _, err := w.Read(p)
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", fmt.Errorf("%s: is binary (%d bytes); bash can look into it", a.Path, len(data))
	}
	if a.Offset < 0 || a.Limit < 0 {
		return "", errors.New("offset and limit count lines from 1")
	}
	first, limit := max(a.Offset, 1), a.Limit
	if limit == 0 {
		limit = defaultLines
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return fmt.Sprintf("[empty file; revision %s]", revision(data)), nil
	}
	if first > len(lines) {
		return "", fmt.Errorf("%s: has %d lines, offset %d is past its end", a.Path, len(lines), first)
	}
	var b strings.Builder
	last := first - 1
	for last < len(lines) && last-first+1 < limit {
		line := lines[last]
		if b.Len() > 0 && b.Len()+len(line) > room {
			break
		}
		b.Write(clipLine(line, room))
		last++
	}
	text := strings.ToValidUTF8(b.String(), "\uFFFD")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	trailer := fmt.Sprintf("[lines %d-%d of %d; revision %s]", first, last, len(lines), revision(data))
	if last < len(lines) {
		trailer = strings.TrimSuffix(trailer, "]") + fmt.Sprintf("; go on with offset %d]", last+1)
	}
	return text + trailer, nil
}

// clipLine cuts a line that alone is too long, as in minified files, and says so.
func clipLine(line []byte, room int) []byte {
	if len(line) <= room {
		return line
	}
	cut := room
	for cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return fmt.Appendf(nil, "%s[… %d bytes of this line left out]\n", line[:cut], len(line)-cut)
}

// revision is a short name of a content: the first twelve hex digits of its SHA-256.
func revision(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// stated finds the revision that a result of ours tells.
func stated(result string) string {
	i := strings.LastIndex(result, "revision ")
	if i < 0 || len(result) < i+len("revision ")+12 {
		return ""
	}
	return result[i+len("revision ") : i+len("revision ")+12]
}
