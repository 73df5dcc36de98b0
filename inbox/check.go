package inbox

import (
	"errors"
	"fmt"
	"io"

	"github.com/autonomy-team/autonomy"
)

// LineReport says what a reader of a mailbox makes of one of its lines.
type LineReport struct {
	Line  int64              `json:"line"` // from 1
	State State              `json:"state"`
	ID    autonomy.MessageID `json:"id,omitempty"`    // also of a line that has none of its own; "" if it is not a message
	Error string             `json:"error,omitempty"` // the reason, for every state but delivered and a blank line
}

// Check reads a mailbox from its start and reports every line. It changes nothing. The error is that of r, with the
// reports of the lines before it.
func Check(r io.Reader) ([]LineReport, error) {
	reports := []LineReport{}
	understand := reader{seen: map[autonomy.MessageID]int64{}}
	for lines := newLines(r, 0, 0, 64<<10); ; {
		raw, err := lines.next()
		if errors.Is(err, io.EOF) {
			return reports, nil
		}
		if err != nil {
			return reports, fmt.Errorf("read mailbox: %w", err)
		}
		state, m, err := understand.classify(raw)
		report := LineReport{Line: raw.number, State: state, ID: m.ID}
		if err != nil {
			report.Error = err.Error()
		}
		reports = append(reports, report)
	}
}
