package agent

import "encoding/json"

// The events that come in every turn are read member by member. A member that is not known here, or is not written as
// our encoder writes it, leaves the event to the general decoder.

// quick decodes data by its members, and by the general decoder where that fails.
func quick[T any, P interface {
	*T
	members
	Data
}](raw json.RawMessage) (Data, error) {
	var v T
	if scan(raw, P(&v)) {
		return any(v).(Data), nil //nolint:errcheck // T has the methods of Data by value
	}
	var again T
	if err := json.Unmarshal(raw, &again); err != nil {
		return nil, err
	}
	return any(again).(Data), nil //nolint:errcheck // as above
}

func (d *ActionSelected) set(key, value []byte) bool {
	switch string(key) {
	case "call":
		return quoted(value, &d.Call)
	case "tool":
		return quoted(value, &d.Tool)
	case "name":
		return quoted(value, &d.Name)
	case "arguments":
		d.Arguments = append(json.RawMessage(nil), value...)
		return json.Valid(value)
	case "fingerprint":
		return plain(value, &d.Fingerprint)
	case "source":
		return plain(value, &d.Source)
	case "claim":
		return truth(value, &d.Claim)
	case "risk":
		return plain(value, &d.Risk)
	case "expected_effect":
		return quoted(value, &d.Effect)
	case "verification_plan":
		return quoted(value, &d.Plan)
	}
	return false
}

func (d *ApprovalDecision) set(key, value []byte) bool {
	switch string(key) {
	case "call":
		return quoted(value, &d.Call)
	case "decision":
		return plain(value, &d.Decision)
	case "reason":
		return quoted(value, &d.Reason)
	case "by":
		return quoted(value, &d.By)
	}
	return false
}

func (d *Observed) set(key, value []byte) bool {
	switch o := &d.Observation; string(key) {
	case "call":
		return quoted(value, &o.Call)
	case "tool":
		return quoted(value, &o.Tool)
	case "status":
		return plain(value, &o.Status)
	case "output":
		return quoted(value, &o.Output)
	case "exit":
		o.Exit = new(int)
		return whole(value, o.Exit)
	case "verified":
		o.Verified = new(bool)
		return truth(value, o.Verified)
	case "check":
		return quoted(value, &o.Check)
	case "duration_ns":
		return whole(value, &o.Duration)
	case "wrote":
		return truth(value, &o.Wrote)
	}
	return false
}

func (d *OutcomeEvaluated) set(key, value []byte) bool {
	switch string(key) {
	case "verdict":
		return plain(value, &d.Verdict)
	case "reason":
		return quoted(value, &d.Reason)
	}
	return false
}

func (d *SkillsSelected) set(key, value []byte) bool {
	if string(value) == "[]" {
		d.Names = []string{}
	}
	return string(key) == "names" && (d.Names != nil || string(value) == "null")
}

func (d *ModelCall) set(key, value []byte) bool {
	switch string(key) {
	case "purpose":
		return plain(value, &d.Purpose)
	case "provider":
		return plain(value, &d.Provider)
	case "model":
		return quoted(value, &d.Model)
	case "stop":
		return plain(value, &d.Stop)
	case "usage":
		return json.Unmarshal(value, &d.Usage) == nil
	case "latency_ms":
		return whole(value, &d.LatencyMS)
	case "try":
		return whole(value, &d.Try)
	case "final":
		return truth(value, &d.Final)
	}
	return false
}
