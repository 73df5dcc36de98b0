package agent

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy/agent/action"
)

// superseded is the result of calls whose reply entered the transcript although another path was taken.
const superseded = "not run: superseded"

// open lets the path that is taken into the transcript, before its first action runs: the reply behind it, or for a
// path that no model proposed the model's first reply, whose calls were superseded. It is called once something of the
// path is known to run.
func (w *walk) open() error {
	if w.opened {
		return nil
	}
	w.opened = true
	r, replies := w.run, w.proposal.replies
	fromModel := w.x.path.Source == action.FromModel
	switch {
	case fromModel && r.tally.cut > 0:
		r.report.Text += w.x.path.Text // the rest of an answer that was cut
	case fromModel:
		r.report.Text = w.x.path.Text
	}
	if len(replies) == 0 {
		return nil
	}
	i := 0
	if fromModel {
		i = w.x.path.Reply
	}
	m := replies[i].Message
	if err := r.Transcript.Reply(m); err != nil {
		return &logError{err}
	}
	if fromModel {
		return nil
	}
	results := make([]Result, len(m.Calls))
	for i, c := range m.Calls {
		results[i] = Result{c.ID, superseded}
	}
	if err := r.Transcript.Results(results); err != nil {
		return &logError{err}
	}
	return nil
}

// close completes the path in the transcript: the results of a model's calls, or what was done otherwise as text.
func (w *walk) close() error {
	if err := w.open(); err != nil {
		return err
	}
	r := w.run
	if w.x.path.Source != action.FromModel {
		return r.tell(w.x.told(r.Mask))
	}
	results := make([]Result, len(w.x.observations))
	for i, o := range w.x.observations {
		results[i] = Result{o.Call, resultText(o)}
	}
	if err := r.Transcript.Results(results); err != nil {
		return &logError{err}
	}
	if w.x.path.Cut && len(w.x.path.Actions) == 0 {
		if err := r.tell("Your answer was cut at its length limit. Continue where it ends."); err != nil {
			return err
		}
	}
	if i := w.x.path.Reply; i < len(w.proposal.replies) {
		return r.tell(strings.Join(w.proposal.replies[i].Notes, "\n"))
	}
	return nil
}

// told is what the model reads of actions that it did not propose.
func (x execution) told(mask func(string) string) string {
	var lines []string
	for i, o := range x.observations {
		a := x.path.Actions[i]
		how := string(o.Status)
		if o.Exit != nil {
			how = fmt.Sprintf("exit %d", *o.Exit)
		}
		word := "Already done"
		if o.Status != action.OK {
			word = "Tried"
		}
		lines = append(lines, fmt.Sprintf("%s: %s, %s", word, escape(mask(describe(a))), how)+outputBlock(o.Output))
	}
	return strings.Join(lines, "\n")
}

// describe names an action for people and models: a command as it is, anything else as tool and arguments.
func describe(a action.Action) string {
	what := a.Tool
	var args struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(a.Arguments, &args); err == nil && args.Command != "" {
		what = "`" + args.Command + "`"
	} else if len(a.Arguments) > 2 {
		what += " " + clip(string(bytes.TrimSpace(a.Arguments)), 400)
	}
	if a.Name != "" {
		what = a.Name + " (" + what + ")"
	}
	return what
}

// resultText is an observation as the result of the model's call, what the tool returned between marks. Exit status and the place of a long output are in the
// output already: tools say them.
func resultText(o action.Observation) string {
	var b strings.Builder
	switch o.Status {
	case action.OK:
		b.WriteString(fenced(o.Output, rand.Text))
	case action.Failed:
		b.WriteString("error: " + fenced(o.Output, rand.Text))
	default: // nothing ran: the words are ours
		b.WriteString("error (" + string(o.Status) + "): " + o.Output)
	}
	if o.Status == action.OK && o.Verified != nil && !*o.Verified {
		fmt.Fprintf(&b, "\n[not verified: %s]", o.Check)
	}
	return b.String()
}
