package agent

import (
	"encoding/json"
	"strconv"

	"github.com/autonomy-team/autonomy/agent/action"
)

// Ranked paths are the largest part of a log. Like the events of eventfields.go they are read member by member.

func (d *CandidatesRanked) set(key, value []byte) bool {
	switch string(key) {
	case "certain":
		return truth(value, &d.Certain)
	case "position":
		return whole(value, &d.Position)
	case "paths":
		d.Paths = []action.Ranked{}
		return elements(value, func(raw []byte) bool {
			var p rankedFields
			ok := scan(raw, &p)
			d.Paths = append(d.Paths, action.Ranked(p))
			return ok
		})
	}
	return false
}

// The types of agent/action as readers of themselves.
type (
	rankedFields action.Ranked
	scoreFields  action.Score
	actionFields action.Action
)

func (r *rankedFields) set(key, value []byte) bool {
	switch string(key) {
	case "source":
		return plain(value, &r.Source)
	case "actions":
		r.Actions = []action.Action{}
		return elements(value, func(raw []byte) bool {
			var a actionFields
			ok := scan(raw, &a)
			r.Actions = append(r.Actions, action.Action(a))
			return ok
		})
	case "certain":
		return truth(value, &r.Certain)
	case "evidence":
		return whole(value, &r.Evidence)
	case "text":
		return quoted(value, &r.Text)
	case "reply":
		return whole(value, &r.Reply)
	case "score":
		return scan(value, (*scoreFields)(&r.Score))
	case "dropped":
		return plain(value, &r.Dropped)
	}
	return false
}

func (s *scoreFields) set(key, value []byte) bool {
	switch string(key) {
	case "total":
		return fraction(value, &s.Total)
	case "purpose":
		return fraction(value, &s.Purpose)
	case "evidence_strength":
		return fraction(value, &s.Evidence)
	case "risk":
		return fraction(value, &s.Risk)
	case "side_effects":
		return fraction(value, &s.SideEffects)
	case "penalty":
		return fraction(value, &s.Penalty)
	}
	return false
}

func (a *actionFields) set(key, value []byte) bool {
	switch string(key) {
	case "call":
		return quoted(value, &a.Call)
	case "tool":
		return quoted(value, &a.Tool)
	case "arguments":
		a.Arguments = append(json.RawMessage(nil), value...)
		return json.Valid(value)
	case "purpose":
		return quoted(value, &a.Purpose)
	case "claim":
		return truth(value, &a.Claim)
	case "risk":
		return plain(value, &a.Risk)
	case "side_effects":
		return truth(value, &a.SideEffects)
	case "expected_effect":
		return quoted(value, &a.Effect)
	case "verification_plan":
		return quoted(value, &a.Plan)
	case "read_only":
		return truth(value, &a.ReadOnly)
	case "fingerprint":
		return plain(value, &a.Fingerprint)
	}
	return false
}

// fraction reads a number of a score.
func fraction(value []byte, into *float64) bool {
	if len(value) == 1 && value[0] == '0' {
		*into = 0
		return true
	}
	if !json.Valid(value) { // ParseFloat takes more than JSON does
		return false
	}
	n, err := strconv.ParseFloat(string(value), 64)
	*into = n
	return err == nil
}

// elements hands over each element of an array as our own encoder writes it.
func elements(s []byte, each func(raw []byte) bool) bool {
	if len(s) < 2 || s[0] != '[' {
		return false
	}
	if len(s) == 2 {
		return s[1] == ']'
	}
	for s = s[1:]; ; s = s[1:] {
		n := valueEnd(s)
		if n <= 0 || n >= len(s) || !each(s[:n]) {
			return false
		}
		if s = s[n:]; s[0] == ']' {
			return len(s) == 1
		}
		if s[0] != ',' {
			return false
		}
	}
}
