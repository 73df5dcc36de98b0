package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/autonomy-team/autonomy/agent/tool"
)

const defaultNames = 500

type filesArgs struct {
	Pattern string `json:"pattern" jsonschema:"glob; without a slash it matches the name in any folder"`
	Path    string `json:"path,omitempty" jsonschema:"the working directory if absent"`
	Limit   int    `json:"limit,omitempty" jsonschema:"number of files, 500 if absent"`
}

func (t *Tools) findFiles(ctx context.Context, env tool.Env, a filesArgs) (string, error) {
	if a.Pattern == "" {
		return "", errors.New("pattern: is empty")
	}
	names, err := t.matching(ctx, env, a.Path, a.Pattern)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "[no file matches]", nil
	}
	limit := bound(a.Limit, defaultNames, 10*defaultNames)
	var b strings.Builder
	for i, rel := range names {
		if i == limit {
			fmt.Fprintf(&b, "[%d more]\n", len(names)-i)
			break
		}
		fmt.Fprintln(&b, t.shown(env, rel))
	}
	return b.String(), nil
}

type symbolArgs struct {
	Name string `json:"name" jsonschema:"the whole name"`
	Path string `json:"path,omitempty" jsonschema:"the working directory if absent"`
}

func (t *Tools) findSymbol(ctx context.Context, env tool.Env, a symbolArgs) (string, error) {
	if strings.TrimSpace(a.Name) == "" {
		return "", errors.New("name: is empty")
	}
	word, err := regexp.Compile(`(^|[^\pL\pN_])` + regexp.QuoteMeta(a.Name) + `($|[^\pL\pN_])`)
	if err != nil {
		return "", fmt.Errorf("name: %w", err)
	}
	names, err := t.files(ctx, env, a.Path)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	found := 0
	for _, rel := range names {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if !t.outliner().Knows(filepath.Ext(rel)) {
			continue
		}
		data, ok := t.text(env, rel)
		if !ok || !bytes.Contains(data, []byte(a.Name)) {
			continue
		}
		for _, e := range t.outliner().Of(filepath.Ext(rel), data) {
			if word.MatchString(e.Text) {
				fmt.Fprintf(&b, "%s:%d: %s\n", t.shown(env, rel), e.Line, strings.TrimSpace(e.Text))
				found++
			}
		}
		if found >= maxMatches {
			break
		}
	}
	if found == 0 {
		return "[not declared here; search_text finds uses]", nil
	}
	return b.String(), nil
}
