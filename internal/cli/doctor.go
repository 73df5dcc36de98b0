package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/doctor"
	"github.com/autonomy-team/autonomy/internal/visible"
)

type doctorOptions struct {
	asJSON, offline          bool
	provider, model, baseURL string
}

func newDoctorCmd(s *Streams) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Look whether everything works here, and say how to put right what does not",
		GroupID: "model",
		Long: `Look whether everything works here: settings, trust, keys, board, mailboxes, locks, file events, programs, and
the model, for which it lists the models of the server and makes two tiny requests with one tool. It repairs nothing.

Rows are ok, warning, failure or skipped. Exit status: 0, or 1 when a check that is required fails.`,
		Example: "  autonomy doctor\n  autonomy doctor --offline\n  autonomy doctor --provider deepseek --json",
		Args:    words(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), s, o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	f.BoolVar(&o.offline, "offline", false, "leave out what needs a network")
	f.StringVar(&o.provider, "provider", "", "look at this provider instead of the one of the settings")
	f.StringVar(&o.model, "model", "", "look at this model")
	f.StringVar(&o.baseURL, "base-url", "", "look at this OpenAI-compatible server")
	cmd.AddCommand(newTryLockCmd(s))
	return cmd
}

// newTryLockCmd is the second process of the check that locks exclude.
func newTryLockCmd(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:    "try-lock PATH",
		Hidden: true,
		Args:   words(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			got, err := doctor.TryLock(cmd.Context(), s.path(args[0]))
			switch {
			case err != nil:
				return &failure{code: ExitUsage, err: err}
			case !got:
				return silent(ExitFailed)
			}
			return nil
		},
	}
}

// doctorReport is the document of --json.
type doctorReport struct {
	OK   bool         `json:"ok"`
	Rows []doctor.Row `json:"rows"`
}

func runDoctor(ctx context.Context, s *Streams, o doctorOptions) error {
	a, err := s.person(ctx)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	var rows []doctor.Row
	s.spin("checking", func(progress func(done, total int)) {
		rows = a.Diagnose(ctx, app.DoctorOptions{
			Offline: o.offline, TryLock: []string{program, "doctor", "try-lock"}, Progress: progress,
			Model: provider.Choice{Provider: o.provider, Model: o.model, BaseURL: o.baseURL},
		})
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	failed := doctor.Failed(rows)
	if o.asJSON {
		if err := s.json(doctorReport{OK: !failed, Rows: rows}); err != nil {
			return err
		}
	} else {
		writeRows(s.Out, rows)
		s.say("%s", verdict(rows))
	}
	if failed {
		return silent(ExitFailed)
	}
	return nil
}

// writeRows writes one line a row and one for its fix. Neighbours that were skipped for one reason share theirs.
func writeRows(w io.Writer, rows []doctor.Row) {
	for i, r := range rows {
		names := r.Name
		if r.State == doctor.Skipped {
			if i > 0 && same(rows[i-1], r) {
				continue
			}
			for _, next := range rows[i+1:] {
				if !same(next, r) {
					break
				}
				names += ", " + next.Name
			}
		}
		if names != r.Name {
			names += ":" // too many for the column
		}
		fmt.Fprintf(w, "%-8s %-11s %s\n", r.State, names, visible.Line(r.Seen))
		if r.Fix != "" {
			fmt.Fprintf(w, "%-20s fix: %s\n", "", visible.Line(r.Fix))
		}
	}
}

func same(a, b doctor.Row) bool { return a.State == b.State && a.Seen == b.Seen && a.Fix == b.Fix }

func verdict(rows []doctor.Row) string {
	count := map[doctor.State]int{}
	for _, r := range rows {
		count[r.State]++
	}
	switch {
	case doctor.Failed(rows):
		return fmt.Sprintf("Not ready: %s, %s.", plural(count[doctor.Failure], "failure"), plural(count[doctor.Warning], "warning"))
	case count[doctor.Failure]+count[doctor.Warning] > 0:
		return fmt.Sprintf("Ready, with %s.", plural(count[doctor.Failure]+count[doctor.Warning], "warning"))
	}
	return "Ready."
}

// spinStep is the time between two pictures of the spinner.
const spinStep = 120 * time.Millisecond

// spin runs work and, on a terminal only, shows that it is going on and how far it is.
func (s *Streams) spin(what string, work func(progress func(done, total int))) {
	if !isTerminal(s.Err) {
		work(nil)
		return
	}
	var done, total atomic.Int64
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(spinStep)
		defer tick.Stop()
		for i := 0; ; i++ {
			fmt.Fprintf(s.Err, "\r%c %s %d of %d ", `|/-\`[i%4], what, done.Load(), total.Load())
			select {
			case <-tick.C:
			case <-end:
				fmt.Fprint(s.Err, "\r\x1b[K")
				return
			}
		}
	}()
	work(func(d, t int) {
		done.Store(int64(d))
		total.Store(int64(t))
	})
	close(end)
	<-ended
}
