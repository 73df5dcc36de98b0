package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/visible"
)

// Completion starts nothing and stays silent when something is wrong: the command itself will say it.

func (s *Streams) completeTasks(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if s.enter() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	b, _, err := s.board(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, e := range b.List() {
		if id := fmt.Sprint(e.ID); e.ID != 0 && strings.HasPrefix(id, begun) {
			words = append(words, id+"\t"+visible.Clip(e.Task.Subject, 40))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func (s *Streams) completeMembers(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if s.enter() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a, err := s.app(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	team, err := a.Roster(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, m := range team.Members {
		if strings.HasPrefix(m.Name, begun) {
			words = append(words, m.Name+"\t"+visible.Line(m.Role))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeMailboxes are the members and the mailboxes that are always there.
func (s *Streams) completeMailboxes(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words, directive := s.completeMembers(cmd, args, begun)
	always := []string{"lead", "user"}
	if cmd.Name() == "send" {
		always = append(always, "all")
	}
	for _, name := range always {
		listed := slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, name+"\t") })
		if strings.HasPrefix(name, begun) && !listed {
			words = append(words, name)
		}
	}
	return words, directive
}

func (s *Streams) completeApprovals(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if s.enter() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	daemon, err := s.daemon(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer daemon.Close()
	open, err := daemon.Approvals(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, a := range open {
		if strings.HasPrefix(a.ID, begun) {
			words = append(words, a.ID+"\t"+visible.Clip(a.Member+": "+a.Tool, 40))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

func (s *Streams) completeAssign(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return s.completeTasks(cmd, args, begun)
	}
	return s.completeMembers(cmd, args, begun)
}

func (s *Streams) completeRuns(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if s.enter() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a, err := s.app(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	runs, err := a.Runs(cmd.Context(), 30)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, r := range runs {
		if strings.HasPrefix(string(r.ID), begun) {
			words = append(words, string(r.ID)+"\t"+visible.Clip(r.Goal, 40))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
