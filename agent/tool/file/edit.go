package file

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/autonomy-team/autonomy/agent/tool"
)

type editArgs struct {
	Path             string `json:"path"`
	OldText          string `json:"old_text" jsonschema:"the exact text to replace, with enough lines around it to be unique"`
	NewText          string `json:"new_text" jsonschema:"the text to put there"`
	ReplaceAll       bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
	ExpectedRevision string `json:"expected_revision,omitempty" jsonschema:"edit only if the file still has this revision"`
	tool.Mutating
}

func editFile(w *dir) tool.Tool {
	return &change[editArgs]{
		op: op[editArgs]{
			w: w, name: "edit_file",
			about: "Replace a text in a file. It must occur exactly once, unless replace_all is set. Returns the difference.",
			paths: func(a editArgs) []string { return []string{a.Path} },
			run:   runEdit,
		},
		effect: "change a file", plan: "read it again and compare its hash",
		verify: func(w *dir, env tool.Env, a editArgs, result string) (bool, string) {
			return w.hasRevision(env, a.Path, stated(result))
		},
	}
}

func runEdit(w *dir, env tool.Env, a editArgs) (string, error) {
	p, err := w.target(env, a.Path)
	if err != nil {
		return "", err
	}
	data, info, err := w.Read(p)
	if err != nil {
		return "", err
	}
	if err := expectRevision(a.ExpectedRevision, data, true); err != nil {
		return "", fmt.Errorf("%s: %w", a.Path, err)
	}
	old := string(data)
	text, note, err := replace(old, a)
	if err != nil {
		return "", fmt.Errorf("%s: %w", a.Path, err)
	}
	if err := w.write(p, []byte(text), info.Mode().Perm()); err != nil {
		return "", err
	}
	diff := udiff.Unified("a/"+p.Rel, "b/"+p.Rel, old, text)
	return fmt.Sprintf("%s%s[revision %s]", diff, note, revision([]byte(text))), nil
}

// replace does the edit on the text of a file. In a file with CRLF the texts of the edit get it too, and where the exact
// text is not found white space at the ends of lines is overlooked, which models rarely reproduce.
func replace(text string, a editArgs) (result, note string, err error) {
	if a.OldText == "" {
		return "", "", errors.New("old_text is empty; use write_file to make a file")
	}
	old, replacement := a.OldText, a.NewText
	if strings.Contains(text, "\r\n") && !strings.Contains(old, "\r\n") {
		old, replacement = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(replacement, "\n", "\r\n")
	}
	found := occurrences(text, old)
	if len(found) == 0 {
		found = looseOccurrences(text, old)
		note = "[white space at the ends of lines differed]\n"
	} else {
		note = ""
	}
	switch {
	case len(found) == 0:
		return "", "", errors.New("old_text does not occur; read the file again and copy the text exactly")
	case len(found) > 1 && !a.ReplaceAll:
		return "", "", fmt.Errorf("old_text occurs %d times, at lines %s; add lines around it or set replace_all",
			len(found), lineNumbers(text, found))
	}
	var b strings.Builder
	at := 0
	for _, s := range found {
		b.WriteString(text[at:s.from])
		b.WriteString(replacement)
		at = s.to
	}
	b.WriteString(text[at:])
	if b.String() == text {
		return "", "", errors.New("old_text and new_text are the same")
	}
	return b.String(), note, nil
}

// span is where an occurrence lies, in bytes.
type span struct{ from, to int }

func occurrences(text, old string) []span {
	var found []span
	for at := 0; ; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			return found
		}
		found = append(found, span{at + i, at + i + len(old)})
		at += i + len(old)
	}
}

// looseOccurrences compares whole lines without the white space at their ends. The last line of old may lack its newline;
// then that of the text is kept.
func looseOccurrences(text, old string) []span {
	lines := strings.SplitAfter(text, "\n")
	want := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	trim := func(s string) string { return strings.TrimRight(s, " \t\r\n") }
	if strings.TrimSpace(old) == "" {
		return nil
	}
	var found []span
	for i, from := 0, 0; i+len(want) <= len(lines); {
		same, length := true, 0
		for j := range want {
			same = same && trim(lines[i+j]) == trim(want[j])
			length += len(lines[i+j])
		}
		if !same {
			from += len(lines[i])
			i++
			continue
		}
		to := from + length
		if !strings.HasSuffix(old, "\n") {
			to = from + len(strings.TrimRight(text[from:to], "\r\n"))
		}
		found = append(found, span{from, to})
		from += length
		i += len(want)
	}
	return found
}

func lineNumbers(text string, found []span) string {
	var b strings.Builder
	for i, s := range found {
		if i == 10 {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(1 + bytes.Count([]byte(text[:s.from]), []byte("\n"))))
	}
	return b.String()
}
