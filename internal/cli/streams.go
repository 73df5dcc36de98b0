package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Streams is what a command reads from and writes to: data goes to Out, prose to Err. Tests and the script runner
// inject their own.
type Streams struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	Dir    string // the working directory; -C changes it
}

// System returns the streams of the process.
func System() (Streams, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Streams{}, fmt.Errorf("find the working directory: %w", err)
	}
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Dir: dir}, nil
}

// readLine reads one line and not a byte more, so that what follows is left for the next reader.
func (s *Streams) readLine() (string, error) {
	var line []byte
	for one := make([]byte, 1); ; {
		n, err := s.In.Read(one)
		if n == 1 && one[0] == '\n' {
			return string(line), nil
		}
		if n == 1 {
			line = append(line, one[0])
		}
		if err != nil {
			return string(line), err
		}
	}
}

// interactive reports whether a person can be asked: both the input and the prose stream are terminals.
func (s *Streams) interactive() bool { return isTerminal(s.In) && isTerminal(s.Err) }

// json writes v as one indented JSON document, without escaping <, > and &.
func (s *Streams) json(v any) error {
	enc := json.NewEncoder(s.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// jsonLines writes one JSON object a line.
func jsonLines[T any](s *Streams, items []T) error {
	enc := json.NewEncoder(s.Out)
	enc.SetEscapeHTML(false)
	for _, item := range items {
		if err := enc.Encode(item); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
	}
	return nil
}

// say writes one line of prose.
func (s *Streams) say(format string, args ...any) { fmt.Fprintf(s.Err, format+"\n", args...) }

// print writes one line of data.
func (s *Streams) print(format string, args ...any) { fmt.Fprintf(s.Out, format+"\n", args...) }

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
