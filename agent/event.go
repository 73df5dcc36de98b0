package agent

import (
	"encoding/json"
	"fmt"

	"github.com/autonomy-team/autonomy"
)

// EventType names an event on the wire. The set is closed.
type EventType string

// The events, in the order in which a run writes them; the last five come where they happen.
const (
	TypeRunStarted       EventType = "run_started"
	TypeIdentityInjected EventType = "identity_injected"
	TypeSkillsSelected   EventType = "skills_selected"
	TypeCandidatesRanked EventType = "candidates_ranked"
	TypeActionSelected   EventType = "action_selected"
	TypeApprovalDecision EventType = "approval_decision"
	TypeObservation      EventType = "observation"
	TypeOutcomeEvaluated EventType = "outcome_evaluated"
	TypeRecipeLearned    EventType = "recipe_learned"
	TypeLearningReview   EventType = "learning_review"
	TypeRunFinished      EventType = "run_finished"
	TypeCompacted        EventType = "compacted"
	TypeMailDelivered    EventType = "mail_delivered"
	TypeBudget           EventType = "budget"
	TypeModelCall        EventType = "model_call"
	TypeError            EventType = "error"
)

// Event is one record of a run. The log adds seq, ts and the checksum. Data is one of the structs of this package.
type Event struct {
	Run   autonomy.RunID     `json:"run_id"`
	Turn  int                `json:"turn"` // 0 before the first turn
	Actor autonomy.AgentName `json:"actor,omitempty"`
	Task  autonomy.TaskID    `json:"task,omitempty"`
	Claim autonomy.ClaimID   `json:"claim,omitempty"`
	Type  EventType          `json:"type"`
	Data  Data               `json:"data"`
}

// Data is the body of an event. Only this package implements it.
type Data interface {
	eventType() EventType
}

// DecodeEvent reads one record of a run's log; unknown keys of the envelope (seq, ts, sum) are ignored. A type outside
// the vocabulary is an error.
func DecodeEvent(raw []byte) (Event, error) {
	envelope, err := openEnvelope(raw)
	if err != nil {
		return Event{}, fmt.Errorf("decode event: %w", err)
	}
	data, err := decodeData(envelope.Type, envelope.Data)
	if err != nil {
		return Event{}, fmt.Errorf("decode event %q: %w", envelope.Type, err)
	}
	return Event{
		Run: envelope.Run, Turn: envelope.Turn, Actor: envelope.Actor,
		Task: envelope.Task, Claim: envelope.Claim, Type: envelope.Type, Data: data,
	}, nil
}

func decodeData(t EventType, raw json.RawMessage) (Data, error) {
	switch t {
	case TypeRunStarted:
		return decode[RunStarted](raw)
	case TypeIdentityInjected:
		return decode[IdentityInjected](raw)
	case TypeSkillsSelected:
		return quick[SkillsSelected](raw)
	case TypeCandidatesRanked:
		return quick[CandidatesRanked](raw)
	case TypeActionSelected:
		return quick[ActionSelected](raw)
	case TypeApprovalDecision:
		return quick[ApprovalDecision](raw)
	case TypeObservation:
		return quick[Observed](raw)
	case TypeOutcomeEvaluated:
		return quick[OutcomeEvaluated](raw)
	case TypeRecipeLearned:
		return decode[RecipeLearned](raw)
	case TypeLearningReview:
		return decode[LearningReview](raw)
	case TypeRunFinished:
		return decode[RunFinished](raw)
	case TypeCompacted:
		return decode[Compacted](raw)
	case TypeMailDelivered:
		return decode[MailDelivered](raw)
	case TypeBudget:
		return decode[BudgetRefused](raw)
	case TypeModelCall:
		return quick[ModelCall](raw)
	case TypeError:
		return decode[Fault](raw)
	default:
		return nil, fmt.Errorf("not in the vocabulary of run events")
	}
}

func decode[T Data](raw json.RawMessage) (Data, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return v, nil
}
