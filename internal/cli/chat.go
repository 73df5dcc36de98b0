package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/slash"
	"github.com/autonomy-team/autonomy/internal/visible"
)

type chatOptions struct {
	noStart, quiet           bool
	provider, model, baseURL string
}

func newChatCmd(s *Streams) *cobra.Command {
	var o chatOptions
	cmd := &cobra.Command{
		Use:     "chat",
		Short:   "Talk to the lead and watch the team, line by line",
		GroupID: "team",
		Long: `Talk to the lead and watch the team. A line is said to the lead, who needs a model; a line that begins with a
slash is a command: /help lists them. What happens in the team appears as it happens. Lines may be piped in.`,
		Example: "  autonomy chat\n  printf '/tasks\\n/team\\n' | autonomy chat",
		Args:    words(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runChat(cmd.Context(), s, o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.noStart, "no-start", false, "do not start a daemon")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "do not show what happens in the team")
	f.StringVar(&o.provider, "provider", "", "model provider of the lead")
	f.StringVar(&o.model, "model", "", "model of the lead")
	f.StringVar(&o.baseURL, "base-url", "", "base URL of an OpenAI-compatible server for the lead")
	return cmd
}

func runChat(ctx context.Context, s *Streams, o chatOptions) error {
	daemon, err := s.ensureDaemon(ctx, o.noStart)
	if err != nil {
		return err
	}
	defer daemon.Close()
	a, err := s.app(ctx)
	if err != nil {
		return err
	}
	view := &screen{out: s.Out, err: s.Err}
	session := &slash.Session{
		Daemon: daemon, Files: chatFiles{a}, Out: view, Now: time.Now,
		Provider: o.provider, Model: o.model, BaseURL: o.baseURL,
	}
	if s.interactive() {
		view.prompt = "> "
		s.say("team chat; /help lists the commands, /quit leaves")
	}
	if !o.quiet {
		stop := followEvents(ctx, view, daemon)
		defer stop()
	}
	return converse(ctx, s, session, view)
}

// converse reads lines until the input ends or the person leaves. A line that fails is reported; the next one is read.
// Without a person at the other end the exit status tells whether any line failed.
func converse(ctx context.Context, s *Streams, session *slash.Session, view *screen) error {
	lines := readLines(ctx, s.In)
	failed := false
	for {
		view.ask()
		var in input
		select {
		case in = <-lines:
			view.answered()
		case <-ctx.Done():
			if view.prompt != "" {
				fmt.Fprintln(s.Err)
			}
			return ctx.Err()
		}
		err := session.Do(ctx, in.line)
		switch {
		case errors.Is(err, slash.ErrQuit):
			return chatEnd(failed, view.prompt)
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed = true
			report(s, err)
		}
		if in.err != nil {
			if !errors.Is(in.err, io.EOF) {
				return fmt.Errorf("read a line: %w", in.err)
			}
			return chatEnd(failed, view.prompt)
		}
	}
}

// input is one line, or what was left of one when the input ended.
type input struct {
	line string
	err  error
}

// readLines reads on a goroutine of its own, so that a signal ends the conversation at the prompt too. Nobody waits for
// it: a read from a terminal cannot be interrupted, and the process ends next.
func readLines(ctx context.Context, in io.Reader) <-chan input {
	lines := make(chan input)
	go func() {
		reader := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := reader.ReadString('\n')
			select {
			case lines <- input{line, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

func chatEnd(failed bool, prompt string) error {
	if failed && prompt == "" {
		return silent(ExitFailed)
	}
	return nil
}

// followEvents shows what happens in the team until stop is called.
func followEvents(ctx context.Context, view *screen, daemon *control.Client) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		err := daemon.Events(ctx, -1, func(e control.Event) error {
			view.tell("· %s", slash.EventLine(e))
			return nil
		})
		if err != nil && ctx.Err() == nil {
			view.tell("· no more events: %s", visible.Line(err.Error()))
		}
	})
	return func() {
		cancel()
		following.Wait()
	}
}

// chatFiles is the workspace as the slash commands see it.
type chatFiles struct{ app *app.App }

func (f chatFiles) Tasks(ctx context.Context) ([]board.Entry, func(board.Entry) string, error) {
	b, err := settled(ctx, f.app)
	if err != nil {
		return nil, nil, err
	}
	return b.List(), f.app.Remark(ctx, b), nil
}

func (f chatFiles) AddTask(ctx context.Context, subject string) (board.Task, error) {
	b, err := settled(ctx, f.app)
	if err != nil {
		return board.Task{}, err
	}
	return b.Create(ctx, board.Draft{Subject: subject})
}

func (f chatFiles) Mailbox(ctx context.Context, name autonomy.AgentName) ([]inbox.Listed, error) {
	return f.app.Mailbox(ctx, name, 20, false)
}

func (f chatFiles) Runs(ctx context.Context, w io.Writer) error {
	runs, err := f.app.Runs(ctx, 10)
	if err != nil {
		return err
	}
	return writeRuns(w, runs, time.Now())
}
