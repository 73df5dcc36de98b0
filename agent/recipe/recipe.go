// Package recipe learns single actions that achieved a goal and offers them when the same goal comes again, so that what
// is known needs no model. An action counts by goal fingerprint, position and action fingerprint; the file format is
// documented in docs/formats/recipes.md.
package recipe

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/autonomy-team/autonomy/agent/action"
)

// Threshold is how many achieved runs make an action a recipe.
const Threshold = 2

// keep is how many actions the file remembers; of those that are no recipe yet the oldest are forgotten first.
const keep = 5000

// State is what a recipe may do.
type State string

// The states. Counting is no recipe yet; a Candidate is offered and ranked; an Active one spares the model call;
// Disabled is a person's no, and stays.
const (
	Counting  State = "counting"
	Candidate State = "candidate"
	Active    State = "active"
	Disabled  State = "disabled"
)

// Recipe is one action at one place of one goal.
type Recipe struct {
	ID          string          `json:"id"`
	Goal        string          `json:"goal"` // fingerprint
	Position    int             `json:"position"`
	Fingerprint string          `json:"fingerprint"`
	Tool        string          `json:"tool"`
	Arguments   json.RawMessage `json:"arguments,omitempty"` // absent for the completion claim
	Claim       bool            `json:"claim,omitempty"`
	Timeout     time.Duration   `json:"timeout_ns,omitempty"`
	Count       int             `json:"count"` // achieved runs
	State       State           `json:"state"`
}

// ErrNotFound says that there is no recipe with the id.
var ErrNotFound = errors.New("no such recipe")

const version = 1

type file struct {
	Version int      `json:"version"`
	Recipes []Recipe `json:"recipes"`
}

// Parse reads the file; nothing at all is an empty one. The longest unused stand first.
func Parse(data []byte) ([]Recipe, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("read recipes: %w", err)
	}
	if f.Version != version {
		return nil, fmt.Errorf("read recipes: version %d is not known here", f.Version)
	}
	return f.Recipes, nil
}

// Format writes the file, one recipe a line, with the arguments as the model wrote them but for white space.
func Format(list []Recipe) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"version\":%d,\"recipes\":[", version)
	for i, r := range list {
		line, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("write recipes: %w", err)
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(line)
	}
	out.WriteString("\n]}\n")
	return out.Bytes(), nil
}

// SetState gives the file with one recipe, named by its id, in another state. What only counts can be disabled alone.
func SetState(data []byte, id string, s State) ([]byte, error) {
	list, err := Parse(data)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(r Recipe) bool { return r.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	if list[i].Count < Threshold && s != Disabled {
		return nil, fmt.Errorf("recipe %s has achieved its goal %d times, %d are needed", id, list[i].Count, Threshold)
	}
	list[i].State = s
	return Format(list)
}

// id names a recipe for people: the beginning of the hash of its key.
func id(goal string, position int, fingerprint string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", goal, position, fingerprint))
	return hex.EncodeToString(sum[:6])
}

// action is the recipe as it is proposed.
func (r Recipe) action() action.Action {
	return action.Action{
		Call: fmt.Sprintf("recipe-%d", r.Position+1), Tool: r.Tool, Arguments: r.Arguments, Claim: r.Claim, Timeout: r.Timeout,
		Purpose: fmt.Sprintf("repeat what achieved this goal %d times", r.Count),
	}
}

// trim forgets the oldest of those that only count, if there are too many.
func trim(list []Recipe) []Recipe {
	over := len(list) - keep
	return slices.DeleteFunc(list, func(r Recipe) bool {
		if over > 0 && r.State == Counting {
			over--
			return true
		}
		return false
	})
}

// byEvidence orders recipes of one place, the most successful first.
func byEvidence(a, b Recipe) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.ID, b.ID))
}
