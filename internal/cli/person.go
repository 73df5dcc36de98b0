package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/autonomy-team/autonomy/internal/app"
)

// person opens an App for a command that is about the user's own files and works outside a workspace too.
func (s *Streams) person(ctx context.Context) (*app.App, error) {
	return app.Open(ctx, app.Options{Workspace: app.Here(s.Dir), Getenv: s.Getenv})
}

// maxSecret bounds what is read as a key.
const maxSecret = 16 << 10

// secret reads a key: hidden on a terminal, after prompt; elsewhere the first line of standard input. Spaces around it
// are dropped, since they come with copying.
func (s *Streams) secret(prompt string) (string, error) {
	if file, ok := s.In.(*os.File); ok && s.interactive() {
		key, err := hidden(file, s.Err, prompt)
		if err != nil {
			return "", fmt.Errorf("read the key: %w", err)
		}
		return strings.TrimSpace(key), nil
	}
	line, err := (&Streams{In: io.LimitReader(s.In, maxSecret)}).readLine()
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the key: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// hidden reads a line without showing it. The echo is off before the prompt is shown, so that not even a line that is
// pasted at once is seen.
func hidden(file *os.File, out io.Writer, prompt string) (string, error) {
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{byteReader{file}, out}, "")
	line, err := terminal.ReadPassword(prompt)
	return line, errors.Join(err, term.Restore(fd, before))
}

// byteReader reads a byte at a time, so that what is typed ahead is left for the next question.
type byteReader struct{ io.Reader }

func (r byteReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(1, len(p))]) }

// ask reads one line of a person, after prompt; an empty one is the fallback. The end of the input is an error.
func (s *Streams) ask(prompt, fallback string) (string, error) {
	if fallback != "" {
		prompt += " [" + fallback + "]"
	}
	fmt.Fprint(s.Err, prompt+": ")
	line, err := s.readLine()
	if line = strings.TrimSpace(line); line != "" {
		return line, nil
	}
	if err != nil {
		fmt.Fprintln(s.Err)
		return "", fmt.Errorf("the input ended: %w", err)
	}
	return fallback, nil
}
