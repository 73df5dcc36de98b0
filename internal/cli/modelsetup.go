package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/doctor"
	"github.com/autonomy-team/autonomy/internal/visible"
)

type setupOptions struct {
	app.ModelDraft
	keyStdin, yes, noCheck bool
}

func newModelSetupCmd(s *Streams) *cobra.Command {
	var o setupOptions
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Set up a model: provider, key, model, check, save",
		Long: `Set up a model. On a terminal it asks for what the flags leave open, lists the models of the server, checks that
tool calls really work, and saves provider, model and base URL in your config.yaml and the key in keys.env (0600).

Elsewhere, or with --yes, it asks nothing: --provider is needed, the rest has defaults, and a failed check saves
nothing.`,
		Example: `  autonomy model setup
  autonomy model setup --provider ollama --model qwen3 --yes
  pass show deepseek | autonomy model setup --provider deepseek --key-stdin --yes
  autonomy model setup --base-url http://gpu.example.com:8000/v1 --no-check --yes`,
		Args: words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runSetup(cmd.Context(), s, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Provider, "provider", "", "provider; custom is any other OpenAI-compatible server")
	f.StringVar(&o.BaseURL, "base-url", "", "base URL, used as it is written")
	f.StringVar(&o.Model, "model", "", "model")
	f.BoolVar(&o.keyStdin, "key-stdin", false, "read the key from the first line of standard input")
	f.BoolVar(&o.yes, "yes", false, "ask nothing")
	f.BoolVar(&o.noCheck, "no-check", false, "save without asking the server anything")
	return cmd
}

func runSetup(ctx context.Context, s *Streams, o setupOptions) error {
	a, err := s.person(ctx)
	if err != nil {
		return err
	}
	if o.keyStdin {
		if o.Key, err = (&Streams{In: s.In}).secret(""); err != nil {
			return err
		}
		if o.Key == "" {
			return usage("--key-stdin: standard input has no key on its first line")
		}
	}
	if o.Provider == "" && o.BaseURL != "" {
		o.Provider = provider.Custom
	}
	w := wizard{s: s, app: a, setupOptions: o, asks: s.interactive() && !o.yes && !o.keyStdin}
	for _, step := range []func(context.Context) error{w.provider, w.baseURL, w.key, w.model, w.check} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return saveModel(ctx, s, a, w.ModelDraft)
}

// wizard fills a draft step by step: from flags, by asking, else by defaults.
type wizard struct {
	setupOptions
	s    *Streams
	app  *app.App
	asks bool
}

func (w *wizard) provider(context.Context) error {
	rows := provider.Table()
	if w.Provider == "" && !w.asks {
		return usage("--provider is needed where nobody can be asked")
	}
	if w.Provider == "" {
		for i, p := range rows {
			w.s.say("%3d  %-12s %s", i+1, p.ID, firstOf(p.BaseURL, "any other OpenAI-compatible server"))
		}
		answer, err := w.s.ask("Provider (number or name)", rows[0].ID)
		if err != nil {
			return err
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(rows) {
			answer = rows[n-1].ID
		}
		w.Provider = answer
	}
	if _, ok := provider.Find(w.Provider); !ok {
		return &failure{code: ExitUsage, err: &provider.UnknownProviderError{ID: visible.Line(w.Provider)}}
	}
	return nil
}

func (w *wizard) baseURL(context.Context) (err error) {
	if w.BaseURL == "" && w.asks {
		e, _ := w.app.DraftEndpoint(w.ModelDraft) // its URL is only proposed
		row, _ := provider.Find(w.Provider)
		for _, url := range slices.Sorted(maps.Keys(row.Hosts)) {
			w.s.say("     other: %s (%s)", url, row.Hosts[url])
		}
		proposed := firstOf(e.BaseURL, row.BaseURL)
		answer, err := w.s.ask("Base URL", proposed)
		if err != nil {
			return err
		}
		if answer != proposed {
			w.BaseURL = answer
		}
	}
	_, err = w.app.DraftEndpoint(w.ModelDraft)
	var bad *provider.URLError
	var refused *provider.RefusedModelError
	if errors.As(err, &bad) || errors.As(err, &refused) {
		return &failure{code: ExitUsage, err: err}
	}
	return nil
}

func (w *wizard) key(context.Context) error {
	e, err := w.app.DraftEndpoint(w.ModelDraft)
	var missing *provider.MissingKeyError
	if err != nil && !errors.As(err, &missing) {
		return err
	}
	if w.Key != "" || len(e.KeyVars()) == 0 || !w.asks {
		return nil // one that is missing is said by the check, and when all is saved
	}
	name := e.KeyVars()[0]
	prompt := fmt.Sprintf("Key %s (not shown): ", name)
	switch {
	case e.Key != "" && e.KeyFrom != "fixed":
		prompt = fmt.Sprintf("Key %s (not shown; empty keeps the one from %s): ", name, e.KeyFrom)
	case e.Provider.KeyOptional:
		prompt = fmt.Sprintf("Key %s (not shown; empty if the server needs none): ", name)
	}
	w.Key, err = w.s.secret(prompt)
	return err
}

// shownModels is how many models are listed for choosing.
const shownModels = 40

func (w *wizard) model(ctx context.Context) error {
	if w.Model != "" || w.noCheck && !w.asks {
		return nil
	}
	e, err := w.app.DraftEndpoint(w.ModelDraft)
	if err != nil || !w.asks {
		w.Model = e.Model // the provider's default; the check says what is wrong
		return nil
	}
	var models []provider.ModelInfo
	if !w.noCheck {
		if models, err = w.app.ModelsOf(ctx, e); err != nil {
			w.s.say("The server does not list its models: %s", visible.Line(err.Error()))
		}
	}
	for i, m := range models[:min(len(models), shownModels)] {
		w.s.say("%3d  %s  %s", i+1, visible.Line(m.ID), toolsWord(m.Tools))
	}
	if n := len(models) - shownModels; n > 0 {
		w.s.say("     and %d more; 'autonomy model list' shows all", n)
	}
	proposed := e.Model
	if proposed == "" && len(models) > 0 {
		proposed = models[0].ID
	}
	answer, err := w.s.ask("Model (number or name)", proposed)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(models) {
		answer = models[n-1].ID
	}
	w.Model = answer
	return nil
}

// check tries the draft. When it fails nothing is saved, unless a person says so.
func (w *wizard) check(ctx context.Context) error {
	if w.noCheck {
		return nil
	}
	var rows []doctor.Row
	w.s.spin("checking", func(progress func(done, total int)) { rows = w.app.CheckModel(ctx, w.ModelDraft, progress) })
	if err := ctx.Err(); err != nil {
		return err
	}
	writeRows(w.s.Err, rows)
	if !doctor.Failed(rows) {
		return nil
	}
	if w.asks {
		answer, err := w.s.ask("Save it all the same? (y or n)", "n")
		if err != nil {
			return err
		}
		if word := strings.ToLower(answer); word == "y" || word == "yes" {
			return nil
		}
	}
	return &failure{code: ExitFailed, err: errors.New("the check failed; nothing was saved"), hint: "--no-check saves without it"}
}
