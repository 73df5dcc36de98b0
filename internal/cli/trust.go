package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/trust"
	"github.com/autonomy-team/autonomy/internal/visible"
)

type trustOptions struct{ show, revoke, asJSON bool }

func newTrustCmd(s *Streams) *cobra.Command {
	var o trustOptions
	cmd := &cobra.Command{
		Use:     "trust",
		Short:   "Agree that what lies in this workspace may act",
		GroupID: "start",
		Long: `Agree that what lies in this workspace may act: its settings, roles and skills as they are now, and the task files
that came with git. Until then tasks are listed, never worked. A file that changes later has no effect until it is
accepted again. --show lists what would act and changes nothing.`,
		Example: "  autonomy trust --show\n  autonomy trust",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "show" {
				o.show = true
				return nil
			}
			return words(0, 0)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runTrust(cmd.Context(), s, o) },
	}
	cmd.Flags().BoolVar(&o.show, "show", false, "only list what would act")
	cmd.Flags().BoolVar(&o.revoke, "revoke", false, "take the consent back")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "with --show: print JSON")
	return cmd
}

func runTrust(ctx context.Context, s *Streams, o trustOptions) error {
	if o.show && o.revoke {
		return usage("--show and --revoke exclude each other")
	}
	a, err := s.app(ctx)
	if err != nil {
		return err
	}
	if o.revoke {
		if err := a.Revoke(ctx); err != nil {
			return err
		}
		s.say("No longer trusted: %s", visible.Line(a.Workspace().Root))
		return nil
	}
	listing, err := a.ShowTrust(ctx)
	if err != nil {
		return err
	}
	if o.show {
		if o.asJSON {
			return s.json(viewListing(listing))
		}
		writeListing(s.Out, listing)
		return nil
	}
	writeListing(s.Err, listing)
	if err := a.Accept(ctx, listing); err != nil {
		return err
	}
	s.say("Trusted: %s", visible.Line(a.Workspace().Root))
	return nil
}

// listingView is what `trust --show --json` prints.
type listingView struct {
	Workspace string       `json:"workspace"`
	State     trust.State  `json:"state"`
	Files     []trust.File `json:"files"` // that would act
	Tasks     []trust.Task `json:"tasks"` // that came with git
	Notes     []trust.Note `json:"notes"`
}

func viewListing(l trust.Listing) listingView {
	return listingView{
		Workspace: l.Workspace.Root, State: l.State, Files: append([]trust.File{}, l.Files...),
		Tasks: append([]trust.Task{}, l.Tasks...), Notes: append([]trust.Note{}, l.Notes...),
	}
}

// writeListing shows everything that a consent would cover.
func writeListing(w io.Writer, l trust.Listing) {
	state := "trusted"
	if !l.State.Trusted {
		state = "not trusted"
	}
	fmt.Fprintf(w, "%s: %s\n", visible.Line(l.Workspace.Root), state)
	sign := map[bool]string{true: "accepted", false: "new     "}
	for _, f := range l.Files {
		fmt.Fprintf(w, "  %s  %s (%d bytes)\n", sign[f.Accepted], visible.Line(f.Path), f.Size)
	}
	for _, t := range l.Tasks {
		fmt.Fprintf(w, "  %s  %s, came with git: %s\n", sign[t.Accepted], visible.Line(t.Name), visible.Line(t.Subject))
		for _, step := range t.Steps {
			fmt.Fprintf(w, "              step    %s\n", visible.Line(step))
		}
		if t.Verify != "" {
			fmt.Fprintf(w, "              verify  %s\n", visible.Line(t.Verify))
		}
	}
	for _, n := range l.Notes {
		fmt.Fprintf(w, "  note      %s: %s\n", visible.Line(n.Where), visible.Line(n.Text))
	}
	if len(l.Files)+len(l.Tasks) == 0 {
		fmt.Fprintln(w, "  no settings, roles or skills, and no task that came with git")
	}
}

// consent asks once on a terminal whether an untrusted workspace may act. Elsewhere it says what is missing and goes
// on: untrusted tasks are listed, never worked.
func (s *Streams) consent(ctx context.Context) error {
	a, err := s.app(ctx)
	if err != nil {
		return err
	}
	state := a.TrustState(ctx)
	if state.Trusted {
		if state.Why != "" {
			s.say("autonomy: %s", visible.Line(state.Why))
		}
		return s.trackedTasks(ctx, a)
	}
	if !s.interactive() {
		s.say("autonomy: %s", visible.Line(state.Why))
		return nil
	}
	listing, err := a.ShowTrust(ctx)
	if err != nil {
		return err
	}
	writeListing(s.Err, listing)
	fmt.Fprint(s.Err, "May this act? [y/N] ")
	answer, _ := s.readLine() // the end of the input is a no
	if word := strings.ToLower(strings.TrimSpace(answer)); word != "y" && word != "yes" {
		return hinted(app.ErrUntrusted, "nothing acts before 'autonomy trust'")
	}
	return a.Accept(ctx, listing)
}

// trackedTasks says when tasks of a trusted workspace wait for consent because they came with git.
func (s *Streams) trackedTasks(ctx context.Context, a *app.App) error {
	listing, err := a.ShowTrust(ctx)
	if err != nil {
		return err
	}
	waiting := 0
	for _, t := range listing.Tasks {
		if !t.Accepted {
			waiting++
		}
	}
	if waiting > 0 {
		s.say("autonomy: untrusted: %s came with git; run autonomy trust", plural(waiting, "task"))
	}
	return nil
}
