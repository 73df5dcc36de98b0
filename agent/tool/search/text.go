package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/glob"
)

const (
	defaultMatches = 200
	maxMatches     = 1000
	maxContext     = 20
	maxLine        = 300 // characters of a line that are shown
)

type textArgs struct {
	Pattern    string `json:"pattern" jsonschema:"what to find"`
	Literal    bool   `json:"literal,omitempty" jsonschema:"the pattern is plain text, not a regular expression"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"upper and lower case are the same"`
	Path       string `json:"path,omitempty" jsonschema:"file or folder, the working directory if absent"`
	Glob       string `json:"glob,omitempty" jsonschema:"only files that match, such as *.go"`
	Context    int    `json:"context,omitempty" jsonschema:"lines to show around each match, 20 at most"`
	Limit      int    `json:"limit,omitempty" jsonschema:"number of matching lines, 200 if absent"`
}

func (t *Tools) searchText(ctx context.Context, env tool.Env, a textArgs) (string, error) {
	pattern, err := compile(a)
	if err != nil {
		return "", err
	}
	names, err := t.matching(ctx, env, a.Path, a.Glob)
	if err != nil {
		return "", err
	}
	limit := bound(a.Limit, defaultMatches, maxMatches)
	var b strings.Builder
	total, in := 0, 0
	for _, rel := range names {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		data, ok := t.text(env, rel)
		if !ok || a.Literal && !a.IgnoreCase && !bytes.Contains(data, []byte(a.Pattern)) {
			continue
		}
		n := show(&b, t.shown(env, rel), data, pattern, min(max(a.Context, 0), maxContext), limit-total)
		if n > 0 {
			total, in = total+n, in+1
		}
		if total >= limit {
			fmt.Fprintf(&b, "[the first %d matching lines; narrow the search for others]", total)
			return b.String(), nil
		}
	}
	fmt.Fprintf(&b, "[%d matching lines in %d of %d files]", total, in, len(names))
	return b.String(), nil
}

func compile(a textArgs) (*regexp.Regexp, error) {
	if a.Pattern == "" {
		return nil, errors.New("pattern: is empty")
	}
	source := a.Pattern
	if a.Literal {
		source = regexp.QuoteMeta(source)
	}
	flags := "(?m)"
	if a.IgnoreCase {
		flags = "(?mi)"
	}
	pattern, err := regexp.Compile(flags + source)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w; set literal to search for the text as it is", err)
	}
	return pattern, nil
}

// show writes the matching lines of one file with what is around them, and returns how many lines match.
func show(b *strings.Builder, name string, data []byte, pattern *regexp.Regexp, around, limit int) int {
	matches := pattern.FindAllIndex(data, -1)
	if len(matches) == 0 {
		return 0
	}
	lines := bytes.Split(data, []byte("\n"))
	hit := map[int]bool{}
	line, at := 0, 0
	for _, m := range matches {
		line += bytes.Count(data[at:m[0]], []byte("\n"))
		at = m[0]
		if hit[line] = true; len(hit) >= limit {
			break
		}
	}
	last := -1
	for i := range lines {
		if !near(hit, i, around) {
			continue
		}
		if around > 0 && last >= 0 && i > last+1 {
			b.WriteString("--\n")
		}
		mark := "-"
		if hit[i] {
			mark = ":"
		}
		fmt.Fprintf(b, "%s%s%d%s %s\n", name, mark, i+1, mark, clip(lines[i]))
		last = i
	}
	return len(hit)
}

func near(hit map[int]bool, line, around int) bool {
	for d := -around; d <= around; d++ {
		if hit[line+d] {
			return true
		}
	}
	return false
}

func clip(line []byte) string {
	text := strings.ToValidUTF8(strings.TrimRight(string(line), "\r"), "\uFFFD")
	if utf8.RuneCountInString(text) <= maxLine {
		return text
	}
	return string([]rune(text)[:maxLine]) + "…"
}

// text reads a file that holds text; links, large and binary files are passed over.
func (t *Tools) text(env tool.Env, rel string) ([]byte, bool) {
	p, err := t.dir.Locate(env, filepath.Join(env.Workspace, rel))
	if err != nil || p.Rel != rel {
		return nil, false
	}
	data, _, err := t.dir.Read(p)
	if err != nil || bytes.IndexByte(data[:min(len(data), 8192)], 0) >= 0 {
		return nil, false
	}
	return data, true
}

// matching is the files below a path whose path, seen from there or by name, matches a glob.
func (t *Tools) matching(ctx context.Context, env tool.Env, path, pattern string) ([]string, error) {
	names, err := t.files(ctx, env, path)
	if err != nil || pattern == "" {
		return names, err
	}
	g, err := glob.Parse(pattern)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, rel := range names {
		if g.Match(filepath.ToSlash(t.shown(env, rel))) {
			found = append(found, rel)
		}
	}
	return found, nil
}

// shown is a path as the model names it: relative to the working directory.
func (t *Tools) shown(env tool.Env, rel string) string {
	path := filepath.Join(env.Workspace, rel)
	if short, err := filepath.Rel(env.Dir, path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return path
}

func bound(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}
