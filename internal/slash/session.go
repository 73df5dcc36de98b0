package slash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/inbox"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/visible"
)

// Files is what a line face reads and writes in the workspace itself, with or without a daemon.
type Files interface {
	// Tasks reads the board; remark says why a ready task is not taken.
	Tasks(ctx context.Context) (entries []board.Entry, remark func(board.Entry) string, err error)
	AddTask(ctx context.Context, subject string) (board.Task, error)
	// Mailbox lists a mailbox and consumes nothing.
	Mailbox(ctx context.Context, name autonomy.AgentName) ([]inbox.Listed, error)
	// Runs writes the newest runs.
	Runs(ctx context.Context, w io.Writer) error
}

// Session carries out the lines of one person. It is used from one goroutine.
type Session struct {
	Daemon control.Service
	Files  Files
	Out    io.Writer
	Now    func() time.Time

	// The model of the lead, when this person chose one.
	Provider, Model, BaseURL string
}

// ErrQuit is the answer to /quit.
var ErrQuit = errors.New("quit")

// A command of the line faces. Arguments are split at white space; the last one takes the rest of the line.
type command struct {
	name  string
	args  string // for /help
	help  string
	least int // words after the name
	most  int // the last word takes the rest of the line; -1 = all words are one
	run   func(s *Session, ctx context.Context, args []string) error
}

// commands are the slash commands, in the order of /help.
func commands() []command {
	return []command{
		{"tasks", "", "show the board", 0, 0, (*Session).tasks},
		{"team", "", "show the members and what they do", 0, 0, (*Session).team},
		{"inbox", "[NAME]", "show a mailbox, yours without a name; nothing is consumed", 0, 1, (*Session).inbox},
		{"send", "NAME TEXT", "send mail to a member, or to all", 2, 2, (*Session).send},
		{"spawn", "NAME ROLE [PROMPT]", "start a teammate", 2, 3, (*Session).spawn},
		{"stop", "NAME", "end a teammate", 1, 1, (*Session).stop},
		{"task", "add SUBJECT", "put a task on the board", 2, 2, (*Session).task},
		{"approvals", "", "show what members ask leave for", 0, 0, (*Session).approvals},
		{"approve", "ID", "allow it", 1, 1, (*Session).approve},
		{"deny", "ID [WHY]", "refuse it", 1, 2, (*Session).deny},
		{"compact", "[FOCUS]", "make the lead summarise its conversation", 0, 1, (*Session).compact},
		{"runs", "", "show the newest runs", 0, 0, (*Session).runs},
		{"cost", "", "show what the models used", 0, 0, (*Session).cost},
		{"help", "", "show this", 0, 0, (*Session).help},
		{"quit", "", "leave; the team goes on", 0, 0, (*Session).quit},
	}
}

// Do carries out one line: nothing for an empty one, a command for one that begins with a slash, else a run of the lead.
// ErrQuit means that the person leaves; every other error is about this line alone.
func (s *Session) Do(ctx context.Context, line string) error {
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return nil
	case !strings.HasPrefix(line, "/"):
		return s.line(ctx, line)
	}
	name, rest, _ := strings.Cut(line[1:], " ")
	for _, c := range commands() {
		if c.name == name {
			args := split(rest, c.most)
			if len(args) < c.least || len(args) > c.most {
				return fmt.Errorf("usage: /%s %s", c.name, c.args)
			}
			return c.run(s, ctx, args)
		}
	}
	return fmt.Errorf("no command /%s; /help lists them", visible.Line(name))
}

// split cuts text at white space into at most n words; the last takes the rest.
func split(text string, n int) []string {
	var args []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		at := strings.IndexAny(text, " \t")
		if at < 0 || len(args) == n-1 {
			return append(args, text)
		}
		args, text = append(args, text[:at]), text[at:]
	}
	return args
}

