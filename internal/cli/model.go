package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newModelCmd(s *Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:     "model",
		Short:   "Choose the model, and look at the choice",
		GroupID: "model",
		Long: `Choose the model that members and 'run' use unless they are given another, and look at the choice. Flags go before
AUTONOMY_PROVIDER, AUTONOMY_MODEL and AUTONOMY_BASE_URL, these before your config.yaml.`,
		Example: "  autonomy model setup\n  autonomy model show\n  autonomy model list --provider ollama\n  autonomy model use deepseek/deepseek-flash",
	}, newModelSetupCmd(s), newModelShowCmd(s), newModelListCmd(s), newModelUseCmd(s))
}

func newModelShowCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the model in use, and where each value comes from",
		Example: "  autonomy model show",
		Args:    words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := s.person(cmd.Context())
			if err != nil {
				return err
			}
			values, err := a.ShowModel()
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(values)
			}
			table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
			for _, v := range values {
				fmt.Fprintf(table, "%s\t%s\t%s\n", v.Name, visible.Line(v.Value), visible.Line(v.From))
			}
			return table.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type modelListOptions struct {
	provider, baseURL string
	asJSON            bool
}

func newModelListCmd(s *Streams) *cobra.Command {
	var o modelListOptions
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "Ask the server which models it has",
		Example: "  autonomy model list\n  autonomy model list --provider openrouter",
		Args:    words(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return listModels(cmd.Context(), s, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.provider, "provider", "", "ask this provider instead of the one in use")
	f.StringVar(&o.baseURL, "base-url", "", "ask this OpenAI-compatible server")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

// listedModel is one model in --json.
type listedModel struct {
	ID     string `json:"id"`
	Window int    `json:"window,omitempty"`
	Tools  string `json:"tools,omitempty"` // "yes", "no"; absent = the server does not say
	Used   bool   `json:"used,omitempty"`
}

func listModels(ctx context.Context, s *Streams, o modelListOptions) error {
	a, err := s.person(ctx)
	if err != nil {
		return err
	}
	e, err := a.Endpoint(provider.Choice{Provider: o.provider, BaseURL: o.baseURL})
	if err != nil {
		return err
	}
	models, err := a.ModelsOf(ctx, e)
	if err != nil {
		return err
	}
	if o.asJSON {
		list := make([]listedModel, len(models))
		for i, m := range models {
			list[i] = listedModel{ID: m.ID, Window: m.Window, Tools: m.Tools, Used: m.ID == e.Model}
		}
		return s.json(list)
	}
	s.say("%s, %s", e.Provider.ID, visible.Line(e.ShownURL()))
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, m := range models {
		sign, window := " ", ""
		if m.ID == e.Model {
			sign = "*"
		}
		if m.Window > 0 {
			window = fmt.Sprintf("%d tokens", m.Window)
		}
		fmt.Fprintf(table, "%s %s\t%s\t%s\n", sign, visible.Line(m.ID), window, toolsWord(m.Tools))
	}
	return table.Flush()
}

func toolsWord(tools string) string {
	return map[string]string{"yes": "tools", "no": "no tools"}[tools]
}

func newModelUseCmd(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "use PROVIDER/MODEL|MODEL",
		Short: "Save another model, without a check",
		Long: `Save another model. Without a provider it is one of the provider in use. A first part that names a provider is taken
as one: for a model of OpenRouter write openrouter/deepseek/deepseek-v4-pro.`,
		Example: "  autonomy model use ollama/qwen3\n  autonomy model use gpt-5.4-mini",
		Args:    words(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := s.person(cmd.Context())
			if err != nil {
				return err
			}
			d, err := a.UseModel(args[0])
			if err != nil {
				return err
			}
			return saveModel(cmd.Context(), s, a, d)
		},
	}
}

func saveModel(ctx context.Context, s *Streams, a *app.App, d app.ModelDraft) error {
	saved, err := a.SaveModel(d)
	if saved.KeyName != "" {
		s.say("Stored %s in %s", saved.KeyName, saved.Keys)
	}
	if err != nil {
		return err
	}
	s.say("Saved %s in %s", visible.Line(d.Provider+"/"+firstOf(d.Model, "(first with tools)")), saved.Config)
	for _, note := range saved.Wins {
		s.say("  %s", visible.Line(note))
	}
	if d.Key != "" {
		s.sayRestart(ctx)
	} else if a.MissesKey(d) {
		s.say("  no key is found yet: autonomy keys set %s", d.Provider)
	}
	return nil
}
