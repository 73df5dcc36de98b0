package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/agent/provider"
)

func newKeysCmd(s *Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:     "keys",
		Short:   "Keep the keys of model providers",
		GroupID: "model",
		Long: `Keep the keys of model providers in keys.env of your configuration folder, which only you can read. A variable
of the environment wins over the file. No command shows a key.`,
		Example: "  autonomy keys set deepseek\n  pass show openai | autonomy keys set OPENAI_API_KEY\n  autonomy keys list",
	}, newKeysSetCmd(s), newKeysListCmd(s), newKeysRemoveCmd(s))
}

func newKeysSetCmd(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:               "set NAME|PROVIDER",
		Short:             "Store a key, typed hidden or read from standard input",
		Example:           "  autonomy keys set openrouter\n  pass show deepseek | autonomy keys set deepseek",
		Args:              words(1, 1),
		ValidArgsFunction: completeProviders,
		RunE:              func(cmd *cobra.Command, args []string) error { return setKey(cmd.Context(), s, args[0]) },
	}
}

func setKey(ctx context.Context, s *Streams, word string) error {
	a, err := s.person(ctx)
	if err != nil {
		return err
	}
	name, err := a.KeyName(word)
	if err != nil {
		return err
	}
	key, err := s.secret("Key for " + name + " (not shown): ")
	if err != nil {
		return err
	}
	if key == "" {
		return usage("no key was given: type it, or write it to standard input")
	}
	path, wins, err := a.StoreKey(name, key)
	if err != nil {
		return err
	}
	s.say("Stored %s in %s", name, path)
	if wins {
		s.say("%s is also set in the environment, which wins", name)
	}
	s.sayRestart(ctx)
	return nil
}

// sayRestart tells that a daemon which runs here has read the keys at its start.
func (s *Streams) sayRestart(ctx context.Context) {
	daemon, err := s.daemon(ctx)
	if err != nil {
		return
	}
	daemon.Close()
	s.say("The daemon of this workspace reads keys when it starts: autonomy down, then autonomy up --resume")
}

func newKeysListCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the names of the keys that are found, and where",
		Example: "  autonomy keys list",
		Args:    words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := s.person(cmd.Context())
			if err != nil {
				return err
			}
			keys, err := a.Keys()
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(keys)
			}
			if len(keys) == 0 {
				s.print("No keys.")
				return nil
			}
			table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "NAME\tFROM\tUSED BY")
			for _, k := range keys {
				from := k.From
				if k.Hidden {
					from += " (wins over keys.env)"
				}
				fmt.Fprintf(table, "%s\t%s\t%s\n", k.Name, from, firstOf(strings.Join(k.UsedBy, ", "), "-"))
			}
			return table.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newKeysRemoveCmd(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:               "rm NAME|PROVIDER",
		Aliases:           []string{"remove"},
		Short:             "Remove a key from keys.env",
		Example:           "  autonomy keys rm openrouter",
		Args:              words(1, 1),
		ValidArgsFunction: completeProviders,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := s.person(cmd.Context())
			if err != nil {
				return err
			}
			name, err := a.KeyName(args[0])
			if err != nil {
				return err
			}
			if !a.HasStoredKey(name) {
				return hinted(fmt.Errorf("no %s in keys.env", name), "'autonomy keys list' shows what there is")
			}
			path, wins, err := a.StoreKey(name, "")
			if err != nil {
				return err
			}
			s.say("Removed %s from %s", name, path)
			if wins {
				s.say("%s is still set in the environment", name)
			}
			return nil
		},
	}
}

func completeProviders(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	for _, p := range provider.Table() {
		if len(args) == 0 && strings.HasPrefix(p.ID, begun) {
			ids = append(ids, p.ID)
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
