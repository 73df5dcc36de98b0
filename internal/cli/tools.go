package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/visible"
)

func newToolsCmd(s *Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:     "tools",
		Short:   "See the tools, and run one through the gateway",
		Example: "  autonomy tools list\n  autonomy tools call list_dir '{\"path\":\".\"}'",
		GroupID: "look",
	}, newToolsListCmd(s), newToolsCallCmd(s))
}

func newToolsListCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the toolsets: implemented, enabled, available, and why not",
		Example: "  autonomy tools list",
		Args:    words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := s.app(cmd.Context())
			if err != nil {
				return err
			}
			sets, err := a.Toolsets()
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(sets)
			}
			return writeToolsets(s.Out, sets)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func writeToolsets(w io.Writer, sets []tool.Toolset) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TOOLSET\tIMPLEMENTED\tENABLED\tAVAILABLE\tTOOLS")
	yes := map[bool]string{true: "yes", false: "no"}
	for _, set := range sets {
		what := strings.Join(set.Tools, " ")
		if !set.Available && set.Reason != "" {
			what = "(" + set.Reason + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", set.Name, yes[set.Implemented], yes[set.Enabled], yes[set.Available], visible.Clip(what, 100))
	}
	return table.Flush()
}

func newToolsCallCmd(s *Streams) *cobra.Command {
	var mode string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "call NAME JSON",
		Short: "Run one tool through the gateway",
		Long: `Run one tool in this process, through the same gateway as an agent's call. What you type is your own action, so mode
auto runs it unasked; ask asks you on a terminal, and is a no elsewhere; read-only runs only what reads. What nobody
may do stays refused. Exit status 1 unless the call succeeded.`,
		Example: `  autonomy tools call read_file '{"path":"README.md","limit":5}'
  autonomy tools call bash '{"command":"go version"}' --json`,
		Args: words(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runToolsCall(cmd.Context(), s, args[0], args[1], mode, asJSON)
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "", "ask, auto (default), read-only or full")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the observation as JSON")
	return cmd
}

func runToolsCall(ctx context.Context, s *Streams, name, args, mode string, asJSON bool) error {
	if !json.Valid([]byte(args)) {
		return usage("the arguments are not JSON: %s", visible.Clip(args, 80))
	}
	if _, err := gateway.ParseMode(mode); err != nil {
		return usage("--mode %q: want ask, auto, read-only or full", mode)
	}
	if err := s.consent(ctx); err != nil {
		return err
	}
	a, err := s.app(ctx)
	if err != nil {
		return err
	}
	var who gateway.Approver
	if s.interactive() {
		who = s.inline()
	}
	seen, err := a.CallTool(ctx, name, json.RawMessage(args), mode, who)
	if err != nil {
		return err
	}
	if asJSON {
		if err := s.json(seen); err != nil {
			return err
		}
	} else {
		s.print("%s", visible.Block(strings.TrimRight(seen.Output, "\n")))
	}
	if seen.Status != action.OK {
		s.say("%s: %s", visible.Line(name), seen.Status)
		return silent(ExitFailed)
	}
	return nil
}

func newPolicyCmd(s *Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:     "policy",
		Short:   "See how a command would be decided",
		Example: "  autonomy policy explain -- rm -rf build",
		GroupID: "look",
	}, newPolicyExplainCmd(s))
}

// explained is one line of `policy explain --json`.
type explained struct {
	Command string `json:"command"`
	gateway.Explanation
}

func newPolicyExplainCmd(s *Streams) *cobra.Command {
	var mode string
	var asJSON, stdin bool
	cmd := &cobra.Command{
		Use:   "explain -- COMMAND…",
		Short: "Say how risky a shell command is and what would be decided",
		Long: `Say how risky a shell command of an agent is, what would be decided, and why. Nothing runs. With --stdin each line of
standard input is one JSON string, and each line of output one JSON object.`,
		Example: "  autonomy policy explain -- rm -rf build\n  echo '\"git status\"' | autonomy policy explain --json --stdin",
		Args:    words(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if stdin == (len(args) > 0) {
				return usage("give either a command after --, or --stdin")
			}
			decide := func(command string) (explained, error) { return s.explainCommand(cmd.Context(), command, mode) }
			if stdin {
				return explainLines(s, decide)
			}
			e, err := decide(strings.Join(args, " "))
			if err != nil {
				return err
			}
			if asJSON {
				return jsonLines(s, []explained{e})
			}
			s.print("%s: %s risk, %s", visible.Line(e.Command), e.Risk, e.Decision)
			for _, reason := range e.Reasons {
				s.print("  %s", visible.Line(reason))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "", "ask, auto (default), read-only or full")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&stdin, "stdin", false, "read one JSON string a line")
	return cmd
}

func (s *Streams) explainCommand(ctx context.Context, command, mode string) (explained, error) {
	if _, err := gateway.ParseMode(mode); err != nil {
		return explained{}, usage("--mode %q: want ask, auto, read-only or full", mode)
	}
	a, err := s.app(ctx)
	if err != nil {
		return explained{}, err
	}
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return explained{}, fmt.Errorf("write the command as JSON: %w", err)
	}
	e, err := a.Explain("bash", args, mode)
	return explained{Command: command, Explanation: e}, err
}

func explainLines(s *Streams, decide func(string) (explained, error)) error {
	lines := bufio.NewReader(s.In)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var command string
			if err := json.Unmarshal(line, &command); err != nil {
				return usage("line %d is not a JSON string: %v", number, err)
			}
			e, err := decide(command)
			if err != nil {
				return err
			}
			if err := jsonLines(s, []explained{e}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read line %d: %w", number, err)
		}
	}
}
