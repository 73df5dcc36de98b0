package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/outcome"
)

// Kind says where a goal came from, which decides how its run may end.
type Kind string

// The kinds of goal. Task and Run need a completion claim that is accepted; the others end when the model answers
// without calling a tool, and nobody judges the answer.
const (
	KindTask   Kind = "task"
	KindRun    Kind = "run"
	KindMail   Kind = "mail"
	KindPrompt Kind = "prompt"
	KindLine   Kind = "line"
)

// Claims reports whether a run of this kind ends by a completion claim.
func (k Kind) Claims() bool { return k == KindTask || k == KindRun }

// The default number of model turns of a run.
const (
	StepsOfRun  = 12
	StepsOfWork = 50
)

// Goal is what one run is to achieve. The zero value of a field is its default.
type Goal struct {
	Kind        Kind             // "" = KindRun
	Text        string           // the user message that opens the run; "" = the transcript already says it
	Mail        *Delivery        // mail that opens the run, before Text
	Entered     func() error     // called once, when Mail and Text are durable in the transcript; nil = nobody waits
	Subject     string           // of a task; for other kinds the goal in words
	Description string           // of a task
	Verify      string           // command that must exit 0 before a completion claim is accepted
	Resumed     bool             // a further round of the same attempt: nothing of its runbook or of recipes is certain any more
	Refused     int              // claims that were refused in earlier rounds of the attempt
	Task        autonomy.TaskID  // 0 = none
	Claim       autonomy.ClaimID // under which the task is held
	MaxSteps    int              // model turns; 0 = StepsOfRun or StepsOfWork
	Judge       outcome.Mode     // "" = Auto
	Strict      bool             // the first failed or denied action ends the run
	Proposals   int              // alternatives asked of the model in each turn; 0 = 1
}

// Fingerprint identifies a goal across runs: the SHA-256 of its subject, description and verify command, each with
// case and white space normalised in the subject and description.
func (g Goal) Fingerprint() string {
	fields, _ := json.Marshal([]string{normal(g.Subject), normal(g.Description), strings.TrimSpace(g.Verify)})
	sum := sha256.Sum256(fields)
	return hex.EncodeToString(sum[:])
}

func normal(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

func (g Goal) withDefaults() Goal {
	if g.Kind == "" {
		g.Kind = KindRun
	}
	if g.MaxSteps == 0 {
		g.MaxSteps = StepsOfWork
		if g.Kind == KindRun {
			g.MaxSteps = StepsOfRun
		}
	}
	if g.Judge == "" {
		g.Judge = outcome.Auto
	}
	g.Proposals = max(g.Proposals, 1)
	return g
}
