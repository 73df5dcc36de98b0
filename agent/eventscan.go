package agent

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/autonomy-team/autonomy"
)

// envelope is an event whose data are still JSON.
type envelope struct {
	Run   autonomy.RunID     `json:"run_id"`
	Turn  int                `json:"turn"`
	Actor autonomy.AgentName `json:"actor"`
	Task  autonomy.TaskID    `json:"task"`
	Claim autonomy.ClaimID   `json:"claim"`
	Type  EventType          `json:"type"`
	Data  json.RawMessage    `json:"data"`
}

// openEnvelope reads everything but the data. A log is read far more often than it is written, and the general decoder
// would go over the data three times; what the quick scan does not understand it leaves to it, errors included.
func openEnvelope(raw []byte) (envelope, error) {
	var e envelope
	if scan(bytes.TrimSpace(raw), &e) {
		return e, nil
	}
	e = envelope{}
	err := json.Unmarshal(raw, &e)
	return e, err
}

// members is what takes the members of an object, one by one; false gives the object to the general decoder.
type members interface {
	set(key, value []byte) bool
}

// scan takes an object as our own encoder writes it: no white space between the members. It reports false for anything
// else. Values that set does not look into are checked when they are decoded.
func scan(s []byte, into members) bool {
	if len(s) < 2 || s[0] != '{' {
		return false
	}
	if len(s) == 2 {
		return s[1] == '}'
	}
	for s = s[1:]; ; s = s[1:] {
		n := stringEnd(s)
		if n < 0 || n >= len(s) || s[n] != ':' {
			return false
		}
		key := s[1 : n-1]
		s = s[n+1:]
		n = valueEnd(s)
		if n <= 0 || n >= len(s) || !into.set(key, s[:n]) {
			return false
		}
		if s = s[n:]; s[0] == '}' {
			return len(s) == 1
		}
		if s[0] != ',' {
			return false
		}
	}
}

func (e *envelope) set(key, value []byte) bool {
	switch string(key) {
	case "run_id":
		return plain(value, (*string)(&e.Run))
	case "actor":
		return plain(value, (*string)(&e.Actor))
	case "claim":
		return plain(value, (*string)(&e.Claim))
	case "type":
		return plain(value, (*string)(&e.Type))
	case "turn":
		return whole(value, &e.Turn)
	case "task":
		return whole(value, &e.Task)
	case "data":
		e.Data = value
		return true
	case "seq", "ts", "sum":
		return true
	default:
		return false
	}
}

// plain reads a string of printable ASCII without escapes.
func plain[S ~string](value []byte, into *S) bool {
	if len(value) < 2 || value[0] != '"' {
		return false
	}
	value = value[1 : len(value)-1]
	for _, c := range value {
		if c < ' ' || c >= utf8.RuneSelf || c == '\\' {
			return false
		}
	}
	*into = S(value)
	return true
}

// quoted reads any string.
func quoted[S ~string](value []byte, into *S) bool {
	return plain(value, into) || len(value) > 0 && value[0] == '"' && json.Unmarshal(value, into) == nil
}

// whole reads a number as our encoder writes it: digits, with a minus before them perhaps.
func whole[N ~int | ~int64](value []byte, into *N) bool {
	n, err := strconv.ParseInt(string(value), 10, 64)
	*into = N(n)
	return err == nil && value[0] != '+'
}

func truth(value []byte, into *bool) bool {
	*into = string(value) == "true"
	return *into || string(value) == "false"
}

// stringEnd is the length of the string at the beginning of s, quotes included; -1 if there is none.
func stringEnd(s []byte) int {
	if len(s) == 0 || s[0] != '"' {
		return -1
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// valueEnd is the length of the value at the beginning of s; -1 if it does not end.
func valueEnd(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			n := stringEnd(s[i:])
			if n < 0 {
				return -1
			}
			if i += n - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
