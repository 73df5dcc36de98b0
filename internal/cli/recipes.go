package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/agent/recipe"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newRecipesCmd(s *Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:     "recipes",
		Short:   "See the actions that were learned, and decide about them",
		GroupID: "look",
		Long: `A recipe is an action that achieved the same goal in two runs or more. A candidate is offered beside what the model
proposes; an active one runs without asking the model. Both pass the gateway like any action.`,
		Example: "  autonomy recipes list\n  autonomy recipes disable 5f0c8e21b7aa",
	}, newRecipesListCmd(s),
		newRecipeStateCmd(s, "activate", "Let a recipe run without asking the model", "Activated", recipe.Active),
		newRecipeStateCmd(s, "disable", "Never offer a recipe again", "Disabled", recipe.Disabled))
}

func newRecipesListCmd(s *Streams) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the recipes",
		Example: "  autonomy recipes list\n  autonomy recipes list --all --json",
		Args:    words(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runRecipesList(cmd.Context(), s, all, asJSON) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "also actions that achieved their goal only once")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runRecipesList(ctx context.Context, s *Streams, all, asJSON bool) error {
	a, err := s.app(ctx)
	if err != nil {
		return err
	}
	known, err := a.Recipes(ctx)
	if err != nil {
		return err
	}
	shown := []recipe.Recipe{}
	for _, r := range known {
		if all || r.State != recipe.Counting {
			shown = append(shown, r)
		}
	}
	if asJSON {
		return s.json(shown)
	}
	if len(shown) == 0 {
		s.print("No recipes.")
		return nil
	}
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTATE\tRUNS\tGOAL\tPOSITION\tACTION")
	for _, r := range shown {
		what := "completion claim"
		if !r.Claim {
			what = strings.TrimSpace(r.Tool + " " + string(r.Arguments))
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%.12s\t%d\t%s\n", visible.Line(r.ID), r.State, r.Count, visible.Line(r.Goal), r.Position, visible.Clip(what, 80))
	}
	return table.Flush()
}

func newRecipeStateCmd(s *Streams, verb, short, done string, state recipe.State) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     verb + " ID",
		Short:   short,
		Example: "  autonomy recipes " + verb + " 5f0c8e21b7aa",
		Args:    words(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := s.app(cmd.Context())
			if err != nil {
				return err
			}
			if err := a.SetRecipe(cmd.Context(), args[0], state); err != nil {
				return hinted(err, "'autonomy recipes list --all' shows the ids")
			}
			if asJSON {
				return s.json(map[string]string{"id": args[0], "state": string(state)})
			}
			s.print("%s %s", done, visible.Line(args[0]))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print id and state as JSON")
	return cmd
}
