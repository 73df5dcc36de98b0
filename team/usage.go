package team

import (
	"encoding/json"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// usageOf renders what a run cost for the task's result; nil when no model was asked.
func usageOf(u llm.Usage) json.RawMessage {
	if u.Total() == 0 {
		return nil
	}
	data, err := json.Marshal(u)
	if err != nil { // a cost that is not a number
		return nil
	}
	return data
}
