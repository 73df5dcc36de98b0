package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/daemon"
	"github.com/autonomy-team/autonomy/internal/slash"
)

// The demonstration shortens these two, and says so: with the usual 5 s and 60 s it would take a minute more.
const (
	demoPoll        = 500 * time.Millisecond
	demoIdleTimeout = 2 * time.Second
)

func newDemoCmd(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "demo",
		Short:   "Watch a team work an example board, offline, in a throw-away folder",
		GroupID: "start",
		Long: `Make a throw-away workspace with the example board, spawn alice (coder) and bob (tester), and show live who claims
what, who waits for what, and how it ends. It is the real thing: the real daemon on real files. No model is needed,
because the example tasks spell out their steps; the one that does not stays on the board and says so.`,
		Example: "  autonomy demo",
		Args:    words(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), s) },
	}
}

func runDemo(ctx context.Context, s *Streams) error {
	root, err := os.MkdirTemp("", "autonomy-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demonstration: %w", err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return fmt.Errorf("make a folder for the demonstration: %w", err)
	}
	// Its settings and its trust stay in the folder too: nothing of the person's own is read or written, no model is asked.
	getenv := func(name string) string {
		if strings.HasPrefix(name, "AUTONOMY_") {
			return ""
		}
		return s.Getenv(name)
	}
	userDir := filepath.Join(root, "user")
	ws := config.Workspace{Root: filepath.Join(root, "workspace")}
	if _, err := app.Init(ctx, ws.Root, app.InitOptions{Examples: true, UserDir: userDir}); err != nil {
		return err
	}
	a, err := app.Open(ctx, app.Options{Workspace: ws, Getenv: getenv, UserDir: userDir})
	if err != nil {
		return err
	}
	s.print("The board in %s:\n", ws.Tasks())
	if err := printBoard(ctx, s, a); err != nil {
		return err
	}
	s.print("\n$ autonomy up --foreground --spawn alice:coder --spawn bob:tester --exit-when-idle --poll %s --idle-timeout %s\n",
		demoPoll, demoIdleTimeout)
	began := time.Now()
	code, err := daemon.Run(ctx, daemon.Options{
		Workspace: ws, Spawn: []daemon.Spec{{Name: "alice", Role: "coder"}, {Name: "bob", Role: "tester"}},
		Poll: demoPoll, IdleTimeout: demoIdleTimeout, ExitWhenIdle: true, Foreground: true,
		Err: s.Out, Getenv: getenv, UserDir: userDir,
	})
	if err != nil {
		return fmt.Errorf("run the team (exit %d): %w", code, err)
	}
	return demoEnd(ctx, s, a, ws, time.Since(began))
}

// demoEnd shows what is there in the end, and fails if the team did not do what it could.
func demoEnd(ctx context.Context, s *Streams, a *app.App, ws config.Workspace, took time.Duration) error {
	s.print("\n/tasks")
	if err := printBoard(ctx, s, a); err != nil {
		return err
	}
	s.print("\n/team")
	team, err := a.Roster(ctx)
	if err != nil {
		return err
	}
	slash.Team(s.Out, team, time.Now())
	b, err := a.Board()
	if err != nil {
		return err
	}
	done, left := 0, []autonomy.TaskID{}
	for _, e := range b.List() {
		switch {
		case e.Task.Status == board.Completed:
			done++
		case len(e.Task.Steps) > 0:
			left = append(left, e.ID)
		}
	}
	s.print("\n%s completed in %s by two teammates, no model configured.", plural(done, "task"), took.Round(100*time.Millisecond))
	s.print("Look around: the tasks are in %s, what was done in %s", ws.Tasks(), ws.Runs())
	s.print("             the team's log is %s, the page they made %s", ws.Events(), filepath.Join(ws.Root, "out", "page.md"))
	if len(left) > 0 {
		return &failure{code: ExitFailed, err: fmt.Errorf("not completed: %s", joinIDs(left)), hint: "see " + ws.DaemonLog()}
	}
	return nil
}

func printBoard(ctx context.Context, s *Streams, a *app.App) error {
	b, err := settled(ctx, a)
	if err != nil {
		return err
	}
	entries := b.List()
	slash.Tasks(s.Out, entries, slash.Open(entries), a.Remark(ctx, b))
	return nil
}
