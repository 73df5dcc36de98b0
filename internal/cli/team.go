package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/slash"
	"github.com/autonomy-team/autonomy/internal/visible"
	"github.com/autonomy-team/autonomy/team"
)

func newTeamCmd(s *Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:     "team",
		Short:   "Spawn, list and stop teammates",
		GroupID: "team",
		Example: `  autonomy team spawn alice coder
  autonomy team spawn bob tester --prompt "Read the README and list what is unclear"
  autonomy team list
  autonomy team stop alice`,
	}, newSpawnCmd(s), newTeamListCmd(s), newTeamShowCmd(s), newTeamStopCmd(s), newTeamRemoveCmd(s), newTeamLogsCmd(s))
}

type spawnOptions struct {
	control.SpawnRequest
	noStart bool
	asJSON  bool
}

func newSpawnCmd(s *Streams) *cobra.Command {
	var o spawnOptions
	cmd := &cobra.Command{
		Use:   "spawn NAME ROLE",
		Short: "Start a teammate, and the daemon if needed",
		Long: `Start a teammate. With a prompt it works that first, without one it looks at the board at once.

A name is lower-case letters, digits, _ and -, a letter first; it is free again when its holder has stopped.
A new holder starts with a clean transcript unless --resume is given; unread mail waits for the name.
The role is a free label: a task with a role is taken only by members of that role.`,
		Example: `  autonomy team spawn alice coder
  autonomy team spawn bob tester --prompt "Run the tests and report"
  git log -5 | autonomy team spawn carol writer --prompt -`,
		Args: words(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name, o.Role = args[0], args[1]
			return runSpawn(cmd.Context(), s, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Prompt, "prompt", "", "first user message; - reads standard input")
	f.StringVar(&o.Provider, "provider", "", "model provider of this member")
	f.StringVar(&o.Model, "model", "", "model of this member")
	f.StringVar(&o.BaseURL, "base-url", "", "base URL of an OpenAI-compatible server")
	f.StringSliceVar(&o.Toolsets, "toolsets", nil, "toolsets it has, comma-separated")
	f.StringVar(&o.Mode, "mode", "", "ask, auto or read-only; never wider than the team's")
	f.BoolVar(&o.RequirePlan, "require-plan", false, "may only read until a plan is approved")
	f.BoolVar(&o.Worktree, "worktree", false, "work in a git worktree of its own")
	f.BoolVar(&o.Resume, "resume", false, "keep the transcript of a stopped member of this name")
	f.BoolVar(&o.noStart, "no-start", false, "do not start a daemon")
	f.BoolVar(&o.asJSON, "json", false, "print the member as JSON")
	return cmd
}

func runSpawn(ctx context.Context, s *Streams, o spawnOptions) error {
	if err := team.CheckName(autonomy.AgentName(o.Name)); err != nil {
		return err // before a daemon is started for nothing
	}
	if o.Mode == "full" {
		return usage("--mode full is given by 'up' or 'run' only, never by spawn")
	}
	if o.Prompt == "-" {
		text, err := readAll(s.In)
		if err != nil {
			return fmt.Errorf("read the prompt from standard input: %w", err)
		}
		o.Prompt = text
	}
	a, err := s.person(ctx)
	if err != nil {
		return err
	}
	choice := a.WithEnvironment(provider.Choice{Provider: o.Provider, Model: o.Model, BaseURL: o.BaseURL})
	o.Provider, o.Model, o.BaseURL = choice.Provider, choice.Model, choice.BaseURL
	daemon, err := s.ensureDaemon(ctx, o.noStart)
	if err != nil {
		return err
	}
	defer daemon.Close()
	member, err := daemon.Spawn(ctx, o.SpawnRequest)
	if err != nil {
		return err
	}
	if o.asJSON {
		return s.json(member)
	}
	s.print("Spawned '%s' (role: %s)", visible.Line(member.Name), visible.Line(member.Role))
	return nil
}

func newTeamListCmd(s *Streams) *cobra.Command {
	var asJSON, wide bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "Show the members and what they do",
		Example: "  autonomy team list\n  autonomy team list --json | jq '.members[].state'",
		Args:    words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			team, err := s.team(cmd.Context())
			switch {
			case err != nil:
				return err
			case asJSON:
				return s.json(team)
			case wide && len(team.Members) > 0:
				return teamTable(s.Out, team, time.Now())
			}
			slash.Team(s.Out, team, time.Now())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&wide, "wide", "w", false, "print a table with attempt, elapsed time, mail and tokens")
	return cmd
}

// teamTable is the roster with everything that changes.
func teamTable(w io.Writer, team control.Team, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tROLE\tSTATE\tFOR\tTASK\tATTEMPT\tUNREAD\tTOKENS\tNOTE")
	for _, m := range team.Members {
		task, attempt, since := "-", "-", "-"
		if m.Task != 0 {
			task, attempt = fmt.Sprintf("#%d", m.Task), fmt.Sprint(m.Attempt)
		}
		if !m.Since.IsZero() {
			since = slash.Span(now.Sub(m.Since))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", visible.Line(m.Name), visible.Line(m.Role), m.State, since,
			task, attempt, m.Unread, m.Tokens, memberNote(m))
	}
	return table.Flush()
}

func memberNote(m control.Member) string {
	switch {
	case m.Reason != "":
		return visible.Clip(m.Reason, 80)
	case m.IdleLeftMS > 0:
		return slash.Span(time.Duration(m.IdleLeftMS)*time.Millisecond) + " until shutdown"
	case m.Subject != "":
		return visible.Clip(m.Subject, 60)
	}
	return ""
}

func newTeamShowCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show one member in full",
		Example:           "  autonomy team show alice",
		Args:              words(1, 1),
		ValidArgsFunction: s.completeMembers,
		RunE: func(cmd *cobra.Command, args []string) error {
			team, err := s.team(cmd.Context())
			if err != nil {
				return err
			}
			m, err := findMember(team, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(m)
			}
			return showMember(s.Out, m, time.Now())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func findMember(team control.Team, name string) (control.Member, error) {
	var names []string
	for _, m := range team.Members {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	err := fmt.Errorf("no member %q", visible.Line(name))
	if len(names) == 0 {
		return control.Member{}, hinted(err, "the team has no members: autonomy team spawn NAME ROLE")
	}
	return control.Member{}, hinted(err, "members: %s", strings.Join(names, ", "))
}

func showMember(w io.Writer, m control.Member, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(table, "%s\t%s\n", name, visible.Line(value))
		}
	}
	row("name", m.Name)
	row("role", m.Role)
	row("state", m.State)
	row("reason", m.Reason)
	row("wanted", m.Desired)
	if m.Task != 0 {
		row("task", fmt.Sprintf("#%d %s, attempt %d", m.Task, m.Subject, m.Attempt))
	}
	row("run", m.Run)
	row("since", ago(m.Since, now))
	row("last activity", ago(m.LastActivity, now))
	if m.IdleLeftMS > 0 {
		row("shuts down in", slash.Span(time.Duration(m.IdleLeftMS)*time.Millisecond))
	}
	row("model", strings.TrimPrefix(m.Provider+"/"+m.Model, "/"))
	row("tokens", fmt.Sprint(m.Tokens))
	row("unread mail", fmt.Sprint(m.Unread))
	row("spawned by", m.SpawnedBy)
	return table.Flush()
}

func ago(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s (%s ago)", t.Local().Format(time.DateTime), slash.Span(now.Sub(t)))
}
