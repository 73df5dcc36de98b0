package file

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"path/filepath"
	"strings"

	"github.com/autonomy-team/autonomy/agent/tool"
)

func checkSyntax(w *dir) tool.Tool {
	return &op[pathArgs]{
		w: w, name: "check_syntax",
		about: "Check a file's syntax without running anything: Go, JSON, JSON lines, XML.",
		paths: func(a pathArgs) []string { return []string{a.Path} },
		run: func(w *dir, env tool.Env, a pathArgs) (string, error) {
			p, err := w.Locate(env, a.Path)
			if err != nil {
				return "", err
			}
			data, _, err := w.Read(p)
			if err != nil {
				return "", err
			}
			problem, err := syntaxOf(filepath.Ext(p.Rel), data)
			switch {
			case err != nil:
				return "", fmt.Errorf("%s: %w", a.Path, err)
			case problem != "":
				return "", fmt.Errorf("%s: %s", a.Path, problem)
			}
			return a.Path + ": no syntax error", nil
		},
	}
}

// syntaxOf returns the problem with its place, or an error when there is no checker for the kind.
func syntaxOf(ext string, data []byte) (string, error) {
	switch ext {
	case ".go":
		return problemGo(data), nil
	case ".json":
		return problemJSON(data, 0), nil
	case ".jsonl", ".ndjson":
		for i, line := range bytes.Split(data, []byte("\n")) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if p := problemJSON(line, i); p != "" {
				return p, nil
			}
		}
		return "", nil
	case ".xml", ".svg":
		dec := xml.NewDecoder(bytes.NewReader(data))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				return "", nil
			} else if err != nil {
				return err.Error(), nil
			}
		}
	}
	return "", fmt.Errorf("no checker for %q files here; run the language's own by bash", ext)
}

func problemGo(data []byte) string {
	_, err := parser.ParseFile(token.NewFileSet(), "", data, parser.AllErrors|parser.SkipObjectResolution)
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		if err != nil {
			return err.Error()
		}
		return ""
	}
	var b strings.Builder
	for i, e := range list {
		if i == 10 {
			fmt.Fprintf(&b, "and %d more", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "line %d, column %d: %s\n", e.Pos.Line, e.Pos.Column, e.Msg)
	}
	return strings.TrimSpace(b.String())
}

// problemJSON checks one value; lines is how many lines lie before it.
func problemJSON(data []byte, lines int) string {
	var v any
	err := json.Unmarshal(data, &v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return ""
	}
	before := data[:min(int(syntax.Offset), len(data))]
	line := 1 + lines + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Sprintf("line %d, column %d: %v", line, column, err)
}
