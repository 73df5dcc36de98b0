// Package cli is the command line: it parses, calls one function of the parts below, and prints. Errors become exit
// statuses and advice in one place, report.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/visible"
)

// Main runs one command line and returns its exit status. It is the only place where errors become statuses and
// advice.
func Main(ctx context.Context, args []string, streams Streams) int {
	root := newRoot(&streams)
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	return report(&streams, root.ExecuteContext(ctx))
}

// report prints what went wrong, with advice, and maps it to the exit status.
func report(streams *Streams, err error) int {
	if err == nil {
		return ExitOK
	}
	code, hint := classify(err)
	text := err.Error()
	if interrupted(err) { // what was under way when a signal came is of no interest
		text, hint = "interrupted", ""
	}
	if text != "" {
		streams.say("autonomy: %s", visible.Block(strings.TrimSpace(text)))
	}
	if hint != "" && !strings.Contains(text, strings.TrimPrefix(hint, "run ")) { // some errors say it themselves
		streams.say("  %s", visible.Block(hint))
	}
	return code
}

// interrupted reports whether a signal is all that went wrong.
func interrupted(err error) bool {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !interrupted(err) })
	case interface{ Unwrap() error }:
		return interrupted(e.Unwrap())
	}
	return err == context.Canceled
}

func newRoot(s *Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "autonomy",
		Short: "Run a team of agents on a board of plain JSON files",
		Long: `autonomy runs a team of agents on a board of plain JSON files.

Drop .tasks/task_N.json, or use 'autonomy task add'. An idle teammate claims the task exactly once, works it,
proves the result and looks for the next. Nobody assigns work, and without a model the team still executes
tasks that spell out their steps.`,
		Example: `  autonomy init --examples           make the folders and an example board
  autonomy team spawn alice coder    start a teammate (and the daemon, if needed)
  autonomy task list                 look at the board
  autonomy wait --all                wait until everything is done
  autonomy down                      stop the daemon`,
		Version:       versionLine(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE:          needVerb,
	}
	root.SetVersionTemplate("autonomy {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentFlags().StringVarP(&s.Dir, "directory", "C", s.Dir, "work as if started in `DIR`")
	root.PersistentFlags().Lookup("directory").DefValue = "" // where the reader is, is no news
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return s.enter() }
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &failure{code: ExitUsage, err: err, hint: fmt.Sprintf("see '%s --help'", cmd.CommandPath())}
	})
	root.AddGroup(
		&cobra.Group{ID: "start", Title: "Start and stop:"},
		&cobra.Group{ID: "board", Title: "The board:"},
		&cobra.Group{ID: "team", Title: "The team:"},
		&cobra.Group{ID: "look", Title: "Look and decide:"},
		&cobra.Group{ID: "model", Title: "Models:"},
		&cobra.Group{ID: "besides", Title: "Besides:"},
	)
	root.SetHelpCommandGroupID("besides")
	root.SetCompletionCommandGroupID("besides")
	addCommands(root, s)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		group(cmd)
		cmd.Example = "  autonomy completion bash > /etc/bash_completion.d/autonomy"
		for _, shell := range cmd.Commands() {
			shell.Args, shell.Example = words(0, 0), "  "+shell.CommandPath()
		}
	}
	return root
}

// enter makes the directory of -C absolute, so that later steps do not depend on the process's own. Nothing is begun in
// a directory that is not there.
func (s *Streams) enter() error {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return fmt.Errorf("resolve directory %s: %w", s.Dir, err)
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return usage("work in %s: %w", dir, cause(err))
	case !info.IsDir():
		return usage("work in %s: not a folder", dir)
	}
	s.Dir = dir
	return nil
}

// cause is an error of the file system without the call and the path, which the caller names.
func cause(err error) error {
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return file.Err
	}
	return err
}

// group makes a command that only has subcommands: alone it shows its help, with an unknown word it says so.
func group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = needVerb
	cmd.AddCommand(subcommands...)
	return cmd
}

func needVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	hint := fmt.Sprintf("see '%s --help'", cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean '%s %s'?", cmd.CommandPath(), near[0])
	}
	return &failure{code: ExitUsage, err: fmt.Errorf("unknown command %q for '%s'", args[0], cmd.CommandPath()), hint: hint}
}

// words checks how many words a command takes, and says which when the number is wrong.
func words(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		problem := missing(cmd.Use, len(args))
		if len(args) > least {
			problem = fmt.Sprintf("unexpected %q", args[len(args)-1])
		}
		return &failure{code: ExitUsage, err: errors.New(problem), hint: "usage: " + cmd.UseLine()}
	}
}

// missing names the first word that was not given, as the usage line calls it: "send NAME TEXT…" with one given lacks TEXT.
func missing(use string, given int) string {
	if wanted := strings.Fields(use)[1:]; given < len(wanted) {
		return strings.Trim(wanted[given], "…[]") + " is missing"
	}
	return "a word is missing"
}
