package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestOutputKeepsHeadAndTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whole.txt")
	out := NewOutput(1000, func() (io.WriteCloser, error) { return os.Create(path) })
	order := script(t, `echo FIRST; yes | head -c 3000000; echo LAST`)
	if _, err := Run(t.Context(), testConfig(), order, out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	text, truncated := out.String()
	if !truncated || len(text) > 1100 || !strings.HasPrefix(text, "FIRST\n") || !strings.HasSuffix(text, "LAST\n") {
		t.Errorf("truncated %v, %d bytes, %.20q … %q", truncated, len(text), text, text[len(text)-20:])
	}
	whole, err := os.ReadFile(path)
	if err != nil || len(whole) != 3000011 || int64(len(whole)) != out.Total() {
		t.Errorf("file has %d bytes of %d, %v", len(whole), out.Total(), err)
	}
}

func TestOutputProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(2, 40).Draw(t, "limit")
		chunks := rapid.SliceOf(rapid.StringMatching(`[a-zäß漢😀\n]{0,30}`)).Draw(t, "chunks")
		var file strings.Builder
		out := NewOutput(limit, func() (io.WriteCloser, error) { return nopCloser{&file}, nil })
		for _, c := range chunks {
			_, _ = out.Write([]byte(c))
		}
		all := strings.Join(chunks, "")
		text, truncated := out.String()
		switch {
		case truncated != (len(all) > limit):
			t.Fatalf("truncated %v with %d of %d bytes", truncated, len(all), limit)
		case !truncated && text != all:
			t.Fatalf("got %q, want %q", text, all)
		case truncated && file.String() != all:
			t.Fatalf("file %q, want %q", file.String(), all)
		case !utf8.ValidString(text):
			t.Fatalf("not UTF-8: %q", text)
		case strings.ContainsRune(text, utf8.RuneError):
			t.Fatalf("a character was cut: %q", text)
		}
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