func (s *Session) tasks(ctx context.Context, _ []string) error {
	entries, remark, err := s.Files.Tasks(ctx)
	if err != nil {
		return err
	}
	Tasks(s.Out, entries, Open(entries), remark)
	return nil
}

func (s *Session) team(ctx context.Context, _ []string) error {
	team, err := s.Daemon.Team(ctx)
	if err != nil {
		return err
	}
	Team(s.Out, team, s.Now())
	return nil
}

func (s *Session) inbox(ctx context.Context, args []string) error {
	name := autonomy.AgentName("user")
	if len(args) == 1 {
		name = autonomy.AgentName(args[0])
	}
	mail, err := s.Files.Mailbox(ctx, name)
	if err != nil {
		return err
	}
	Mail(s.Out, name, mail)
	return nil
}

func (s *Session) send(ctx context.Context, args []string) error {
	reply, err := s.Daemon.Send(ctx, control.SendRequest{To: args[0], Content: args[1]})
	if err != nil {
		return err
	}
	note := ""
	if reply.Note != "" {
		note = " (" + visible.Line(reply.Note) + ")"
	}
	fmt.Fprintf(s.Out, "Sent to %s%s\n", visible.Line(args[0]), note)
	return nil
}

func (s *Session) spawn(ctx context.Context, args []string) error {
	req := control.SpawnRequest{Name: args[0], Role: args[1]}
	if len(args) == 3 {
		req.Prompt = args[2]
	}
	m, err := s.Daemon.Spawn(ctx, req)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "Spawned '%s' (role: %s)\n", visible.Line(m.Name), visible.Line(m.Role))
	return nil
}

func (s *Session) stop(ctx context.Context, args []string) error {
	if err := s.Daemon.Stop(ctx, control.StopRequest{Name: args[0]}); err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "Stopped '%s'\n", visible.Line(args[0]))
	return nil
}

func (s *Session) task(ctx context.Context, args []string) error {
	if args[0] != "add" {
		return errors.New("usage: /task add SUBJECT")
	}
	task, err := s.Files.AddTask(ctx, args[1])
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "Created #%d: %s\n", task.ID, visible.Line(task.Subject))
	return nil
}

func (s *Session) approvals(ctx context.Context, _ []string) error {
	list, err := s.Daemon.Approvals(ctx)
	if err != nil {
		return err
	}
	Approvals(s.Out, list, s.Now())
	return nil
}

func (s *Session) approve(ctx context.Context, args []string) error {
	return s.answer(ctx, control.Answer{ID: args[0], Approve: true}, "Approved")
}

func (s *Session) deny(ctx context.Context, args []string) error {
	answer := control.Answer{ID: args[0]}
	if len(args) == 2 {
		answer.Feedback = args[1]
	}
	return s.answer(ctx, answer, "Denied")
}

func (s *Session) answer(ctx context.Context, answer control.Answer, done string) error {
	got, err := s.Daemon.Answer(ctx, answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "%s %s (%s)\n", done, visible.Line(got.ID), visible.Line(got.Member))
	return nil
}

func (s *Session) compact(ctx context.Context, args []string) error {
	req := control.Compact{Name: "lead"}
	if len(args) == 1 {
		req.Focus = args[0]
	}
	return s.Daemon.Compact(ctx, req)
}

func (s *Session) runs(ctx context.Context, _ []string) error { return s.Files.Runs(ctx, s.Out) }

func (s *Session) cost(ctx context.Context, _ []string) error {
	status, err := s.Daemon.Status(ctx)
	if err != nil {
		return err
	}
	Cost(s.Out, status)
	return nil
}

func (s *Session) help(context.Context, []string) error {
	for _, c := range commands() {
		fmt.Fprintf(s.Out, "  %-26s %s\n", strings.TrimSpace("/"+c.name+" "+c.args), c.help)
	}
	fmt.Fprintln(s.Out, "  anything else              is said to the lead, who needs a model")
	return nil
}

func (s *Session) quit(context.Context, []string) error { return ErrQuit }
